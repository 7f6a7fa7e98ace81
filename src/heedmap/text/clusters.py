"""Characters as people see them: grapheme clusters, and which of them are letters.

A person counts "é" and a family emoji as one character each; Unicode may need several code points for them.
Everything in this room that cuts a text cuts it between clusters. Rules: Unicode Standard Annex 29 (clusters),
Annex 14 (line breaking, for scripts written without spaces), as the `regex` package implements them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import regex  # type: ignore[import-untyped]

# CR LF is one cluster by the standard, but two characters of white space to somebody who counts tokens.
_CLUSTER = regex.compile(r"[\r\n]|\X")
_WORD = regex.compile(r"\w")
# Letters of scripts that put no spaces between words: Chinese, Japanese, Yi, and by their line breaking class
# Thai, Lao, Khmer, Burmese and the like. Korean writes spaces.
_UNSPACED = regex.compile(r"(?=\w)[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Yi}\p{LB=SA}]")
_INVISIBLE = regex.compile(
    r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]+"
)
_MARK = regex.compile(r"\p{M}")


def clusters(text: str) -> list[str]:
    r"""Cut a text into characters as people see them; joined they are the text again.

    >>> [len(cluster) for cluster in clusters("e\u0301a")]
    [2, 1]
    """
    return list(text) if text.isascii() else regex.findall(_CLUSTER, text)


def cluster_starts(text: str) -> Sequence[int]:
    r"""Where each cluster begins, in order, and the text's length as the last entry.

    >>> cluster_starts("e\u0301a")
    [0, 2, 3]
    """
    if text.isascii():
        return range(len(text) + 1)
    return [match.start() for match in _CLUSTER.finditer(text)] + [len(text)]


def cluster_at(starts: Sequence[int], position: int) -> int:
    """The number of the cluster that a character belongs to.

    >>> cluster_at([0, 2, 3], 1)
    0
    """
    return bisect_right(starts, position) - 1


@lru_cache(maxsize=1 << 16)
def is_letter(cluster: str) -> bool:
    """Whether a cluster is part of words: a letter, a digit or an underscore, in any script.

    >>> [is_letter(cluster) for cluster in ("é", "本", "7", ".", "🙂")]
    [True, True, True, False, False]
    """
    return _WORD.match(cluster) is not None


@lru_cache(maxsize=1 << 16)
def is_unspaced(cluster: str) -> bool:
    """Whether a cluster is a letter of a script that writes words without spaces between them.

    >>> [is_unspaced(cluster) for cluster in ("本", "ไ", "한", "a")]
    [True, True, False, False]
    """
    return _UNSPACED.match(cluster) is not None


def is_invisible(cluster: str) -> bool:
    r"""Whether a cluster leaves no ink: white space, controls, joiners that join nothing.

    >>> [is_invisible(cluster) for cluster in ("\u200b", "\x1b", "a")]
    [True, True, False]
    """
    return _INVISIBLE.fullmatch(cluster) is not None


def is_mark(character: str) -> bool:
    r"""Whether a character is an accent or vowel sign that sits on the letter before it.

    >>> is_mark("\u0301"), is_mark("e")
    (True, False)
    """
    return _MARK.match(character) is not None


def is_border(before: str, after: str) -> bool:
    """Whether a word may end with the cluster `before` and another begin with the cluster `after`.

    >>> is_border("t", "."), is_border("i", "t"), is_border("日", "本")
    (True, False, True)
    """
    if not (is_letter(before) and is_letter(after)):
        return True
    return is_unspaced(before) or is_unspaced(after)
