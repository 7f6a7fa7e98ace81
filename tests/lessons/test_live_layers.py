"""Live numbers of whole sentences, random products, one small layer and places, against arithmetic written out here."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

import heedmap.lessons.computations  # noqa: F401 - brings every computation into the registry
from heedmap.arithmetic import attend, example
from heedmap.errors import LessonError
from heedmap.lessons.course import load_course
from heedmap.lessons.live import compute
from heedmap.lessons.live_layer import LAYER
from heedmap.lessons.live_spread import random_products

PARIS = example("paris-all")
VECTORS = PARIS.inputs.query
SCORES = VECTORS @ VECTORS.T / math.sqrt(3)
WORDS = PARIS.inputs.tokens


def shares(mask: np.ndarray) -> np.ndarray:
    return np.asarray(softmax(np.where(mask, SCORES, -np.inf), axis=-1))


@pytest.mark.parametrize(
    ("mask", "weights"),
    [
        ("none", shares(np.ones((4, 4), bool))),
        ("causal", shares(np.tri(4, dtype=bool))),
        ("upside-down", shares(np.tri(4, dtype=bool).T)),
        ("late", shares(np.ones((4, 4), bool)) * np.tri(4)),
    ],
)
def test_a_grid_is_softmax_along_each_row_under_its_mask(mask: str, weights: np.ndarray) -> None:
    for row, asks in enumerate(WORDS):
        for column, token in enumerate(WORDS):
            call = f"grid-weight paris-all {token} asks={asks} mask={mask}"
            assert compute(call).value == pytest.approx(weights[row, column], abs=1e-12)
        assert compute(f"grid-sum paris-all asks={asks} mask={mask}").value == pytest.approx(weights[row].sum())
    lines = compute(f"grid paris-all mask={mask}").text.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(WORDS)
    assert lines[4].split()[1:5] == [f"{one:.3f}" if one > 0 else "—" for one in weights[3]]


def test_a_word_that_may_not_even_see_itself_has_no_weights() -> None:
    assert compute("grid paris-all mask=strict").text.splitlines()[1].split() == ["capital", *"————", "0.000"]
    assert compute("grid-sum paris-all asks=capital mask=strict").value == 0
    assert compute("grid-sum paris-all asks=France mask=strict").value == 1


def test_shifted_labels_move_the_names_and_not_the_numbers() -> None:
    right, shifted = (
        compute(f"grid paris-all mask=causal{more}").text.splitlines() for more in ("", " labels=shifted")
    )
    assert [line.split() for line in right[1:]] == [line.split() for line in shifted[1:]]
    assert right[0].split()[-5:] == [*WORDS, "sum"]
    assert shifted[0].split()[-5:] == [*WORDS[1:], WORDS[0], "sum"]


@pytest.mark.parametrize(("mask", "count"), [("none", 36), ("causal", 21), ("strict", 15), ("upside-down", 21)])
def test_cells_are_counted(mask: str, count: int) -> None:
    mark = {"none": np.ones((6, 6)), "causal": np.tri(6), "strict": np.tri(6, k=-1), "upside-down": np.tri(6).T}[mask]
    assert compute(f"cells 6 mask={mask}").value == count == mark.sum()


def test_random_products_spread_with_the_root_of_the_width_also_within_one_query() -> None:
    # 8,000 products a width: their spread is known to about a percent.
    for dim in (8, 64):
        assert random_products(dim, 8).std() == pytest.approx(math.sqrt(dim), rel=0.05)


def test_the_best_of_random_keys_and_its_slope() -> None:
    for scaled, root in (("no", 1.0), ("yes", 8.0)):
        weights = softmax(random_products(64, 8) / root, axis=1).max(axis=1)
        assert compute(f"peak 64 scaled={scaled}").value == pytest.approx(weights.mean())
        slope = (weights - weights**2).mean()
        assert compute(f"peak-slope 64 scaled={scaled}").value == pytest.approx(slope)
        assert f"{weights.mean():.2f}" in compute("peak-table 64").text
    # Divided, the width does not matter any more; not divided, one key takes nearly all.
    assert compute("peak 16 scaled=yes").value == pytest.approx(compute("peak 256 scaled=yes").value or 0, abs=0.03)
    assert (compute("peak 256").value or 0) > 0.9


def test_the_layer_is_that_of_its_tables() -> None:
    x, tables = LAYER.x, {name: np.array(table) for name, table in LAYER.tables.items()}
    query, key, value = (x @ tables[f"{name}_table"] for name in ("query", "key", "value"))
    blends = []
    for head in (0, 1):
        scores = query[:, 2 * head : 2 * head + 2] @ key.T / math.sqrt(2)
        weights = softmax(np.where(np.tri(4, dtype=bool), scores, -np.inf), axis=-1)
        blends.append(weights @ value)
        assert compute(f"layer-weight {head} cat asks=sat").value == pytest.approx(weights[2, 1])
        assert compute(f"layer-blend {head} 0").value == pytest.approx(blends[-1][3, 0])
    joined = np.concatenate(blends, axis=1)
    out = joined @ tables["output_table"]
    wrong_way = np.concatenate(blends[::-1], axis=1) @ tables["output_table"]
    for index in range(3):
        assert compute(f"layer-vector output it {index}").value == pytest.approx(out[3, index])
        assert compute(f"layer-vector output it {index} join=swapped").value == pytest.approx(wrong_way[3, index])
    assert [compute(f"layer-largest {head} asks=it").text for head in (0, 1)] == ["cat", "sat"]
    assert compute("layer-largest 0 asks=sat").text == "cat"
    assert compute("layer-head 0 asks=cat").text.count("—") == 2 * 4 + 1  # two hidden words, and the note
    assert compute("layer-joined 3").value == pytest.approx(joined[3, 3])
    assert compute("layer-vector query it 3").value == query[3, 3]
    assert compute("layer-work query it 3").text == "1.0·1.0 + 0.0·0.0 + 1.0·1.0 = 2.0"
    one = softmax((query[3, :2] + query[3, 2:]) @ key.T / math.sqrt(2))
    assert compute("layer-weight 0 sat heads=one").value == pytest.approx(one[2])
    same = softmax(key[1] @ key[:2].T / math.sqrt(2))
    assert compute("layer-weight 1 cat asks=cat queries=keys").value == pytest.approx(same[1])


def test_turning_is_multiplying_complex_numbers() -> None:
    query, key = complex(1.5, -0.5), complex(0.3, 2.0)
    for asks, asked in ((0, 0), (5, 3), (9, 7), (12, 1)):
        turned = [one * cmath.exp(1j * math.radians(20) * place) for one, place in ((query, asks), (key, asked))]
        product = (turned[0] * turned[1].conjugate()).real
        call = f"turned-dot 1.5,-0.5 0.3,2 {asks} {asked} degrees=20"
        assert compute(call).value == pytest.approx(product)
    near, far = compute("turned-dot 1,2 2,1 5 3"), compute("turned-dot 1,2 2,1 105 103")
    assert near.value == pytest.approx(far.value)
    assert compute("turn 1,0 3").text == "[0.00, 1.00]"
    table = compute("turned-table 1.5,-0.5 0.3,2 5,3;9,7;2,2 degrees=20").text.splitlines()
    assert (
        table[1].split()[-2:]
        == table[2].split()[-2:]
        == ["2", compute("turned-dot 1.5,-0.5 0.3,2 2 0 degrees=20").text]
    )
    assert table[3].split() == ["2", "2", "0", "-0.55"]  # 1.5 * 0.3 - 0.5 * 2: the same place, as if not turned


def test_which_keys_a_head_shares_is_that_of_the_arithmetic() -> None:
    trace = attend([[[1]]] * 9, [[[1]]] * 3, [[[1]]] * 3)
    for head in range(9):
        assert compute(f"key-head {head} 9 3").value == trace.key_head(head)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("grid paris-all mask=upsidedown", "option mask: expected one of none, causal"),
        ("grid paris", "expected an example in which every word asks, found 1 of 3"),
        ("grid paris-all show=totals", "expected show=weights or show=scores"),
        ("cells 4 mask=any", "option mask"),
        ("peak 0", "width from 1 to 1024, found 0"),
        ("peak 4 words=1", "option words: expected a whole number from 2 to 64"),
        ("layer-vector output it heads=one", "expected one of query, key, value, found 'output'"),
        ("layer-vector query it 9", "index from 0 to 3, found 9"),
        ("layer-vector question it", "expected one of query, key, value, output"),
        ("layer-joined join=swapped heads=one", "one head cannot be joined the wrong way"),
        ("layer-joined join=twice", "option join: expected one of"),
        ("key-head 9 9 3", "expected a head from 0 to 8, found 9"),
        ("key-head 1 9 2", "expected a multiple of 2 heads, found 9"),
        ("turned-table 1,0 1,0 3", "expected two places"),
        ("turn 1,2,3 1", "expected 2 numbers to turn, found 3"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(call: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        compute(call)


def test_the_numpy_lines_of_the_lesson_give_the_layer() -> None:
    lesson = load_course().find("6").path.read_text(encoding="utf-8")
    code = lesson.split("```python\n")[1].split("```")[0]
    tables = {f"W_{name[0]}": np.array(LAYER.tables[f"{name}_table"]) for name in ("query", "key", "value", "output")}
    sizes = {"words": 4, "heads": 2, "key_heads": 1, "d": 2, "causal": np.tri(4, dtype=bool)}
    names: dict[str, Any] = {
        "np": np,
        "softmax": lambda scores: softmax(scores, axis=-1),
        "x": LAYER.x,
        **sizes,
        **tables,
    }
    exec(code, names)
    for index in range(3):
        assert compute(f"layer-vector output it {index}").value == pytest.approx(names["out"][3, index])
