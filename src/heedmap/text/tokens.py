"""What a person wrote against what the model saw: tokens with their place in the text, and words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, overload

from heedmap.text.find import find, occurrences
from heedmap.text.labels import Span, visible
from heedmap.text.word import Word as Word
from heedmap.text.words import TextIndex


@dataclass(frozen=True, slots=True)
class Token:
    """One token that ran through the model.

    Attributes:
        index: position in the sequence, from 0.
        id: number in the tokenizer's vocabulary.
        text: the slice of the source text it stands for, or the name of a special token.
        start: first character in the source text, `None` for a token that was added.
        end: one past the last character, `None` for a token that was added.
        special: whether the tokenizer treats it as a marker (begin of text, separator, mask ...). With a `start` it
            is a marker that was typed in the text and read as one.
        unknown: whether the model saw its "unknown" token instead of this text.
        label: what a picture writes for it, on one line and nothing invisible (the rules are in `labels.py`).
    """

    index: int
    id: int
    text: str
    start: int | None
    end: int | None
    special: bool = False
    unknown: bool = False
    label: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", visible(self.text))


@dataclass(frozen=True)
class Tokens(Sequence[Token]):
    """All tokens of one text, in the order of the model's positions, and the words they make up.

    Attributes:
        text: the source text, whole.
        tokens: the tokens that ran.
        cut_off: how many further tokens of the text were left out to fit the model (`truncate=True`).

    >>> tokens = Tokens("The cat", (Token(0, 11, "The", 0, 3), Token(1, 12, " cat", 3, 7)))
    >>> tokens.find("cat")
    Word(text='cat', start=4, end=7, tokens=(1,), occurrence=1, of=1)
    """

    text: str
    tokens: tuple[Token, ...] = field(repr=False)
    cut_off: int = 0

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Token, ...]: ...
    def __getitem__(self, index: int | slice) -> Token | tuple[Token, ...]:
        return self.tokens[index]

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    @property
    def ids(self) -> list[int]:
        """The numbers that ran through the model."""
        return [token.id for token in self.tokens]

    @property
    def labels(self) -> list[str]:
        """What a picture writes for each token, one a token."""
        return [token.label for token in self.tokens]

    @property
    def special_tokens_added(self) -> bool:
        """Whether special tokens ran that do not stand in the text (begin of text, `[CLS]` ...)."""
        return any(token.special and token.start is None for token in self.tokens)

    def find(self, word: str | int | Word) -> Word:
        """The one word that is meant, or an error that says what there is instead.

        Args:
            word: one of

                - a word, several words or punctuation as they stand in the text, in any script;
                - `it#2` for the second of several;
                - `@5` (or the number 5) for the token at position 5, `@-1` for the last one;
                - the name of a special token: `[CLS]`;
                - the label of a token as a picture shows it: `⏎`, `你 1/2`;
                - a `Word`, which is handed back.

        The first of these rules that finds anything decides: a special token's name; whole words as written; whole
        words in other case; a part of a word that whole tokens make up exactly (`case` of `suitcase`); a label. What
        stands literally in the text goes before `#2`; `@5#1` means the word "@5".

        Raises:
            WordNotFound: it does not stand in the text, or not that often, or the model did not see it.
            AmbiguousWord: it stands there several times and no number was given.
            OutOfRange: there is no token at that position.
        """
        return find(self, word)

    def occurrences(self, word: str) -> list[Word]:
        """Every place of a word, by the rules of `find`, from left to right; an empty list if it is not there."""
        return occurrences(self, word)

    def words(self) -> list[Word]:
        """What stands between white space, each with its tokens; in scripts without spaces, each letter.

        Special tokens are no words. Words that the model did not see at all are left out.

        Example:
            >>> tokens = Tokens("18th", (Token(0, 11, "1", 0, 1), Token(1, 12, "8", 1, 2), Token(2, 13, "th", 2, 4)))
            >>> [(word.text, word.tokens) for word in tokens.words()]
            [('18th', (0, 1, 2))]
        """
        places: dict[str, dict[int, int]] = {}
        words = []
        for start, end in self.searchable.words():
            text = self.text[start:end]
            if text not in places:
                seen = [span for span in self.searchable.find(text) if self.covering(*span)]
                places[text] = {first: number for number, (first, _) in enumerate(seen, start=1)}
            covering = self.covering(start, end)
            if covering:
                words.append(Word(text, start, end, covering, places[text][start], len(places[text])))
        return words

    def groups(self) -> list[Word]:
        """The sequence cut into words so that every token is in exactly one, special tokens and spaces each alone.

        Words that share a token become one. With these groups, `merge` keeps every row's sum.

        Example:
            >>> tokens = Tokens("18th", (Token(0, 1, "[CLS]", None, None, True), Token(1, 11, "18th", 0, 4)))
            >>> [(group.text, group.tokens) for group in tokens.groups()]
            [('[CLS]', (0,)), ('18th', (1,))]
        """
        taken: list[tuple[int, ...]] = []
        for word in self.words():
            if taken and word.tokens[0] <= taken[-1][-1]:
                taken[-1] = tuple(sorted({*taken[-1], *word.tokens}))
            else:
                taken.append(word.tokens)
        rest = set(range(len(self))).difference(*taken)
        return [self.join(tokens) for tokens in sorted([*taken, *((index,) for index in rest)])]

    def join(self, tokens: Sequence[int]) -> Word:
        """The stretch of text that some tokens, given by their positions, stand for."""
        spans = [(t.start, t.end) for t in (self[i] for i in tokens) if t.start is not None and t.end is not None]
        if not spans:
            return Word(self[tokens[0]].text, None, None, tuple(tokens))
        start, end = min(first for first, _ in spans), max(last for _, last in spans)
        text = self.text[start:end]
        if text.strip():
            start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        return Word(self.text[start:end] or self[tokens[0]].label, start, end, tuple(tokens))

    def covering(self, start: int, end: int) -> tuple[int, ...]:
        """The positions of the tokens that stand for any character of `text[start:end]`, ascending.

        A word that truncation cut in two is covered by none: the model did not see it.
        """
        if self.cut_off and not self.seen[0] <= start <= end <= self.seen[1]:
            return ()
        placed, starts, furthest_ends = self._placed
        candidates = placed[bisect_right(furthest_ends, start) : bisect_left(starts, end)]
        return tuple(index for index, _, last in candidates if last > start)

    def to_json(self) -> list[dict[str, Any]]:
        """The tokens as JSON: index, text, start, end, special; and `"unknown": true` where the model saw that.

        >>> Tokens("cat", (Token(0, 11, "cat", 0, 3),)).to_json()
        [{'index': 0, 'text': 'cat', 'start': 0, 'end': 3, 'special': False}]
        """
        keys = ("index", "text", "start", "end", "special")
        return [
            {key: getattr(token, key) for key in keys} | ({"unknown": True} if token.unknown else {})
            for token in self.tokens
        ]

    @cached_property
    def searchable(self) -> TextIndex:
        """The text made ready to be searched, with the typed special tokens as its markers."""
        markers = [(t.start, t.end) for t in self.tokens if t.special and t.start is not None and t.end is not None]
        return TextIndex(self.text, markers)

    @cached_property
    def seen(self) -> Span:
        """The range of characters that the tokens stand for."""
        placed, _, furthest_ends = self._placed
        return (placed[0][1], furthest_ends[-1]) if placed else (0, 0)

    @cached_property
    def _placed(self) -> tuple[list[tuple[int, int, int]], list[int], list[int]]:
        """The tokens that stand for characters as (index, start, end), their starts, and the furthest end so far."""
        placed = [
            (t.index, t.start, t.end)
            for t in self.tokens
            if t.start is not None and t.end is not None and t.start < t.end
        ]
        return placed, [start for _, start, _ in placed], list(accumulate((end for *_, end in placed), max))
