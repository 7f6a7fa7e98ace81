"""What experiments run on: sentences, and pairs in which one small change makes a word mean another noun."""

from __future__ import annotations

from heedmap.lab.data.bad_rows import BadRow, BadRows
from heedmap.lab.data.formats import FORMATS
from heedmap.lab.data.open import contrasts, pairs, questions, sentences, units
from heedmap.lab.data.types import Contrast, Pair, Question, Sentence

__all__ = [
    "FORMATS",
    "BadRow",
    "BadRows",
    "Contrast",
    "Pair",
    "Question",
    "Sentence",
    "contrasts",
    "pairs",
    "questions",
    "sentences",
    "units",
]
