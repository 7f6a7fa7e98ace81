"""Shares of parts to draw, with no model behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedmap.reading.span_shares import LayerShares
from heedmap.reading.spans import SpanShares
from heedmap.text.asking import Asking
from heedmap.text.spans import partition
from heedmap.text.tokens import Token, Tokens


def shares_of(names: Sequence[str], layers: int = 3, heads: int = 2, seed: int = 0, asking: int = -1) -> SpanShares:
    """Random shares of parts of three tokens each, after a first token and before three tokens of no part."""
    count = 3 * len(names) + 4
    tokens = Tokens("x " * count, tuple(Token(n, n, "x", 2 * n, 2 * n + 1) for n in range(count)))
    parts = partition(tokens, {name: f"tok:{3 * n + 1}:{3 * n + 4}" for n, name in enumerate(names)})
    random = np.random.default_rng(seed)
    seen = np.array([[1.0, *(3.0 for _ in names), 3.0]] * heads)
    measured = []
    for layer in range(layers):
        shares = random.dirichlet(np.ones(len(names) + 2), heads)
        ordinary = (1 - shares[:, :1]) * np.array([0.0, *(1.0 for _ in names), 1.0]) / (len(names) + 1)
        measured.append(LayerShares(layer, shares, ordinary, seen, np.zeros(heads)))
    place = asking % count
    return SpanShares(parts, Asking("its last token", (place,)), tuple(measured), {"name": "mine"})
