"""What a person wrote against what the model saw: tokens with their place in the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """One token that ran through the model.

    Attributes:
        index: position in the sequence, from 0.
        id: number in the tokenizer's vocabulary.
        text: the slice of the source text it stands for, or the name of a special token.
        start: first character in the source text, `None` for a token that was added.
        end: one past the last character, `None` for a token that was added.
        special: whether the tokenizer treats it as a marker (begin of text, separator, mask ...).
        unknown: whether the model saw its "unknown" token instead of this text.
    """

    index: int
    id: int
    text: str
    start: int | None
    end: int | None
    special: bool = False
    unknown: bool = False
