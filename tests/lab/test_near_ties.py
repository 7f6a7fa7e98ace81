"""A rerun whose rows are rounded otherwise: what that alone turns is told from what differs."""

from __future__ import annotations

from typing import Any

import numpy as np

from heedmap.lab.agreement import DIFFERS, SAME, TURNED, compare
from heedmap.lab.near_ties import moved, settle
from heedmap.lab.registry import experiment
from heedmap.lab.rows import Rows
from tests.lab.planted import heads_rows

NUMBERS = np.array([[0.5, 0.0], [1.0, np.nan]], np.float32)


def test_numbers_move_by_rounding_and_nothing_else_does() -> None:
    rows = Rows([{"item": "a", "share": 0.25, "n": 3, "word": "x", "yes": True, "numbers": NUMBERS, "none": None}])
    after = moved(rows, 1e-6, np.random.default_rng(0))
    assert after["share"][0] != 0.25
    assert abs(after["share"][0] - 0.25) <= 0.25e-6
    assert [after[name][0] for name in ("n", "word", "yes")] == [3, "x", True]
    numbers = after["numbers"][0]
    assert numbers[0, 1] == 0
    assert np.isnan(numbers[1, 1])
    assert np.nanmax(np.abs(numbers - NUMBERS)) <= 1e-6
    assert after.ids == rows.ids


def of_heads(rows: Rows) -> dict[str, Any]:
    return experiment("heads").conclude(rows, SETTINGS).figures


SETTINGS = experiment("heads").Settings(draws=200)


def table(rows: Rows, head: int, ahead: float) -> Rows:
    """The rows, in which one head has the weights of head 7 and is ahead of it by so much."""

    def changed(weights: np.ndarray) -> np.ndarray:
        weights = weights.astype(np.float64).copy()
        weights[..., head, :] = weights[..., 7, :]
        weights[..., head, 0] += ahead
        return weights

    columns = {name: rows.arrays(name) for name in rows.names}
    columns["weights"] = [changed(one) for one in columns["weights"]]
    return Rows(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def test_a_head_that_is_ahead_by_rounding_is_no_difference() -> None:
    """One head is ahead of another by just what counts as a tie: here the one is named, and there the other."""
    planted = heads_rows(np.random.default_rng(0), noun={7: 0.4}, layers=2)
    one, other = table(planted, 9, 1e-5 - 3e-8), table(planted, 9, 1e-5 + 3e-8)
    before, now = of_heads(one), of_heads(other)
    assert before["heads.best.head"].value != now["heads.best.head"].value
    lines = compare(before, now)
    assert any(line.judgement == DIFFERS for line in lines)
    settled = settle(lines, before, {"heads": other}, {"heads": SETTINGS}, 1e-5)
    assert all(line.agrees for line in settled)
    assert {line.judgement for line in settled} >= {SAME, TURNED}


def test_a_head_that_is_ahead_by_more_is_a_difference() -> None:
    planted = heads_rows(np.random.default_rng(0), noun={7: 0.4}, layers=2)
    before, other = of_heads(planted), table(planted, 9, 1e-3)
    lines = settle(compare(before, of_heads(other)), before, {"heads": other}, {"heads": SETTINGS}, 1e-5)
    assert {line.name: line.judgement for line in lines}["heads.best.head"] == DIFFERS
