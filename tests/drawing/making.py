"""Rows and maps to draw, with no model behind them."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray
from rich.console import Console, RenderableType
from rich.segment import Segment

from heedmap.drawing.shapes import MapPicture, RowPicture

TROPHY = ["The", "trophy", "did", "not", "fit", "in", "the", "suit", "case", "because", "it", "was", "too", "big", "."]

HARD = [
    "<|im_start|>", "你好", "世 1/3", "שלום", "مرحبا", "😀", "👩‍👩‍👧", "🇫🇷", "❤️", "␣␣", "⏎", "क्षत्र", "한국", "é", "◌̧",
    "$x^2$", "\\alpha", "</script><script>alert(1)</script>", "[bold red]hi[/]", ":smile:", "\x1b[31mred\x1b[0m",
    "\u202eabc", "supercalifragilisticexpialidocious", "{}%", "\u0000", "\ud83d", "a\u2028b", "", " ", "\t", "end",
]  # fmt: skip
"""Labels that ask for trouble: wide, right to left, invisible, marked up, controlling, unpaired, empty."""

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
HARMLESS = regex.compile(r"[\u2068\u2069\u200c\u200d\p{Prepended_Concatenation_Mark}\p{GCB=Extend}]")
"""Of these: isolates, joiners inside words, Arabic signs that show, and what belongs to the character before it."""


def causal(tokens: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A causal softmax over random scores, with much weight on the first token."""
    scores = np.random.default_rng(seed).normal(0.0, 1.6, (tokens, tokens))
    scores[:, 0] += 2.5
    allowed = np.tri(tokens, dtype=bool)
    exponentials = np.where(allowed, np.exp(scores), 0.0)
    return exponentials / exponentials.sum(axis=1, keepdims=True), allowed


def map_of(labels: Sequence[str], seed: int = 0) -> MapPicture:
    """A map of these tokens."""
    weights, allowed = causal(len(labels), seed)
    return MapPicture(title="layer 2, head 1", labels_query=labels, labels_key=labels, weights=weights, allowed=allowed)


def row_of(labels: Sequence[str], place: int, seed: int = 0, missing: float = 0.0) -> RowPicture:
    """The row of one of these tokens; with a sink the weights keep what it leaves."""
    weights, allowed = causal(len(labels), seed)
    return RowPicture(
        title="where it looks",
        labels=labels,
        weights=weights[place] * (1.0 - missing),
        allowed=allowed[place],
        special=np.zeros(len(labels), dtype=bool),
        query=frozenset({place}),
        missing=missing,
    )


def naughty_strings(folder: Path) -> list[str]:
    """The big list of naughty strings."""
    strings = json.loads((folder / "hard" / "blns.json").read_text(encoding="utf-8"))
    assert len(strings) > 400
    return [str(one) for one in strings]


def printed(picture: RenderableType, width: int, encoding: str = "utf-8") -> list[str]:
    """The lines of a picture as they leave on a stream without colour; the stream refuses what it cannot encode."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    Console(file=stream, width=width, color_system=None, markup=False, emoji=False, highlight=False).print(picture)
    stream.flush()
    return raw.getvalue().decode(encoding).split("\n")[:-1]


def segments(picture: RenderableType, width: int, colours: str = "truecolor") -> list[list[Segment]]:
    """The pieces of each line of a picture on a terminal of so many colours."""
    console = Console(
        file=io.StringIO(), force_terminal=True, color_system=colours, width=width,  # type: ignore[arg-type]
        markup=False, emoji=False, highlight=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    return console.render_lines(picture, pad=False)


def acting_characters(text: str) -> set[str]:
    """The characters of a text that do something instead of showing."""
    return {one for one in text if unicodedata.category(one) in ACTING and not HARMLESS.match(one)}
