"""The attention calls kept of one text: everything that is needed to know any weight of their layers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import torch

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.again import Ran
from heedmap.reading.attentions import attention_tensors
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.map import Map
from heedmap.reading.odds import Candidate
from heedmap.reading.progress import Progress
from heedmap.reading.row import Row
from heedmap.reading.scores import ScoreMap, refuse_mean_of_scores
from heedmap.reading.word_row import Bools, Floats
from heedmap.text.tokens import Tokens, Word
from heedmap.whole_numbers import one_or_several

if TYPE_CHECKING:
    from heedmap.reading.model import Model

QUERY_RULES = ("mean", "last")


@dataclass(frozen=True, slots=True, eq=False)
class KeptCalls:
    """What a model did with one text, kept so that any weight can be computed from it; asked as a `Reading`.

    Attributes:
        tokens: the tokens that ran.
        layers: all layers of the model whose attention can be read.
        calls: the attention call of each layer that was kept.
        model: what the numbers were measured on, as in the JSON output.
        logits: [vocabulary], the last row of logits; None for models that predict no next token.
        candidates: the most likely next tokens, most likely first.
        reader: the live model; None in a reading opened from a file.
        ran: how the model ran, for a second pass.
        keys: the tokens that are looked at, where they are others than `tokens` (cross-attention); else None.
    """

    tokens: Tokens
    layers: tuple[AttentionLayer, ...]
    calls: OrderedDict[int, AttentionCall]
    model: dict[str, Any]
    logits: torch.Tensor | None = None
    candidates: tuple[Candidate, ...] = ()
    reader: Model | None = field(default=None, repr=False, compare=False)
    keys: Tokens | None = None
    ran: Ran = field(default=Ran(), repr=False, compare=False)

    def __post_init__(self) -> None:
        rows, columns = len(self.tokens), len(self.tokens if self.keys is None else self.keys)
        for number, call in self.calls.items():
            refuse_other_positions(number, call, rows, columns)

    @property
    def text(self) -> str:
        """The text that was read."""
        return self.tokens.text

    @property
    def middle(self) -> int:
        """The layer that is read when none is given: the middle one of the model, or of those kept.

        Raises:
            ReadingError: no layer was kept, see `kept_numbers`.
        """
        kept = self.kept_numbers()
        middle = self.layers[len(self.layers) // 2].number
        return middle if middle in self.calls else kept[len(kept) // 2]

    def find(self, word: str) -> Word:
        """The tokens of a word: "it", "it#2" for its second occurrence, "@5" for token 5.

        Raises:
            WordNotFound: no such word; the nearest are named.
            AmbiguousWord: it stands there several times; the places are listed.

        Example:
            >>> import heedmap
            >>> heedmap.load("smollm2").read("The cat sat on the mat.").find("cat").tokens
            (1,)
        """
        return self.tokens.find(word)

    def call(self, layer: int | None = None) -> AttentionCall:
        """The attention call of a layer, with a log-sum-exp of full precision.

        Raises:
            OutOfRange: the model has no such layer.
            ReadingError: the layer was not kept.
        """
        number = self.layer_number(layer)
        if number not in self.calls:
            kept = ", ".join(str(one) for one in self.calls) or "none"
            raise ReadingError(
                f"layer {number} was not kept in this reading (kept: {kept}): read the text again with layers={number}"
            )
        self.calls[number] = self.calls[number].made_exact()
        return self.calls[number]

    def kept_numbers(self, layers: int | Iterable[int] | None = None) -> list[int]:
        """The numbers of the layers asked for; None takes all that were kept.

        Raises:
            ReadingError: none was kept: an encoder-decoder was read with layers that only its other stack has.
        """
        if layers is not None:
            return one_or_several(layers)
        if not self.calls:
            stack = f"{self.model['stack']} " if "stack" in self.model else ""
            numbers = ", ".join(str(layer.number) for layer in self.layers)
            raise ReadingError(f"none of the {stack}layers ({numbers}) was kept: read the text again with one of them")
        return list(self.calls)

    def layer_number(self, layer: int | None) -> int:
        """The layer asked for, or the middle one.

        Raises:
            OutOfRange: the model has no such layer.
        """
        if layer is None:
            return self.middle
        return check_layer(int(layer), self.layers, self.model)

    def head_number(self, head: int | None, layer: int | None = None) -> int | None:
        """The head asked for, or None for the mean over heads.

        Raises:
            OutOfRange: the layer has no such head.
        """
        number = self.layer_number(layer)
        heads = next(one.heads for one in self.layers if one.number == number)
        if head is not None and not 0 <= head < heads:
            raise OutOfRange(f"head {head} is out of range: layer {number} has {heads} heads, 0 to {heads - 1}")
        return None if head is None else int(head)

    def row(
        self,
        word: str,
        layer: int | None = None,
        head: int | None = None,
        *,
        query_rule: str = "mean",
        scores: bool = False,
    ) -> Row:
        """Where a word looks.

        Args:
            word: the word, see `find`.
            layer: from 0; None is the middle layer.
            head: from 0; None is the mean over heads.
            query_rule: for a word of several tokens, the "mean" of their rows or the row of the "last".
            scores: also give the scores before softmax, of one head and one token.

        Raises:
            WordNotFound, AmbiguousWord: the word is not there, or several times.
            OutOfRange: no such layer or head.
            ReadingError: the layer was not kept, or the scores of several rows were asked for as one.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.")
            >>> round(reading.row("sat", layer=12).sum, 4)
            1.0
        """
        self._check_query_rule(query_rule)
        number = self.layer_number(layer)
        head = self.head_number(head, number)
        call = self.call(number)
        found = self.find(word)
        query = found.tokens if query_rule == "mean" else found.tokens[-1:]
        if scores:
            refuse_mean_of_scores(head, len(query))
        weights, allowed = self._rows(call, query, head)
        kept = allowed.any(1)
        sink = call.sink_share(slice(None), _heads(call, head))
        return Row(
            tokens=self.tokens,
            word=found.text,
            query=found.tokens,
            query_rule=query_rule if len(found.tokens) > 1 else "mean",
            layer=number,
            head=head,
            weights=weights[kept].mean(0) if kept.any() else np.zeros(weights.shape[1]),
            allowed=np.asarray(allowed.any(0)),
            sink=0.0 if sink is None else float(sink[0].mean(0)[list(query)].mean()),
            heads=call.heads,
            key_value_heads=call.key_value_heads,
            model=self.model,
            scores=self.map(number, head, scores=True)[query[0]] if scores else None,
            keys=self.keys,
        )

    @staticmethod
    def _check_query_rule(query_rule: str) -> None:
        """Refuse a rule that there is not."""
        if query_rule not in QUERY_RULES:
            raise ReadingError(f"query_rule {query_rule!r} is not known: take 'mean' or 'last'")

    def _rows(self, call: AttentionCall, query: tuple[int, ...], head: int | None) -> tuple[Floats, Bools]:
        """Weights and allowed cells of some queries, [query, key]."""
        columns = slice(0, call.rule.keys)
        weights = [call.weights(slice(index, index + 1), columns, _heads(call, head))[0].mean(0)[0] for index in query]
        device = call.query.device
        cells = call.rule.allowed(torch.tensor(query, device=device), torch.arange(call.rule.keys, device=device))[0]
        cells = cells.any(0) if head is None else cells[0 if cells.shape[0] == 1 else head]
        return torch.stack(weights).double().cpu().numpy(), cells.cpu().numpy()

    @overload
    def map(self, layer: int | None = None, head: int | None = None, *, scores: Literal[False] = False) -> Map: ...
    @overload
    def map(self, layer: int | None = None, head: int | None = None, *, scores: Literal[True]) -> ScoreMap: ...
    def map(self, layer: int | None = None, head: int | None = None, *, scores: bool = False) -> Map | ScoreMap:
        """The map of one head, or the mean over heads: nothing is computed until a part is asked for.

        Args:
            layer: from 0; None is the middle layer.
            head: from 0; None is the mean over heads.
            scores: the scores before softmax instead of the weights; of one head.

        Raises:
            OutOfRange: no such layer or head.
            ReadingError: the layer was not kept, or the scores of all heads were asked for as one.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.")
            >>> reading.map(layer=12, head=4)[2, 3]
            0.0
        """
        number = self.layer_number(layer)
        if scores and "weights_from" in self.model:
            raise ReadingError(
                f"{self.model['name']} has attention code of its own: its weights are read, but not its scores"
            )
        weights = Map(self.tokens, number, self.head_number(head, number), self.call(number), self.model, self.keys)
        if not scores:
            return weights
        refuse_mean_of_scores(head, 1)
        return ScoreMap(weights)

    def attentions(
        self, *, layers: int | Sequence[int] | None = None, progress: Progress | None = None
    ) -> tuple[torch.Tensor, ...]:
        """All maps at once in transformers' shape, for tools that expect it: the expensive way.

        Args:
            layers: from 0; None takes all that were kept.
            progress: first told what it costs, then how many layers are done; see `heedmap.reading.progress`.

        Returns:
            one [1, head, query, key] tensor a layer, in float32 (float64 for float64 models); 0 where forbidden.

        Raises:
            OutOfRange: the model has no such layer.
            ReadingError: a layer was not kept.
            TooLarge: it does not fit the memory; what to ask for instead is named.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.")
            >>> [tuple(weights.shape) for weights in reading.attentions(layers=[3, 12])]
            [(1, 9, 7, 7), (1, 9, 7, 7)]
        """
        numbers = self.kept_numbers(layers)
        instead = (
            "ask for some layers (layers=[12]), one head (reading.map(layer, head)), one row (reading.row(word)) "
            "or a zoomed-out map (reading.map(layer, head).pool(64, 64))"
        )
        return attention_tensors([self.call(number) for number in numbers], progress, instead=instead)

    def not_a_number(self) -> dict[int, int]:
        """How many rows of which layers are not a number, over all heads; layers without any are left out."""
        counts = {number: self.call(number).rows_not_a_number() for number in self.calls}
        return {number: count for number, count in counts.items() if count}

    def __str__(self) -> str:
        return (
            f"{self.model['name']}: {len(self.layers)} layers, {len(self.tokens)} tokens; kept {len(self.calls)} layers"
        )


def _heads(call: AttentionCall, head: int | None) -> slice:
    """One head, or all of them, as a slice."""
    return slice(0, call.heads) if head is None else slice(head, head + 1)


def refuse_other_positions(layer: int, call: AttentionCall, queries: int, keys: int) -> None:
    """Refuse an attention call over other positions than the tokens: each number would belong to another token.

    Raises:
        ReadingError: it has more or fewer rows or columns than there are tokens.
    """
    if (call.rule.queries, call.rule.keys) != (queries, keys):
        raise ReadingError(
            f"layer {layer} has {call.rule.queries} x {call.rule.keys} weights, and there are {queries} tokens that "
            f"look and {keys} to be looked at: give the tokens that ran; where the model puts virtual tokens before a "
            "text, read the model without them (PEFT: model.get_base_model()), or watch it, heedmap.watch, and take "
            ".weights(layer) of the forward call"
        )


def check_layer(layer: int, layers: tuple[AttentionLayer, ...], model: Mapping[str, Any]) -> int:
    """The layer itself, when the model has it.

    Args:
        layer: the number asked for.
        layers: the layers whose attention can be read.
        model: the model as JSON, which names the layers without attention.

    Raises:
        OutOfRange: the model has no such layer, or it has no attention; those that have are named.
    """
    numbers = sorted({one.number for one in layers})
    if layer in numbers:
        return layer
    others = model.get("layers_without_attention", {})
    there = f"layers with attention: {', '.join(str(number) for number in numbers)}"
    if str(layer) in others:
        raise OutOfRange(f"layer {layer} has no attention (it is a {others[str(layer)]} layer); {there}")
    if others:
        raise OutOfRange(f"layer {layer} is out of range; {there}")
    raise OutOfRange(
        f"layer {layer} is out of range: the model has {len(numbers)} layers, {numbers[0]} to {numbers[-1]}"
    )
