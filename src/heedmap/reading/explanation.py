"""The four steps of one real head: the hand calculation, fed with the model's own query, keys and values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.arithmetic import Trace, attend
from heedmap.errors import ReadingError
from heedmap.reading.again import with_values
from heedmap.reading.progress import Progress
from heedmap.reading.projection import Projection, project, watch_projections
from heedmap.reading.word_row import Floats, number_or_none
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading

SCHEMA = "heedmap/explanation/1"


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Compare, scale, softmax, blend: one word in one head, worked again in float64 from the model's own vectors.

    Attributes:
        tokens: the tokens that ran.
        word: the word that looks.
        query: index of its last token, which is the one explained.
        keys: indices of the tokens that it may look at.
        layer: the layer, from 0.
        head: the head, from 0.
        key_value_head: the key-value head that this head reads.
        trace: the calculation, with one query.
        model_weights: [key], the weights as read from the model.
        model_output: [dim], what the model's own attention gave for this word in this head.
        projections: how query and key came from the words' vectors; empty unless asked for.
        model: what the numbers were measured on.
    """

    tokens: Tokens
    word: str
    query: int
    keys: tuple[int, ...]
    layer: int
    head: int
    key_value_head: int
    trace: Trace
    model_weights: Floats
    model_output: Floats
    projections: tuple[Projection, ...]
    model: dict[str, Any]

    @property
    def largest(self) -> int:
        """Place among `keys` of the token with the largest weight."""
        return int(np.argmax(self.trace.weights[0]))

    @property
    def exponentials(self) -> Floats:
        """[key], e^(score - the row's largest score), so that the largest is 1 and none overflows."""
        return np.asarray(np.exp(self.trace.scores[0] - self.trace.scores[0].max()))

    @property
    def weight_difference(self) -> float:
        """The largest difference between a weight worked here and the one read from the model."""
        return float(np.abs(self.trace.weights[0] - self.model_weights).max())

    @property
    def output_difference(self) -> float:
        """The largest difference between the blend worked here and the model's own output for this head."""
        return float(np.abs(self.trace.output[0] - self.model_output).max())

    def contributions(self, key: int | None = None) -> Floats:
        """The single products q_d · k_d whose sum is the product of query and key, [dim].

        Args:
            key: place among `keys`; by default that of the largest weight.
        """
        place = self.largest if key is None else key
        return np.asarray(self.trace.query[0] * self.trace.key[place])

    def to_json(self) -> dict[str, Any]:
        """The steps as JSON; the calculation itself has the schema of a `Trace`."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            "word": self.word,
            "query": self.query,
            "keys": list(self.keys),
            "layer": self.layer,
            "head": self.head,
            "key_value_head": self.key_value_head,
            "dim": int(self.trace.query.shape[-1]),
            "trace": self.trace.to_json(),
            "contributions": self.contributions().tolist(),
            "model_weights": [number_or_none(weight) for weight in self.model_weights],
            "model_output": [number_or_none(number) for number in self.model_output],
            "weight_difference": number_or_none(self.weight_difference),
            "output_difference": number_or_none(self.output_difference),
            "projections": [projection.to_json() for projection in self.projections],
        }

    def __str__(self) -> str:
        from heedmap.drawing.explanations import explanation_text

        return explanation_text(self)


def explain(
    reading: Reading,
    word: str,
    layer: int | None,
    head: int,
    *,
    from_vector: bool = False,
    progress: Progress | None = None,
) -> Explanation:
    """Work one head of a reading again; see `Reading.explain`."""
    number = reading.layer_number(layer)
    head_number = reading.head_number(head, number)
    assert head_number is not None
    found = reading.find(word)
    query = found.tokens[-1]
    call = with_values(reading, [number], progress)[number]
    if call.softcap is not None or call.bias is not None or call.sinks is not None or call.rule.bias_is_added:
        raise ReadingError(
            f"layer {number} caps its scores, adds a bias to them or has a sink: the four steps cannot show that yet; "
            "reading.row shows the weights"
        )
    model_weights = reading.map(number, head_number)[query]
    keys = np.flatnonzero(reading.map(number, head_number).allowed(slice(query, query + 1))[0])
    if not len(keys):
        raise ReadingError(f"“{found.text}” may look at nothing in layer {number}: there are no steps to show")
    shared = head_number // (call.heads // call.key_value_heads)
    assert call.value is not None
    assert call.output is not None
    labels = reading.tokens.labels
    trace = attend(
        _numbers(call.query[0, head_number, query]),
        _numbers(call.key[0, shared])[keys],
        _numbers(call.value[0, shared])[keys],
        scale=call.scale,
        query_tokens=[labels[query]],
        key_tokens=[labels[key] for key in keys],
    )
    explanation = Explanation(
        tokens=reading.tokens,
        word=found.text,
        query=query,
        keys=tuple(int(key) for key in keys),
        layer=number,
        head=head_number,
        key_value_head=shared,
        trace=trace,
        model_weights=model_weights[keys],
        model_output=_numbers(call.output[0, head_number, query]),
        projections=(),
        model=reading.model,
    )
    return _with_projections(explanation, reading, progress) if from_vector else explanation


def _with_projections(explanation: Explanation, reading: Reading, progress: Progress | None) -> Explanation:
    """Add how the query, and the key with the largest weight, came from their words' vectors."""
    watch = watch_projections(reading, explanation.layer, progress)
    key = explanation.keys[explanation.largest]
    projections = (
        project(watch, "query", explanation.query, explanation.head),
        project(watch, "key", key, explanation.key_value_head),
    )
    return replace(explanation, projections=projections)


def _numbers(tensor: Any) -> Floats:
    """A tensor as a NumPy array of float64."""
    return np.asarray(tensor.double().cpu().numpy())
