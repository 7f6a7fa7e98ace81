"""From weights to effects, one a pair and head: of the noun, of its place, and of the words that decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedmap.lab.heads_measure import AFTER, WORD
from heedmap.lab.over_heads import head_name
from heedmap.lab.rounding import beyond_rounding
from heedmap.lab.rows import Rows

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """The pairs that can be used, with one number each and head.

    Attributes:
        layer: [head] the layer of each head.
        head: [head] its number in the layer.
        families: [pair].
        noun: [pair, head] weight of the word on A minus on B, the mean over both noun orders and versions.
        place: [pair, head] the same for the noun that stands first minus the one that stands second.
        orders: [order, pair, head] A minus B in the order given and in the other.
        per_token: [pair, head] the noun effect with each noun's weight divided by its tokens.
        clue_at_word: [pair, head] at the word: right noun minus wrong noun, the mean over versions and orders.
        clue_after: the same at the tokens after the words that decide; only pairs that have such tokens.
        clue_families: [pair] the families of these.
        same_noun: [pair, head] whether both versions lean to the same noun, in both orders.
        versions_differ: the largest difference of a weight at the word between the versions, over pairs whose
            versions part after it; None where none do.
        left_out: why pairs were not used, with how many.
        exchanged: in how many pairs the other order was made by exchanging the nouns.
    """

    layer: NDArray[np.int64]
    head: NDArray[np.int64]
    families: NDArray[np.object_]
    noun: Numbers
    place: Numbers
    orders: Numbers
    per_token: Numbers
    clue_at_word: Numbers
    clue_after: Numbers
    clue_families: NDArray[np.object_]
    same_noun: NDArray[np.bool_]
    versions_differ: float | None
    left_out: dict[str, int]
    exchanged: int

    def name(self, head: int) -> str:
        """A head in words.

        Args:
            head: its place among all heads.
        """
        return head_name(int(self.layer[head]), int(self.head[head]))


def effects_of(rows: Rows) -> Effects:
    """The effects of all pairs that can be used; heads with a weight that is not a number are left out."""
    reasons = rows["left_out"]
    used = np.flatnonzero(reasons == "")
    names, counts = np.unique(reasons[reasons != ""].astype(str), return_counts=True)
    weights = rows["weights"][used].astype(float)  # [pair, looking, order, version, head, noun]
    whole = ~np.isnan(weights[:, WORD]).any((0, 1, 2, 4))
    weights = weights[..., whole, :]
    lean = weights[..., 0] - weights[..., 1]
    tokens = np.maximum(rows["noun_tokens"][used], 1)[:, :, :, None]
    shares = weights[:, WORD] / tokens
    sign = np.where(rows["first"][used] == 0, 1.0, -1.0)[:, :, None]
    at_word = lean[:, WORD]
    by_order = at_word.mean(2)
    clue = clue_effect(lean, rows["answers"][used])
    has_after = ~np.isnan(clue[:, AFTER]).any(1)
    families = rows["family"][used]
    decided_after = rows["decided_after"][used].astype(bool)
    leans = np.sign(beyond_rounding(at_word))
    differ = np.abs(weights[decided_after, WORD, :, 0] - weights[decided_after, WORD, :, 1])
    return Effects(
        layer=rows["layer"][0][whole].astype(int),
        head=rows["head"][0][whole].astype(int),
        families=families,
        noun=by_order.mean(1),
        place=(sign * by_order).mean(1),
        orders=np.moveaxis(by_order, 1, 0),
        per_token=(shares[..., 0] - shares[..., 1]).mean((1, 2)),
        clue_at_word=clue[:, WORD],
        clue_after=clue[has_after, AFTER],
        clue_families=families[has_after],
        same_noun=(leans[:, :, 0] == leans[:, :, 1]).all(1),
        versions_differ=float(differ.max()) if differ.size else None,
        left_out={str(name): int(count) for name, count in zip(names, counts, strict=True)},
        exchanged=int(rows["exchanged"][used].astype(bool).sum()),
    )


def clue_effect(lean: Numbers, answers: NDArray[np.int8]) -> Numbers:
    """How far the look follows the words that decide: half of A minus B where A is right, less the same where B is.

    Args:
        lean: [pair, looking, order, version, head], weight on A minus on B.
        answers: [pair, version], 0 where A is right.

    Returns:
        [pair, looking, head], the mean over noun orders.

    Example:
        >>> lean = np.array([0.3, -0.1]).reshape(1, 1, 1, 2, 1)
        >>> clue_effect(lean, np.array([[0, 1]], np.int8)).item(), clue_effect(lean, np.array([[1, 0]], np.int8)).item()
        (0.2, -0.2)
    """
    sign = np.where(answers == 0, 1.0, -1.0)[:, None, None, :, None]
    return np.asarray((lean * sign).mean((2, 3)))


def halves(families: Sequence[str] | NDArray[np.object_], seed: int) -> NDArray[np.bool_] | None:
    """Two halves of the pairs, split between families and never inside one, as equal in size as that allows.

    Args:
        families: [pair].
        seed: where the random order of families begins.

    Returns:
        [pair] whether it is in the first half; None where there is one family only.

    Example:
        >>> halves(["a", "a", "b", "c"], seed=0).tolist()
        [True, True, False, False]
    """
    names, places, sizes = np.unique(np.asarray(families, dtype=str), return_inverse=True, return_counts=True)
    if len(names) < 2:
        return None
    order = np.random.default_rng(seed).permutation(len(names))
    taken = [0, 0]
    in_first = np.zeros(len(names), dtype=bool)
    # The largest first, each to the smaller half; the random order decides among families of one size.
    for family in sorted(order, key=lambda one: -sizes[one]):
        half = int(taken[0] > taken[1])
        taken[half] += int(sizes[family])
        in_first[family] = half == 0
    return np.asarray(in_first[places])
