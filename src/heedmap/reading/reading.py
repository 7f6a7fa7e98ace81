"""One text read by one model: everything that is needed to know any weight of the layers that were kept."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import torch

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.attentions import attention_tensors
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.map import Map
from heedmap.reading.odds import Candidate, Odds
from heedmap.reading.progress import Progress
from heedmap.reading.rollout import RolloutRow, rollout_matrix, rollout_row
from heedmap.reading.row import Bools, Floats, Row
from heedmap.reading.scores import ScoreMap, refuse_mean_of_scores
from heedmap.reading.value_norms import NormRow, value_norms
from heedmap.text.ranges import SpansGiven
from heedmap.text.tokens import Tokens, Word

if TYPE_CHECKING:
    from heedmap.reading.explanation import Explanation
    from heedmap.reading.model import Model
    from heedmap.reading.spans import SpanShares
    from heedmap.reading.statistics import Received, Statistics
    from heedmap.reading.top import Top

QUERY_RULES = ("mean", "last")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model did with one text, kept so that any weight can be computed from it.

    Attributes:
        tokens: the tokens that ran.
        layers: all layers of the model whose attention can be read.
        calls: the attention call of each layer that was kept.
        model: what the numbers were measured on, as in the JSON output.
        logits: [vocabulary], the last row of logits; None for models that predict no next token.
        candidates: the most likely next tokens, most likely first.
        reader: the live model; None in a reading opened from a file.
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

    @property
    def text(self) -> str:
        """The text that was read."""
        return self.tokens.text

    @property
    def middle(self) -> int:
        """The layer that is read when none is given: the middle one of the model, or of those kept."""
        kept = list(self.calls)
        middle = self.layers[len(self.layers) // 2].number
        return middle if middle in self.calls else kept[len(kept) // 2]

    def find(self, word: str) -> Word:
        """The tokens of a word: "it", "it#2" for its second occurrence, "@5" for token 5.

        Raises:
            WordNotFound: no such word; the nearest are named.
            AmbiguousWord: it stands there several times; the places are listed.
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
            kept = ", ".join(str(one) for one in self.calls)
            raise ReadingError(
                f"layer {number} was not kept in this reading (kept: {kept}): read the text again with layers={number}"
            )
        self.calls[number] = self.calls[number].made_exact()
        return self.calls[number]

    def layer_number(self, layer: int | None) -> int:
        """The layer asked for, or the middle one.

        Raises:
            OutOfRange: the model has no such layer.
        """
        if layer is None:
            return self.middle
        return check_layer(layer, self.layers, self.model)

    def head_number(self, head: int | None, layer: int | None = None) -> int | None:
        """The head asked for, or None for the mean over heads.

        Raises:
            OutOfRange: the layer has no such head.
        """
        number = self.layer_number(layer)
        heads = next(one.heads for one in self.layers if one.number == number)
        if head is not None and not 0 <= head < heads:
            raise OutOfRange(f"head {head} is out of range: layer {number} has {heads} heads, 0 to {heads - 1}")
        return head

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
            >>> round(reading.row("sat", layer=12).sum, 6)
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
        cells = cells[0 if head is None or cells.shape[0] == 1 else head]
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
        numbers = self.calls if layers is None else [layers] if isinstance(layers, int) else layers
        instead = (
            "ask for some layers (layers=[12]), one head (reading.map(layer, head)), one row (reading.row(word)) "
            "or a zoomed-out map (reading.map(layer, head).pool(64, 64))"
        )
        return attention_tensors([self.call(number) for number in numbers], progress, instead=instead)

    @overload
    def rollout(self, word: str, *, query_rule: str = "mean", progress: Progress | None = None) -> RolloutRow: ...
    @overload
    def rollout(self, word: None = None, *, query_rule: str = "mean", progress: Progress | None = None) -> Floats: ...
    def rollout(
        self, word: str | None = None, *, query_rule: str = "mean", progress: Progress | None = None
    ) -> RolloutRow | Floats:
        """Attention rollout: where a word's place in the last layer comes from, if weights were all that counts.

        Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers": in each layer the mean map over heads is
        mixed half and half with the identity (for the residual stream), and the layers are multiplied, the last one on
        the left. One word's row takes a product of a vector and a map a layer, in memory that grows with the length;
        the whole matrix takes a product of two matrices a layer, in memory that grows with its square.

        What it does not show: what the values hold and how long they are, the feed-forward parts, heads that do
        different things (their mean is taken), and how large the residual stream really is (the half is assumed). In a
        causal model the first token looks at itself alone, so that what comes to it never leaves it: over the layers of
        smollm2 more than 0.999 of every word ends there. A learned sink's share is missing from the sum, and is not
        made up for.

        Args:
            word: the word, see `find`; None gives the whole matrix.
            query_rule: for a word of several tokens, the "mean" of their rows or the row of the "last".
            progress: told how many layers are done; for the whole matrix, first what it costs.

        Returns:
            a row that prints as bars, or [query, key] in float64.

        Raises:
            WordNotFound, AmbiguousWord: the word is not there, or several times.
            ReadingError: a layer was not kept.
            TooLarge: the matrix does not fit the memory.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.")
            >>> round(reading.rollout("mat").sum, 6), reading.rollout().shape
            (1.0, (7, 7))
        """
        if word is None:
            return rollout_matrix(self, progress)
        self._check_query_rule(query_rule)
        return rollout_row(self, word, query_rule, progress)

    def value_norms(
        self,
        word: str,
        layer: int | None = None,
        head: int | None = None,
        *,
        query_rule: str = "mean",
        progress: Progress | None = None,
    ) -> NormRow:
        """How much each token adds to a word: its weight times the norm of its transformed value.

        Kobayashi et al. 2020, "Attention is Not Only a Weight": what token j adds to token i in a head is the vector
        weight_ij x f(x_j), where f takes the token's value through the head's part of the layer's output table. Its
        norm is small where a value is short, however large the weight: the first token's sink is the known case. Over
        all heads, the vectors are summed before the norm is taken. The output table is found by name and by what goes
        into it, and must give the attention module's own output again. The text is run once more for it.

        What it does not show: in which direction a vector points, so that two tokens may cancel each other; what the
        residual stream holds beside it; and what the normalisation and the feed-forward part make of it.

        Args:
            word: the word, see `find`.
            layer: from 0; None is the middle layer.
            head: from 0; None sums the vectors of all heads.
            query_rule: for a word of several tokens, the "mean" of their norms or those of the "last".
            progress: told how many layers have run.

        Raises:
            WordNotFound, AmbiguousWord: the word is not there, or several times.
            OutOfRange: no such layer or head.
            ReadingError: the layer was not kept, or the reading was opened from a file and has no live model.
            UnsupportedModel: the family's output table is not known.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.")
            >>> row = reading.value_norms("mat", layer=12, head=4)
            >>> bool(row.weights[0] > 0.5 > (row.products / row.products.sum())[0])
            True
        """
        self._check_query_rule(query_rule)
        return value_norms(self, word, layer, head, query_rule, progress)

    def top(self, word: str, k: int = 5, *, layers: int | Sequence[int] | None = None, query_rule: str = "mean") -> Top:
        """The tokens that a word looks at most, in every head of the layers kept, by tiles.

        Args:
            word: the word, see `find`.
            k: how many tokens a head, fewer where the word may look at fewer.
            layers: the layers, from 0; None takes all that were kept.
            query_rule: for a word of several tokens, the "mean" of their rows or the row of the "last".

        Raises:
            WordNotFound, AmbiguousWord: the word is not there, or several times.
            OutOfRange: no such layer, or `k` is less than 1.
            ReadingError: a layer was not kept, or another rule.

        Example:
            >>> import heedmap
            >>> top = heedmap.load("smollm2").read("The cat sat on the mat.").top("sat", 2, layers=12)
            >>> [(one.head, one.tokens.tolist()) for one in top.heads][:2]
            [(0, [0, 1]), (1, [0, 2])]
        """
        from heedmap.reading.top import top_of_reading

        return top_of_reading(self, word, k, layers=layers, query_rule=query_rule)

    def spans(
        self,
        spans: SpansGiven | None = None,
        *,
        split: str | None = None,
        of: str | None = None,
        layers: int | Sequence[int] | None = None,
    ) -> SpanShares:
        """How much of the attention goes to each named part of the text; arguments and errors as in `Model.spans`.

        Raises:
            ReadingError: a layer was not kept.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("It rains. The cat sat.", layers=7)
            >>> [layer.layer for layer in reading.spans(split="sentences").layers]
            [7]
        """
        from heedmap.reading.spans import spans_of_reading

        return spans_of_reading(self, spans, split, of=of, layers=layers)

    def stats(
        self,
        *,
        layers: int | Sequence[int] | None = None,
        only: Collection[str] | None = None,
        largest: bool = False,
        received: bool = False,
        positions: bool = False,
        progress: Progress | None = None,
    ) -> Statistics:
        """Exact statistics of all heads of the layers that were kept; arguments as in `Model.stats`.

        Raises:
            OutOfRange: the model has no such layer, or there is no such column.
            ReadingError: a layer was not kept.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.", layers=[7, 12])
            >>> len(reading.stats(only=["first", "entropy"]))
            18
        """
        from heedmap.reading.statistics import StatisticsMeter, stats_of_reading

        meter = StatisticsMeter(self.tokens, only=only, largest=largest, received=received, positions=positions)
        return stats_of_reading(self, meter, layers=layers, progress=progress)

    def received(self, layer: int | None = None, head: int | None = None) -> Received:
        """What each token receives from all tokens that look: the column sums of a map, without making the map.

        Args:
            layer: from 0; None is the middle layer.
            head: from 0; None is the mean over heads.

        Raises:
            OutOfRange: no such layer or head.
            ReadingError: the layer was not kept.

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.", layers=12)
            >>> float(reading.received(layer=12, head=4).sums.sum().round(3))
            7.0
        """
        number = self.layer_number(layer)
        self.head_number(head, number)
        return self.stats(layers=[number], only=(), received=True).received(number, head)

    def explain(
        self,
        word: str,
        layer: int | None = None,
        head: int = 0,
        *,
        from_vector: bool = False,
        progress: Progress | None = None,
    ) -> Explanation:
        """The four steps of one head with the model's own numbers; see `Explanation`.

        Args:
            word: the word that looks; of several tokens, the last is explained.
            layer: from 0; None is the middle layer.
            head: from 0.
            from_vector: also show how query and key came from the words' vectors; needs the live model.
            progress: told how many layers have run, where the text must be run again.

        Raises:
            WordNotFound, AmbiguousWord: the word is not there, or several times.
            OutOfRange: no such layer or head.
            ReadingError: the values were not kept and there is no live model to read them again.
        """
        from heedmap.reading.explanation import explain

        return explain(self, word, layer, head, from_vector=from_vector, progress=progress)

    def next(self, top: int = 10) -> Odds:
        """The odds of the next token, most likely first.

        Args:
            top: how many tokens, at most 100.

        Raises:
            ReadingError: the model does not predict a next token.
            OutOfRange: `top` is not between 1 and 100.
        """
        if self.logits is None:
            raise ReadingError(
                f"{self.model['name']} does not predict a next token: it is a {self.model['class']}, "
                "so ask a causal language model"
            )
        if not 1 <= top <= len(self.candidates):
            raise OutOfRange(f"{top} next tokens were asked for: take 1 to {len(self.candidates)}")
        return Odds(self.tokens, self.candidates[:top], self.model)

    def not_a_number(self) -> dict[int, int]:
        """How many rows of which layers are not a number, over all heads; layers without any are left out."""
        counts = {number: self.call(number).rows_not_a_number() for number in self.calls}
        return {number: count for number, count in counts.items() if count}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the reading as one safetensors file that needs no model to open.

        Raises:
            FileError: the file cannot be written; one that was there stays as it was.
        """
        from heedmap.reading.storage import save

        save(self, path)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Reading:
        """Open a reading that was saved.

        Raises:
            FileError: the file cannot be read.
            ReadingError: it is not a reading, or it is damaged.
        """
        from heedmap.reading.storage import load

        return load(path)

    def __str__(self) -> str:
        return (
            f"{self.model['name']}: {len(self.layers)} layers, {len(self.tokens)} tokens; kept {len(self.calls)} layers"
        )


def _heads(call: AttentionCall, head: int | None) -> slice:
    """One head, or all of them, as a slice."""
    return slice(0, call.heads) if head is None else slice(head, head + 1)


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
