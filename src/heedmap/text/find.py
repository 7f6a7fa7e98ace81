"""From what somebody typed to the tokens they mean, or to a message that helps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from heedmap.errors import AmbiguousWord, OutOfRange, WordNotFound
from heedmap.text.labels import Span, core, visible
from heedmap.text.word import Word

if TYPE_CHECKING:
    from heedmap.text.tokens import Token, Tokens

_POSITION = re.compile(r"@(-?\d{1,18})")  # more digits are no number that Python would read
_NUMBERED = re.compile(r"(.+)#(\d{1,18})", re.DOTALL)
_LETTERS = re.compile(r"\w+")

# Texts with at most this many different words have them all listed in an error.
_FEW_WORDS = 20
_LISTED_PLACES = 8
_CONTEXT = 12


def find(tokens: Tokens, word: str | int | Word) -> Word:
    """The body of `Tokens.find`."""
    if isinstance(word, Word):
        return word
    if isinstance(word, int):
        return _at(tokens, word)
    if position := _POSITION.fullmatch(word):
        return _at(tokens, int(position[1]))
    found = occurrences(tokens, word)
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousWord(_list_places(tokens, word, found))
    if numbered := _NUMBERED.fullmatch(word):
        return _numbered(tokens, numbered[1], int(numbered[2]))
    raise WordNotFound(_suggest(tokens, word))


def occurrences(tokens: Tokens, word: str) -> list[Word]:
    """The body of `Tokens.occurrences`."""
    ways: tuple[Callable[[], Iterable[Word]], ...] = (
        lambda: (tokens.join([t.index]) for t in tokens if t.special and t.text == word),
        lambda: _seen(tokens, tokens.searchable.find(word)),
        lambda: _seen(tokens, tokens.searchable.find(word, ignore_case=True)),
        lambda: _seen(tokens, _whole_tokens(tokens, tokens.searchable.find(word, whole=False))),
        lambda: (tokens.join([t.index]) for t in tokens if t.label == word),
    )
    for way in ways:
        if found := list(way()):
            return [
                Word(w.text, w.start, w.end, w.tokens, number, len(found)) for number, w in enumerate(found, start=1)
            ]
    return []


def _seen(tokens: Tokens, spans: Iterable[Span]) -> list[Word]:
    """The words at these places, without those that the model did not see."""
    covered = ((start, end, tokens.covering(start, end)) for start, end in spans)
    return [Word(tokens.text[start:end], start, end, covering) for start, end, covering in covered if covering]


def _whole_tokens(tokens: Tokens, spans: Iterable[Span]) -> Iterable[Span]:
    """The places whose characters belong to tokens that stand for nothing else."""
    for start, end in spans:
        cores = [_core(tokens, tokens[index]) for index in tokens.covering(start, end)]
        if cores and min(first for first, _ in cores) == start and max(last for _, last in cores) == end:
            yield start, end


def _core(tokens: Tokens, token: Token) -> Span:
    assert token.start is not None and token.end is not None, "covering() gives tokens with a place"  # noqa: PT018
    return core(tokens.text, (token.start, token.end))


def _at(tokens: Tokens, position: int) -> Word:
    count = len(tokens)
    if not -count <= position < count:
        raise OutOfRange(f"there is no token @{position}: the text has {count} tokens, @0 to @{count - 1}")
    return tokens.join([position % count])


def _numbered(tokens: Tokens, word: str, number: int) -> Word:
    found = occurrences(tokens, word)
    if not found:
        raise WordNotFound(_suggest(tokens, word))
    if not 1 <= number <= len(found):
        times = "once" if len(found) == 1 else f"{len(found)} times"
        names = f"{word}#1" if len(found) == 1 else f"{word}#1 to {word}#{len(found)}"
        raise WordNotFound(f"there is no {word}#{number}: {visible(word)!r} stands {times} in the text ({names})")
    return found[number - 1]


def _list_places(tokens: Tokens, word: str, found: list[Word]) -> str:
    places = [f"{word}#{w.occurrence} (token {w.tokens[0]}{_context(tokens, w)})" for w in found[:_LISTED_PLACES]]
    more = len(found) - _LISTED_PLACES
    return (
        f"{visible(word)!r} stands {len(found)} times in the text: {', '.join(places)}"
        f"{f', and {more} more' if more > 0 else ''}; name one of them, such as {word}#2"
    )


def _context(tokens: Tokens, word: Word) -> str:
    if word.start is None or word.end is None:
        return ""
    text = tokens.text
    start, end = max(word.start - _CONTEXT, 0), min(word.end + _CONTEXT, len(text))
    # Whole words only, where there is a space to cut at.
    before, after = text[start : word.start], text[word.end : end]
    if start > 0:
        before = f"…{before.partition(' ')[2] or before}"
    if end < len(text):
        after = f"{after.rpartition(' ')[0] or after}…"
    return f": {visible(f'{before}{text[word.start : word.end]}{after}'.strip())}"


def _part_of(tokens: Tokens, word: str) -> str | None:
    """The word that holds a piece of a word, and the tokens that the piece falls in."""
    text = tokens.searchable
    for start, end in text.find(word, whole=False) or text.find(word, whole=False, ignore_case=True):
        covering = tokens.covering(start, end)
        whole = next((span for span in text.words() if span[0] <= start and end <= span[1]), (start, end))
        if covering:
            names = ", ".join(f"@{index} ({tokens[index].label})" for index in covering)
            return (
                f"{visible(tokens.text[slice(*whole)])!r}: name the whole word, or what holds it by its place, {names}"
            )
    return None


def _suggest(tokens: Tokens, word: str) -> str:
    """Why a word was not found, and the words that might have been meant."""
    if not word.strip():
        return f"a word was expected, not {visible(word)!r}; name a token by its place, @0 to @{len(tokens) - 1}"
    shown = repr(visible(word))
    unseen = tokens.searchable.find(word) or tokens.searchable.find(word, ignore_case=True)
    if unseen and tokens.cut_off:
        return (
            f"{shown} stands in the text, but the model did not see it: the last {tokens.cut_off} tokens were cut "
            "off to fit its positions; shorten the text before it"
        )
    if unseen:
        return f"{shown} stands in the text, but the tokenizer drops these characters, so the model did not see it"
    if part := _part_of(tokens, word):
        return f"{shown} is only a part of {part}"
    words = list(dict.fromkeys(_LETTERS.findall(tokens.text)))
    by_folded = {candidate.casefold(): candidate for candidate in reversed(words)}
    near = [by_folded[name] for name in get_close_matches(word.casefold(), by_folded, n=3)]
    message = f"{shown} does not stand in the text"
    if near:
        message += f"; nearest: {', '.join(near)}"
    if len(words) <= _FEW_WORDS:
        message += f"; its words are: {', '.join(words)}" if words else "; it has no words, only signs"
    return f"{message}; @0 to @{len(tokens) - 1} name a token by its place"
