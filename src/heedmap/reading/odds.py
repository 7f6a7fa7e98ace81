"""What a model would write next, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from heedmap.reading.word_row import number_or_none
from heedmap.text.tokenize import from_ids
from heedmap.text.tokens import Tokens

SCHEMA = "heedmap/next/1"

KEPT = 100
"""How many of the most likely tokens a reading keeps by name."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible next token: its id, its text and its probability, NaN where the model's logits are not numbers."""

    id: int
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Odds:
    """The most likely next tokens after a text.

    Attributes:
        tokens: the tokens that ran.
        candidates: the most likely next tokens, most likely first.
        model: what the numbers were measured on.
    """

    tokens: Tokens
    candidates: tuple[Candidate, ...]
    model: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The odds as JSON; null where they are not a number."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "text": self.tokens.text,
            "tokens": self.tokens.to_json(),
            "next": [
                {"id": one.id, "text": one.text, "probability": number_or_none(one.probability)}
                for one in self.candidates
            ],
        }

    def __str__(self) -> str:
        from heedmap.drawing.readings import odds_text

        return odds_text(self)


def most_likely(logits: torch.Tensor, tokenizer: Any) -> tuple[Candidate, ...]:
    """The most likely tokens by softmax over a row of logits, [vocabulary]."""
    probabilities = torch.softmax(logits.double(), -1)
    best = torch.topk(probabilities, min(KEPT, len(probabilities)))
    return tuple(
        Candidate(number, from_ids(tokenizer, [number])[0].label, probability)
        for number, probability in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
