"""Two readings side by side: which token stands for which, and where they must be the same."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from heedmap.drawing.page.rules import page_rule
from heedmap.reading.reading import Reading
from heedmap.text.tokens import Tokens

Pair = tuple[int | None, int | None]


def align_tokens(a: Tokens, b: Tokens) -> list[Pair]:
    """Pairs of token positions, in order; None where the other text has no counterpart.

    Alike tokens are paired, first those with which both begin; a stretch that was replaced by as many other tokens is
    paired one by one.

    Example:
        >>> import heedmap
        >>> tokenize = heedmap.load("smollm2").tokenize
        >>> align_tokens(tokenize("It was too big."), tokenize("It was small."))
        [(0, 0), (1, 1), (2, None), (3, None), (None, 2), (4, 3)]
    """
    left, right = ([(token.text, token.special) for token in tokens] for tokens in (a, b))
    begin = _alike_from_the_start(left, right)
    pairs: list[Pair] = [(index, index) for index in range(begin)]
    for _, *ends in SequenceMatcher(None, left[begin:], right[begin:], autojunk=False).get_opcodes():
        start, stop, low, high = (begin + end for end in ends)
        if stop - start == high - low:
            pairs += zip(range(start, stop), range(low, high), strict=True)
        else:
            pairs += [(index, None) for index in range(start, stop)]
            pairs += [(None, index) for index in range(low, high)]
    return pairs


def comparison_json(a: Reading, b: Reading) -> dict[str, Any]:
    """What the page says of two readings, "a" and "b"."""
    alignment = align_tokens(a.tokens, b.tokens)
    same = _same_model(a, b) and _all_causal(a) and _all_causal(b)
    alike = _alike_from_the_start(a.tokens.ids, b.tokens.ids) if same else 0
    return {
        "comparison": {
            "a": "a",
            "b": "b",
            "alignment": alignment,
            "mustBeZero": alike,
            "note": _note(a, b, alike, alignment),
        }
    }


def _alike_from_the_start(a: Sequence[object], b: Sequence[object]) -> int:
    """How many tokens the two have in common before the first that differs."""
    pairs = zip(a, b, strict=False)
    return next((place for place, (left, right) in enumerate(pairs) if left != right), min(len(a), len(b)))


def _same_model(a: Reading, b: Reading) -> bool:
    names = ("name", "revision", "sha256", "dtype")
    return [a.model.get(name) for name in names] == [b.model.get(name) for name in names]


def _all_causal(reading: Reading) -> bool:
    return all(page_rule(call.rule, call.query.device).is_causal for call in reading.calls.values())


def _note(a: Reading, b: Reading, alike: int, alignment: list[Pair]) -> str:
    alone = sum(None in pair for pair in alignment)
    unpaired = f" {alone} tokens have no counterpart in the other text." if alone else ""
    if not _same_model(a, b):
        return f"Two models, {a.model['name']} and {b.model['name']}: no row must be the same.{unpaired}"
    if alike:
        return (
            f"The first {alike} tokens are the same, and no token sees a later one: up to there every difference must "
            f"be 0, but for rounding.{unpaired}"
        )
    return (
        f"Every token sees the whole text, so that every row may differ.{unpaired}"
        if not _all_causal(a)
        else (f"The first tokens differ, so that every row may.{unpaired}")
    )
