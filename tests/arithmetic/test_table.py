"""The worked table as text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.arithmetic import attend, attend_layer, example

CAT = """\
"it" asks with the query [1.0, 0.6]; √2 = 1.41

       compare                   scale  exponentiate   weigh
       query · key                ÷ √2       e^score  ÷ 7.50
The    1.0·0.1 + 0.6·0.0 = 0.10   0.07          1.07    0.14
cat    1.0·1.0 + 0.6·0.8 = 1.48   1.05          2.85    0.38
sat    1.0·0.2 + 0.6·0.9 = 0.74   0.52          1.69    0.23
it     1.0·0.6 + 0.6·0.5 = 0.90   0.64          1.89    0.25
total                                           7.50    1.00

blend: the sum of weight · value
0.14·0.1 + 0.38·1.0 + 0.23·0.3 + 0.25·0.2 = 0.51
0.14·0.1 + 0.38·0.2 + 0.23·0.9 + 0.25·0.3 = 0.37
output [0.51, 0.37]"""


def test_the_whole_table() -> None:
    assert str(example("cat").attend()) == CAT


@pytest.mark.parametrize("name", ["cat", "bank-river", "bank-money", "paris", "paris-all"])
def test_every_example_fits_eighty_columns(name: str) -> None:
    chosen = example(name)
    for settings in ({}, {"multiply": 8.0}, {"scale": 1.0}, {"softmax": False}, {"causal": True}):
        text = chosen.attend(**settings).table(chosen.digits)
        assert max(map(len, text.splitlines())) <= 80


def test_the_published_digits_stand_in_it() -> None:
    chosen = example("bank-river")
    text = chosen.attend().table(chosen.digits)
    for figure in ("1.4142", "0.2828", "0.4306", "0.1389", "output [0.7153, 0.2847]"):
        assert figure in text


@given(
    st.lists(st.floats(-9, 9), min_size=2, max_size=2),
    st.lists(st.lists(st.floats(-9, 9), min_size=2, max_size=2), min_size=1, max_size=6),
)
def test_the_arithmetic_shown_is_true(query: list[float], key: list[list[float]]) -> None:
    """Every line 'a·b + c·d = e' is right as far as its rounded figures can be."""
    text = attend(query, key, key).table(6)
    lines = re.findall(r"^(?:\S+ +)?((?:\S+·\S+)(?: \+ \S+·\S+)*) = (-?[0-9.]+)", text, flags=re.MULTILINE)
    assert len(lines) == len(key) + 2
    for terms, result in lines:
        factors = [[float(part.strip("()")) for part in term.split("·")] for term in terms.split(" + ")]
        # 6 digits shown, each factor below 10: an error of 1e-5 a term at most.
        assert sum(one * other for one, other in factors) == pytest.approx(float(result), abs=1e-5 * len(factors))


def test_how_the_score_came_about_is_in_the_header() -> None:
    cat = example("cat")
    assert "÷ √2 × 8" in str(cat.attend(multiply=8))
    assert "not scaled" in str(cat.attend(scale=1.0))
    assert "√2" not in str(cat.attend(scale=1.0))
    assert "× 0.3 " in str(cat.attend(scale=0.3))
    raw = str(cat.attend(softmax=False))
    assert "Without softmax the weights sum to 2.28; nothing makes that 1." in raw
    assert "e^score" not in raw


def test_forbidden_cells_are_dashes() -> None:
    lines = str(attend([1.0], [[1.0], [2.0]], [[1.0], [2.0]], mask=[True, False], key_tokens=["a", "b"])).splitlines()
    assert next(line for line in lines if line.startswith("b ")).split() == ["b", "—", "—", "—", "—"]
    assert "1.00·1.0 = 1.00" in lines


def test_a_row_that_may_look_at_nothing_says_so() -> None:
    text = str(attend([1.0], [[1.0]], [[1.0]], mask=[False], query_tokens=["a"]))
    assert '"a" may look at nothing: it has no weights and no output.' in text
    assert "nan" not in text


@pytest.mark.parametrize(
    ("score", "word", "formula"), [(900.0, "large", "score − 900.00"), (-900.0, "small", "score + 900.00")]
)
def test_a_shift_is_explained(score: float, word: str, formula: str) -> None:
    text = str(attend([1.0], [[score]], [[1.0]], scale=1.0))
    assert f"e^({formula})" in text
    assert f"is too {word} to be safe on a machine: the largest score, {score:.2f}," in text


def test_several_queries_have_a_table_each_and_the_matrix() -> None:
    text = str(example("paris-all").attend(causal=True).table(3))
    assert text.count("asks with the query") == 4
    # Each table divides by its own total: e^0.6, e^0.53 + e^0.48, ...
    assert re.findall(r"÷ ([0-9.]+)$", text, flags=re.MULTILINE) == ["1.823", "3.316", "3.765", "5.173"]
    assert re.findall(r"^total +([0-9.]+)", text, flags=re.MULTILINE) == ["1.823", "3.316", "3.765", "5.173"]
    assert "output [0.951, 0.049, 0.151]" in text
    assert text.endswith(
        "weights (the rows ask, the columns are looked at)\n"
        "         capital  France     is  Paris\n"
        "capital    1.000       —      —      —\n"
        "France     0.513   0.487      —      —\n"
        "is         0.298   0.309  0.393      —\n"
        "Paris      0.230   0.217  0.205  0.348"
    )


def test_many_queries_are_matrices_only() -> None:
    vectors = np.random.default_rng(0).normal(size=(200, 64))
    text = str(attend(vectors, vectors, vectors, causal=True))
    assert "asks with" not in text
    assert "scores (query · key ÷ √64;" in text
    assert "200 queries on 200 keys with values of 64 numbers, shown by the edges." in text
    assert len(text) < 20_000


def test_long_vectors_and_many_keys_are_shortened() -> None:
    vectors = np.random.default_rng(0).normal(size=(30, 64))
    text = str(attend(vectors[0], vectors, vectors))
    assert "… 62 more = " in text
    assert "… and so on for 60 more" in text
    assert max(map(len, text.splitlines())) <= 90


def test_heads_say_whom_they_share_with() -> None:
    ones = np.ones((4, 1, 2))
    text = str(attend(ones, ones[:2], ones[:2]))
    assert "== head 3, on key-value head 1 (2 query heads share it) ==" in text
    assert "== head 1 ==" in str(attend(ones, ones, ones))


def test_a_layer_shows_what_comes_before_and_after() -> None:
    x = [[1.0, 0.5], [0.0, 2.0]]
    table = [[0.5, -1.0], [1.0, 0.0]]
    text = str(attend_layer(x, table, table, table, table, heads=2, query_bias=[0.1, 0.2], tokens=["sun", "moon"]))
    assert "query: x · W_q + b_q [0.1, 0.2]\nsun   1.0·0.5 + 0.5·1.0 + 0.1 = 1.10\n" in text
    assert "      1.0·(-1.0) + 0.5·0.0 + 0.2 = -0.80\n" in text
    assert "key: x · W_k\nsun   1.0·0.5 + 0.5·1.0 = 1.00\n" in text
    assert "joined: the 2 heads' outputs side by side\n" in text
    assert "final: joined · W_o\nsun " in text
    assert text.index("value: x · W_v") < text.index("== head 0 ==") < text.index("joined:") < text.index("final:")


def test_a_large_layer_shows_results_only() -> None:
    table = np.ones((8, 8))
    text = str(attend_layer(np.ones((6, 8)), table, table, table, table))
    assert "·1.0 + " not in text.split("scores")[0]
    assert "final: joined · W_o\nt0  64.00" in text


def test_tokens_are_safe_to_print_and_wide_letters_line_up() -> None:
    text = str(attend([1.0], [[1.0], [2.0]], [[1.0], [2.0]], key_tokens=["中文", "\x1b[31m\n"]))
    assert "\x1b" not in text
    assert r"\x1b[31m\n" in text
    first, second = (line for line in text.splitlines() if "·" in line and "e^" not in line and "1.0·" in line)
    # The first token fills four columns with two letters.
    assert first.index("1.0·") + 2 == second.index("1.0·")
