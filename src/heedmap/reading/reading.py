"""A reading: what can be asked of one text that a model has read."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.kept_calls import KeptCalls
from heedmap.reading.odds import Odds
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.progress import Progress
from heedmap.reading.rollout import RolloutRow, rollout_matrix, rollout_row
from heedmap.reading.value_norms import NormRow, value_norms
from heedmap.reading.word_row import Floats
from heedmap.text.ranges import SpansGiven

if TYPE_CHECKING:
    from heedmap.reading.explanation import Explanation
    from heedmap.reading.spans import SpanShares
    from heedmap.reading.statistics import Received, Statistics
    from heedmap.reading.top import Top

QUERY_RULES = ("mean", "last")


@dataclass(frozen=True, slots=True, eq=False)
class Reading(KeptCalls, OnAPage):
    """One text read by one model: rows and maps as `KeptCalls` gives them, and all that is computed from them.

    Attributes are those of `KeptCalls`.
    """

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
            >>> round(reading.rollout("mat").sum, 4), reading.rollout().shape
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

        Example:
            >>> import heedmap
            >>> reading = heedmap.load("smollm2").read("The cat sat on the mat.")
            >>> reading.explain("mat", layer=12, head=4).trace.weights.round(1)
            array([[0.7, 0.1, 0.1, 0. , 0. , 0.1]])
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

        Example:
            >>> import heedmap
            >>> odds = heedmap.load("smollm2").read("The capital of France is").next(3)
            >>> odds.candidates[0].text, round(odds.candidates[0].probability, 1)
            ('␣Paris', 0.8)
        """
        if self.logits is None:
            raise ReadingError(
                f"{self.model['name']} does not predict a next token: it is a {self.model['class']}, "
                "so ask a causal language model"
            )
        if not 1 <= top <= len(self.candidates):
            raise OutOfRange(f"{top} next tokens were asked for: take 1 to {len(self.candidates)}")
        return Odds(self.tokens, self.candidates[:top], self.model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the reading as one safetensors file that needs no model to open.

        Raises:
            ReadingError: no layer was kept.
            FileError: the file cannot be written; one that was there stays as it was.

        Example:
            >>> import heedmap
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as folder:
            ...     heedmap.load("smollm2").read("The cat sat.", layers=12).save(f"{folder}/cat.safetensors")
            ...     Reading.open(f"{folder}/cat.safetensors").text
            'The cat sat.'
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
