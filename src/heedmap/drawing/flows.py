"""Rollout and value norms as bars in plain text: they are no attention weights, and their titles say what they are."""

from __future__ import annotations

import numpy as np

from heedmap.drawing.bars import row_bars
from heedmap.drawing.shapes import RowPicture
from heedmap.drawing.terminal import to_text
from heedmap.reading.rollout import RolloutRow
from heedmap.reading.value_norms import NormRow


def rollout_text(row: RolloutRow) -> str:
    """A row of the rollout as bars."""
    title = f"rollout of “{row.word}” over {row.layers} layers: weights multiplied, half of each kept in place"
    return to_text(
        row_bars(
            RowPicture(
                title=title,
                labels=row.tokens.labels,
                weights=row.weights,
                allowed=row.allowed,
                special=np.array([token.special for token in row.tokens]),
                query=frozenset(row.query),
                missing=_missing(row.sum),
            )
        )
    )


def norms_text(row: NormRow) -> str:
    """The norms of what each token adds as bars, in shares of their sum."""
    total = float(row.products.sum())
    head = "all heads together" if row.head is None else f"head {row.head}"
    title = f"norms of what is added to “{row.word}”: layer {row.layer}, {head}, as shares of their sum {total:.3g}"
    return to_text(
        row_bars(
            RowPicture(
                title=title,
                labels=row.tokens.labels,
                weights=row.products / total if total > 0 else row.products,
                allowed=row.allowed,
                special=np.array([token.special for token in row.tokens]),
                query=frozenset(row.query),
            )
        )
    )


def _missing(total: float) -> float:
    """What a row lacks of 1, where that is more than rounding."""
    return 1.0 - total if total < 1.0 - 1e-4 else 0.0
