"""A word of a text, and the tokens that cover it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word, phrase or single token, with the tokens that cover its characters.

    Attributes:
        text: as it stands in the source text, or the name of a special token.
        start: first character in the source text, `None` for a special token that was added.
        end: one past the last character, `None` likewise.
        tokens: the positions of its tokens in the sequence, ascending.
        occurrence: which one it is of all the places where it stands, from 1.
        of: how many such places there are.
    """

    text: str
    start: int | None
    end: int | None
    tokens: tuple[int, ...]
    occurrence: int = 1
    of: int = 1

    @property
    def name(self) -> str:
        """The word as `find` takes it, with its number where it stands several times.

        >>> Word("it", 9, 11, (3,), occurrence=2, of=2).name
        'it#2'
        """
        return f"{self.text}#{self.occurrence}" if self.of > 1 else self.text
