"""Live numbers from inside a real head: they agree with what the model itself computed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heedmap.errors import LessonError
from heedmap.lessons.live import compute
from heedmap.reading.model import Model

TEXT = "The key I left on the table is missing"
CALL = f'inside "{TEXT}" is {{on}} {{what}} layer=1 head=2'


pytestmark = pytest.mark.usefixtures("tiny_stands_in")


def value(on: str, what: str) -> float:
    found = compute(CALL.format(on=on, what=what)).value
    assert found is not None
    return found


def test_product_score_and_weight_are_those_of_the_model(tiny_decoder: Model) -> None:
    row = tiny_decoder.read(TEXT, layers=1).row("is", 1, 2)
    scores = {on: value(on, "score") for on in ("key", "table")}
    for on, score in scores.items():
        assert value(on, "product") == pytest.approx(score * 4)  # keys of 16 numbers
        # The model's own weight is float32, this one float64: 1e-5 is the project's tolerance for weights.
        assert value(on, "weight") == pytest.approx(row.share(on), abs=1e-5)
    assert row.share("key") / row.share("table") == pytest.approx(math.exp(scores["key"] - scores["table"]), rel=1e-3)


def test_undivided_is_softmax_of_the_products() -> None:
    words = ["The", "key", "I", "left", "on", "the", "table", "is"]
    products = np.array([value(on, "product") for on in words])
    weights = np.exp(products - products.max()) / np.exp(products - products.max()).sum()
    assert value("key", "undivided") == pytest.approx(weights[1])
    assert value("table", "undivided") == pytest.approx(weights[6])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (CALL.format(on="key", what="size"), "expected one of product, score"),
        (CALL.format(on="missing", what="product"), "that 'is' may look at, found 'missing'"),
        (f'inside "{TEXT}" is key product layer=1', "option head: expected a whole number"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(call: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        compute(call)
