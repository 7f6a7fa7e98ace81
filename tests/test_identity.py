"""What holds arrays is one thing, and equals itself alone: comparing arrays gives arrays, which are no yes or no."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from typing import Any

import pytest

import heedmap
from heedmap.reading.model import Model

ARRAYS = re.compile(r"ndarray|NDArray|Tensor|Floats|Bools|Numbers|Array\b")


def all_dataclasses() -> dict[str, type[Any]]:
    """Every dataclass of the package."""
    found = {}
    for module in pkgutil.walk_packages(heedmap.__path__, "heedmap."):
        if not module.name.endswith("__main__"):
            for one in vars(importlib.import_module(module.name)).values():
                if isinstance(one, type) and dataclasses.is_dataclass(one) and one.__module__ == module.name:
                    found[f"{module.name}.{one.__name__}"] = one
    return found


def test_no_dataclass_compares_its_arrays() -> None:
    classes = all_dataclasses()
    assert "heedmap.reading.row.Row" in classes
    with_arrays = {
        name
        for name, one in classes.items()
        if any(ARRAYS.search(str(field.type)) for field in dataclasses.fields(one) if field.compare)
    }
    assert len(with_arrays) > 40
    assert {name for name in with_arrays if "__eq__" in vars(classes[name])} == set()


def test_what_a_reading_gives_can_be_compared_and_put_into_sets(smollm2: Model) -> None:
    def given() -> list[Any]:
        reading = smollm2.read("The cat sat on the mat.", layers=[3, 5], values=True)
        row = reading.row("cat", 3, 1)
        of_reading = [reading.map(3, 1), reading.map(3, 1, scores=True), reading.explain("cat", 3, 1), reading.call(3)]
        tables = [reading.stats(), reading.received(3, 1), reading.spans({"cat": "4:7"}), reading.top("cat")]
        return [reading, row, *of_reading, *tables]

    one, other = given(), given()
    for same, different in zip(one, other, strict=True):
        assert same == same
        assert same != different
        assert (same in other, different in other) == (False, True)
    assert len({*one, *one, *other}) == len(one) + len(other)


@pytest.mark.parametrize("ask", ["generate", "rollout", "value_norms"])
def test_so_can_what_needs_the_model(ask: str, smollm2: Model) -> None:
    def given() -> Any:
        if ask == "generate":
            return smollm2.generate("The cat", 2, layers=3)
        reading = smollm2.read("The cat sat.", values=True)
        return reading.rollout("cat") if ask == "rollout" else reading.value_norms("cat", 3, 1)

    one, other = given(), given()
    assert one in [other, one]
    assert one not in [other]
    assert len({one, one, other}) == 2
