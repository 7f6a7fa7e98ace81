"""Rows of `heads` and `reference` made by hand: noise, with an effect planted in one head or in none."""

from __future__ import annotations

from typing import Any

import numpy as np

from heedmap.lab.rows import Rows

FAMILIES = 10

RUNS = 1000
LOWEST, HIGHEST = 0.034, 0.070
"""Simulated runs with nothing to find, and how often a test at the level of 0.05 may find something in them: a rate of
0.05 over 1,000 runs has a standard deviation of 0.007."""


def heads_rows(
    rng: np.random.Generator,
    *,
    pairs: int = 24,
    layers: int = 6,
    heads: int = 10,
    together: float = 0.7,
    noun: dict[int, float] | None = None,
    place: dict[int, float] | None = None,
    clue: dict[int, float] | None = None,
    causal: bool = True,
    families: int = FAMILIES,
) -> Rows:
    """Weights of a word on two nouns that are noise, in which heads go together, with effects planted.

    Args:
        rng: where the noise comes from.
        pairs: how many.
        layers: how many.
        heads: of each layer.
        together: how much of each head's noise is that of all heads.
        noun: by head (counted over all layers) how much it prefers A wherever it stands.
        place: how much it prefers the noun that stands first.
        clue: how much the tokens after what decides (and the word, where not causal) prefer the right noun.
        causal: whether both versions give one and the same row at the word: the duplicates of every causal model.
        families: how many.
    """
    count = layers * heads
    answers = np.array([[0, 1] if pair % 3 else [1, 0] for pair in range(pairs)])
    first = np.array([[0, 1] if pair % 2 else [1, 0] for pair in range(pairs)])
    lean = 0.1 * _noise(rng, pairs, count, together, one_row=causal)
    for head, size in (noun or {}).items():
        lean[:, 0, :, :, head] += size
    for head, size in (place or {}).items():
        lean[:, 0, :, :, head] += size * np.where(first == 0, 1, -1)[:, :, None]
    for head, size in (clue or {}).items():
        right = np.where(answers == 0, 1, -1)[:, None, None, :]
        lean[:, 1 if causal else 0 :, :, :, head] += size * right
    weights = np.stack([0.25 + lean / 2, 0.25 - lean / 2], -1).astype(np.float32)
    alike = {
        "layer": np.repeat(np.arange(layers), heads).astype(np.int16),
        "head": np.tile(np.arange(heads), layers).astype(np.int16),
        "noun_tokens": np.ones((2, 2, 2), np.int16),
    }
    return Rows(
        {
            "item": f"{pair:05}",
            "family": f"family {pair % families}",
            "text": "",
            "answers": answers[pair].astype(np.int8),
            "first": first[pair].astype(np.int8),
            **alike,
            "decided_after": True,
            "exchanged": False,
            "dtype": "float32",
            "left_out": "",
            "weights": weights[pair],
        }
        for pair in range(pairs)
    )


def _noise(rng: np.random.Generator, pairs: int, heads: int, together: float, *, one_row: bool) -> np.ndarray:
    """[pair, at the word or after what decides, order, version, head]; at the word the versions may share one row."""

    def drawn(*shape: int) -> np.ndarray:
        common = rng.normal(size=(pairs, *shape, 1))
        own = rng.normal(size=(pairs, *shape, heads))
        return np.asarray(together * common + (1 - together**2) ** 0.5 * own)

    return np.stack([drawn(2, 1 if one_row else 2) * np.ones((1, 1, 2, 1)), drawn(2, 2)], 1)


def reference_rows(
    odds: np.ndarray, answers: np.ndarray, *, without: np.ndarray | None = None, families: int = FAMILIES
) -> Rows:
    """Rows with the same log-odds [pair, version] by every way to ask, in both noun orders.

    Args:
        odds: log-odds of A against B.
        answers: [pair, version].
        without: [pair] the log-odds without what decides; 0 by default.
        families: how many.
    """
    pairs = len(odds)
    plain = np.zeros(pairs) if without is None else without
    whole = np.repeat(np.concatenate([odds, plain[:, None]], 1)[:, None], 2, 1)  # [pair, order, version]
    whole[:, 1, 2] = np.nan
    rows: list[dict[str, Any]] = []
    for pair in range(pairs):
        ask = np.full((2, 3, 2), np.nan)
        ask[..., 0] = whole[pair]
        ask[0, :2, 1] = odds[pair]
        rows.append(
            {
                "item": f"{pair:05}",
                "family": f"family {pair % families}",
                "text": "",
                "paired": True,
                "answers": answers[pair].astype(np.int8),
                "first": np.array([0, 1], np.int8),
                "ask": ask,
                "whole": whole[pair],
                "part": whole[pair],
            }
        )
    return Rows(rows)
