"""A text that a model went on with: its prompt, its new tokens, and the row that chose each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.row import Row
from heedmap.reading.word_row import Bools, Floats, number_or_none
from heedmap.text.tokens import Token, Tokens

SCHEMA = "heedmap/generation/1"


@dataclass(frozen=True, slots=True, eq=False)
class LayerRows:
    """The rows of one layer that chose the new tokens, on the keys that there were then.

    Attributes:
        weights: [new token, head, token] in float64; 0 where the row could not look.
        allowed: [new token, token], False where the row could not look.
        sinks: [new token, head], the share that a learned sink took; 0 for models without one.
    """

    weights: Floats
    allowed: Bools
    sinks: Floats


@dataclass(frozen=True, slots=True, eq=False)
class StepRow(Row):
    """The row that chose a new token: that of the token before it, at the step when nothing stood behind it.

    Attributes:
        chooses: position of the token that was chosen: one more than that of the row.
    """

    chooses: int = 0

    @property
    def says(self) -> str:
        """Which row chose which token, in words.

        Example:
            >>> import heedmap
            >>> heedmap.load("smollm2").generate("The cat sat on the", 1).row(0).says
            'row 4 “the” chooses token 5 “cat”'
        """
        labels = self.tokens.labels
        row = self.query[0]
        return f"row {row} “{labels[row]}” chooses token {self.chooses} “{labels[self.chooses]}”"

    def to_json(self) -> dict[str, Any]:
        """The row as JSON, with the position of the token that it chose."""
        return {**Row.to_json(self), "chooses": self.chooses}

    def __str__(self) -> str:
        return f"{self.says}\n{Row.__str__(self)}"


@dataclass(frozen=True, slots=True, eq=False)
class Generation(OnAPage):
    """What a model wrote after a prompt, and where it looked for each token.

    Attributes:
        tokens: the tokens of the prompt and the new ones.
        prompt: how many of them are the prompt's.
        layers: all layers of the model whose attention can be read.
        rows_of: the rows of each layer that was kept, by its number.
        model: what the numbers were measured on, as in the JSON output.
        options: the options of transformers' `generate` that were used.
        source: the tokens that the rows look at, where they are not the text's own: in `cross`.
        cross: in an encoder-decoder, whose text begins with the decoder's start token, the rows of the same steps on
            the source.
    """

    tokens: Tokens
    prompt: int
    layers: tuple[AttentionLayer, ...]
    rows_of: Mapping[int, LayerRows]
    model: dict[str, Any]
    options: dict[str, Any]
    source: Tokens | None = None
    cross: Generation | None = None

    @property
    def text(self) -> str:
        """The prompt and what the model wrote."""
        return self.tokens.text

    @property
    def new(self) -> tuple[Token, ...]:
        """The new tokens."""
        return self.tokens[self.prompt :]

    @property
    def middle(self) -> int:
        """The layer that is read when none is given: the middle one of the model, or of those kept."""
        middle = self.layers[len(self.layers) // 2].number
        kept = list(self.rows_of)
        return middle if middle in self.rows_of else kept[len(kept) // 2]

    def row(self, token: int | str, layer: int | None = None, head: int | None = None) -> StepRow:
        """Where the model looked when it chose a token.

        Args:
            token: a new token by its number from 0 (-1 is the last), or by the rules of `Tokens.find`: "mat", "@12";
                of several tokens, the first is meant.
            layer: from 0; None is the middle layer.
            head: from 0; None is the mean over heads.

        Raises:
            OutOfRange: no such new token, layer or head; a token of the prompt was chosen by nobody.
            ReadingError: the layer was not kept.
            WordNotFound, AmbiguousWord: the word is not there, or several times.

        Example:
            >>> import heedmap
            >>> row = heedmap.load("smollm2").generate("The cat sat on the", 2).row(1, layer=12)
            >>> len(row.weights), row.chooses, round(row.sum, 4)
            (7, 6, 1.0)
        """
        number, head = self._layer_and_head(layer, head)
        step = self._step(token)
        rows, heads = self.rows_of[number], slice(None) if head is None else slice(head, head + 1)
        sizes = next(one for one in self.layers if one.number == number)
        query = self.prompt + step - 1
        return StepRow(
            tokens=self.tokens,
            word=self.tokens.join([query]).text,
            query=(query,),
            query_rule="mean",
            layer=number,
            head=head,
            weights=rows.weights[step, heads].mean(0),
            allowed=rows.allowed[step],
            sink=float(rows.sinks[step, heads].mean()),
            heads=sizes.heads,
            key_value_heads=sizes.key_value_heads,
            model=self.model,
            keys=self.source,
            chooses=query + 1,
        )

    def rows(self, layer: int | None = None, head: int | None = None) -> Floats:
        """The rows of all new tokens, [new token, token]; row i is that which chose new token i.

        Raises:
            OutOfRange: no such layer or head.
            ReadingError: the layer was not kept.

        Example:
            >>> import heedmap
            >>> heedmap.load("smollm2").generate("The cat sat on the", 2).rows(layer=12, head=4).shape
            (2, 7)
        """
        number, head = self._layer_and_head(layer, head)
        weights = self.rows_of[number].weights
        return np.asarray(weights.mean(1) if head is None else weights[:, head])

    def not_a_number(self) -> dict[int, int]:
        """How many rows of which layers are not a number, over all heads; layers without any are left out."""
        counts = {number: int(np.isnan(rows.weights).any(-1).sum()) for number, rows in self.rows_of.items()}
        return {number: count for number, count in counts.items() if count}

    def _step(self, token: int | str) -> int:
        """The number of a new token."""
        count = len(self.new)
        if isinstance(token, str):
            found = self.tokens.find(token)
            step = found.tokens[0] - self.prompt
            if step < 0:
                raise OutOfRange(
                    f"“{found.text}” stands in the prompt, where nothing was chosen: the new tokens are "
                    f"@{self.prompt} to @{len(self.tokens) - 1}"
                )
            return step
        if not -count <= token < count:
            raise OutOfRange(f"new token {token} is out of range: there are {count}, 0 to {count - 1}")
        return token % count

    def _layer_and_head(self, layer: int | None, head: int | None) -> tuple[int, int | None]:
        """The layer asked for, or the middle one, and the head."""
        number = self.middle if layer is None else layer
        sizes = next((one for one in self.layers if one.number == number), None)
        if sizes is None:
            raise OutOfRange(
                f"layer {number} is out of range: the model has layers {self.layers[0].number} to "
                f"{self.layers[-1].number}"
            )
        if number not in self.rows_of:
            kept = ", ".join(str(one) for one in self.rows_of)
            raise ReadingError(f"layer {number} was not kept (kept: {kept}): generate again with layers={number}")
        if head is not None and not 0 <= head < sizes.heads:
            raise OutOfRange(
                f"head {head} is out of range: layer {number} has {sizes.heads} heads, 0 to {sizes.heads - 1}"
            )
        return number, head

    def to_json(self, layer: int | None = None, head: int | None = None) -> dict[str, Any]:
        """The text and the rows of a layer and head as JSON: weights are null where a row cannot look."""
        rows = [self.row(step, layer, head) for step in range(len(self.new))]
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.text,
            "tokens": self.tokens.to_json(),
            "prompt_tokens": self.prompt,
            "options": self.options,
            "layer": self.middle if layer is None else layer,
            "head": head,
            "rows": [
                {
                    "row": row.query[0],
                    "chooses": row.chooses,
                    "weights": [
                        number_or_none(weight) if reachable else None
                        for weight, reachable in zip(row.weights, row.allowed, strict=True)
                    ],
                    "not_a_number": int(np.isnan(row.weights[row.allowed]).sum()),
                    "sum": number_or_none(row.sum),
                    "sink": number_or_none(row.sink),
                }
                for row in rows
            ],
        }

    def __str__(self) -> str:
        from heedmap.drawing.generations import generation_text

        return generation_text(self)
