"""Token names: safe to print, and found again by what a person types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from heedmap.errors import NumbersError
from heedmap.whole_numbers import whole_number

MOST_NAMES = 12
"""A list of more names than this is shortened."""


def label(text: str) -> str:
    r"""A text that is safe to print on one line: control and other unprintable characters are escaped.

    Example:
        >>> print(label("a\x1b[31m"), label("Müller 中"))
        a\x1b[31m Müller 中
    """
    return "".join(part if part.isprintable() else ascii(part)[1:-1] for part in text)


def listed(names: Iterable[object]) -> str:
    """Names in a line, at most a dozen.

    Example:
        >>> listed(["The", "cat"])
        'The, cat'
    """
    texts = [label(str(name)) for name in names]
    if len(texts) > MOST_NAMES:
        texts = [*texts[:MOST_NAMES], f"and {len(texts) - MOST_NAMES} more"]
    return ", ".join(texts)


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint at the name that was probably meant, or nothing.

    Example:
        >>> nearest("bank-rivr", ["cat", "bank-river"])
        '; did you mean "bank-river"?'
    """
    near = get_close_matches(name, names, n=1)
    return f'; did you mean "{label(near[0])}"?' if near else ""


def find_token(tokens: Sequence[str], name: str, kind: str = "token") -> int:
    """The row of a token: spelled exactly, else in any case; `the#2` is the second of several.

    Args:
        tokens: the tokens there are.
        name: what was asked for.
        kind: what they are called in the error.

    Raises:
        NumbersError: there is none, or there are several.

    Example:
        >>> find_token(["The", "cat", "the"], "the"), find_token(["a", "b", "a"], "A#2")
        (2, 2)
    """
    rows = _rows_named(tokens, name)
    stem, _, count = name.rpartition("#")
    number = whole_number(count)
    if not rows and stem and number:
        rows = _rows_named(tokens, stem)[number - 1 : number]
    if len(rows) == 1:
        return rows[0]
    shown = label(name)
    if rows:
        choices = listed(f"{name}#{index + 1}" for index in range(len(rows)))
        raise NumbersError(f'{kind} "{shown}" stands in rows {listed(rows)}: say which one with {choices}')
    raise NumbersError(f'no {kind} "{shown}": expected one of {listed(tokens)}{nearest(name, tokens)}')


def _rows_named(tokens: Sequence[str], name: str) -> list[int]:
    """The rows of a name: those spelled exactly so, else those that differ in case only."""
    exact = [index for index, token in enumerate(tokens) if token == name]
    return exact or [index for index, token in enumerate(tokens) if token.casefold() == name.casefold()]
