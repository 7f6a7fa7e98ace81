"""Tokens and words as the page shows them: ready to read, nothing invisible, every token in exactly one word."""

from __future__ import annotations

import re
from typing import Any

from heedmap.text.labels import visible
from heedmap.text.tokens import Tokens
from heedmap.text.word import Word

_PATCH = re.compile(r"r(\d+)c(\d+)")


Patches = list[tuple[int, int] | None]
"""Where each token lies in a picture, by row and column; None for tokens that are no patch."""


def text_json(tokens: Tokens, picture: str | None = None, patches: Patches | None = None) -> dict[str, Any]:
    """The tokens of one text, and its words, as columns.

    Args:
        tokens: the tokens that ran.
        picture: where tokens are patches, the picture as a data URL.
        patches: which tokens are patches; None goes by their names.

    Returns:
        "labels" of the tokens, the indices of the "special" ones, "words" as [text, what stands before it, its
        tokens], and of a picture its "patches" as [row, column] a token (null for others).

    Example:
        >>> import heedmap
        >>> tokens = heedmap.load("smollm2").tokenize("The suitcase")
        >>> found = text_json(tokens)
        >>> found["labels"], found["words"]
        (['The', 'suit', 'case'], [['The', '', [0]], ['suitcase', ' ', [1, 2]]])
    """
    found: dict[str, Any] = {
        "text": tokens.text,
        "labels": tokens.labels,
        "special": [token.index for token in tokens if token.special],
        "words": _words(tokens),
    }
    patches = patches_of(tokens) if patches is None else patches
    if patches is None:
        return found
    found["patches"] = patches
    rows, columns = (1 + max(place[axis] for place in patches if place is not None) for axis in (0, 1))
    return found | {"picture": {"url": picture or "", "rows": rows, "columns": columns}}


def patches_of(tokens: Tokens) -> Patches | None:
    """Where each token lies in a picture, None for its class token and registers; None where it is no picture.

    Example:
        >>> from heedmap.reading.pictures import patch_tokens
        >>> patches_of(patch_tokens(1, 2, ["class"]))
        [None, (0, 0), (0, 1)]
    """
    matches = [None if token.special else _PATCH.fullmatch(token.text) for token in tokens]
    if not any(matches) or any(
        match is None and not token.special for match, token in zip(matches, tokens, strict=True)
    ):
        return None
    return [None if match is None else (int(match[1]), int(match[2])) for match in matches]


def _words(tokens: Tokens) -> list[list[Any]]:
    """Each word with what stands before it: white space that is no token of its own."""
    words: list[list[Any]] = []
    reached = 0
    for word in tokens.groups():
        before = ""
        if word.start is not None and word.end is not None:
            gap = tokens.text[reached : word.start]
            before = gap if gap.isspace() else ""
            reached = max(reached, word.end)
        words.append([_shown(word, tokens), before, list(word.tokens)])
    return words


def _shown(word: Word, tokens: Tokens) -> str:
    """The word's letters; for a single token its label, which also says what an unknown or special one is."""
    return tokens[word.tokens[0]].label if len(word.tokens) == 1 else visible(word.text)
