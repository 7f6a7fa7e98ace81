"""What a picture writes for a token: never a raw byte glyph, a replacement character or a line break.

The rules, in order:

- A special token shows its name; an unknown one shows the source text and the name of what the model saw.
- Tokens that share one character (CJK, emoji, accents) show it with a mark of which part: `你 1/2`, `你 2/2`.
- The one space between two words is not shown. All other white space is: `␣` space, `⏎` line feed, `⇥` tab, four
  or more alike as `␣×8`.
- What leaves no ink is named by its code point: `⟨U+200B⟩`, `⟨ESC⟩`, `⟨0xE4⟩` for a byte that is not text.
- A token that only marks the beginning of a word, and stands for no character at all, shows `⟨start⟩`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from heedmap.text.clusters import cluster_at, cluster_starts, clusters, is_invisible, is_mark

Span = tuple[int, int]

START_MARK = "⟨start⟩"
# A character with sixty accents on it would hide its neighbours.
LONGEST_CLUSTER = 16
REPLACEMENT = "\ufffd"

_NAMED = {
    "\n": "⏎",
    "\t": "⇥",
    "\r": "⟨CR⟩",
    "\x00": "⟨NUL⟩",
    "\x1b": "⟨ESC⟩",
    "\xa0": "⟨NBSP⟩",
    REPLACEMENT: "⟨U+FFFD⟩",
}
_SPACE_TO_SHOW = re.compile(r"(?<!\S) | (?!\S)")
_LONG_RUN = re.compile(r"([␣⏎⇥])\1{3,}")


def visible(text: str) -> str:
    r"""Write a text on one line so that nothing in it is invisible or drives a terminal.

    >>> visible(" a b\n"), visible("\x1b[1m"), visible("        ")
    ('␣a b⏎', '⟨ESC⟩[1m', '␣×8')
    """
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    marked = _SPACE_TO_SHOW.sub("␣", text)
    shown = "".join(_show_cluster(cluster) for cluster in clusters(marked))
    return _LONG_RUN.sub(lambda run: f"{run[1]}×{len(run[0])}", shown)


def _show_cluster(cluster: str) -> str:
    if len(cluster) > LONGEST_CLUSTER:
        cluster = f"{cluster[:LONGEST_CLUSTER]}…"
    if cluster in _NAMED:
        return _NAMED[cluster]
    if cluster != " " and is_invisible(cluster):
        return "".join(_code(character) for character in cluster)
    if REPLACEMENT in cluster or any(unicodedata.category(character) == "Cs" for character in cluster):
        return "".join(_NAMED.get(c) or (_code(c) if is_invisible(c) else c) for c in cluster)
    return f"◌{cluster}" if is_mark(cluster[0]) else cluster


def _code(character: str) -> str:
    """Name a character by its number; lone surrogates 0xDC80 to 0xDCFF are bytes that are not text (PEP 383)."""
    number = ord(character)
    return f"⟨0x{number - 0xDC00:02X}⟩" if 0xDC80 <= number <= 0xDCFF else f"⟨U+{number:04X}⟩"


def core(text: str, span: Span) -> Span:
    """The part of a token's characters that its label shows: all but the one space between two words.

    >>> core("the cat", (3, 7)), core(" lead", (0, 5)), core("a  b", (1, 2))
    ((4, 7), (0, 5), (1, 2))
    """
    start, end = span
    separates = (
        end - start > 1
        and start > 0
        and text[start] == " "
        and not text[start - 1].isspace()
        and not text[start + 1].isspace()
    )
    return (start + 1, end) if separates else span


def label_tokens(text: str, spans: Sequence[Span]) -> list[str]:
    """The labels of tokens that stand for `text[start:end]`, in the order of the text.

    Args:
        text: the source text.
        spans: half-open character ranges, one a token; none may be empty.

    >>> label_tokens("你 ok", [(0, 1), (0, 1), (1, 4)])
    ['你 1/2', '你 2/2', 'ok']
    """
    starts = cluster_starts(text)
    cores = [core(text, span) for span in spans]
    reaches = [(cluster_at(starts, start), cluster_at(starts, end - 1)) for start, end in cores]
    # A token's characters are one run, so a character shared by two tokens is the first or last of each.
    shares = Counter(number for reach in reaches for number in set(reach))
    seen: Counter[int] = Counter()
    labels = []
    for first, last in reaches:
        shared = [number for number in {first, last} if shares[number] > 1]
        seen.update(shared)
        parts = {n: f"{visible(text[starts[n] : starts[n + 1]])} {seen[n]}/{shares[n]}" for n in shared}
        # The others are shown whole, even where the tokenizer counts a letter without the accent on it.
        own_first, own_last = first + (first in parts), last - (last in parts)
        if own_first <= own_last:
            parts[own_first] = visible(text[starts[own_first] : starts[own_last + 1]])
        labels.append("·".join(part for _, part in sorted(parts.items())))
    return labels
