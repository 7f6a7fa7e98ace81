"""Progress: told before the first step and after each."""

from __future__ import annotations

import pytest

from heedmap.reading.model import Model
from heedmap.reading.progress import counted


def test_nobody_to_tell_costs_nothing() -> None:
    received: list[int] = []
    receive = received.append
    assert counted(receive, 3, "items", None) is receive


def test_what_is_received_is_received_before_it_is_counted() -> None:
    order: list[object] = []
    receive = counted(order.append, 2, "items", lambda done, total, what: order.append((done, total, what)))
    receive("first")
    receive("second")
    assert order == [(0, 2, "items"), "first", (1, 2, "items"), "second", (2, 2, "items")]


@pytest.mark.parametrize("layers", [None, 7])
def test_a_reading_tells_every_layer_that_has_run(smollm2: Model, layers: int | None) -> None:
    told: list[tuple[int, int, str]] = []
    smollm2.read("The cat sat", layers=layers, progress=lambda *state: told.append(state))
    assert told == [(done, 30, "reading layers") for done in range(31)]


def test_the_second_passes_of_an_explanation_are_told(smollm2: Model) -> None:
    reading = smollm2.read("The cat sat", layers=7)
    told: list[tuple[int, int, str]] = []
    reading.explain("sat", 7, 2, from_vector=True, progress=lambda *state: told.append(state))
    assert told == 2 * [(done, 30, "reading layers again") for done in range(31)]
