"""Numbers from JSON and CSV: what is taken, and how what is wrong is named."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.arithmetic import (
    Inputs,
    LayerInputs,
    attend_layer,
    example,
    inputs_from_csv,
    inputs_from_json,
    read_inputs,
)
from heedmap.errors import NumbersError

CAT = """token,q1,q2,k1,k2,v1,v2
The,,,0.1,0.0,0.1,0.1
cat,,,1.0,0.8,1.0,0.2
sat,,,0.2,0.9,0.3,0.9
it,1.0,0.6,0.6,0.5,0.2,0.3
"""


def same(one: Inputs | LayerInputs, other: Inputs) -> None:
    """Both hold the same numbers under the same names."""
    assert isinstance(one, Inputs)
    assert (one.tokens, one.asking) == (other.tokens, other.asking)
    for numbers, others in ((one.query, other.query), (one.key, other.key), (one.value, other.value)):
        np.testing.assert_array_equal(numbers, others)


@pytest.mark.parametrize(
    "text",
    [
        CAT,
        CAT.replace("\n", "\r\n"),
        "\n\n" + CAT + "\n  \n,,,,,,\n",
        CAT.replace(",", " , "),
        CAT.replace("The", '"The"').replace("token", "Token").replace("q1", "Q1"),
        "token,v2,v1,k2,k1,q2,q1\nThe,0.1,0.1,0,.1,,\ncat,.2,1,.8,1,,\nsat,.9,.3,.9,.2,,\nit,.3,.2,.5,.6,.6,1\n",
    ],
)
def test_csv(text: str) -> None:
    same(inputs_from_csv(text), example("cat").inputs)


def test_csv_with_one_vector_for_all_roles() -> None:
    text = "token,x1,x2,x3\ncapital,1,0,.2\nFrance,.9,.1,.1\nis,.2,.8,0\nParis,.1,.1,1"
    same(inputs_from_csv(text), example("paris-all").inputs)


def test_csv_where_a_word_in_the_middle_asks() -> None:
    start = inputs_from_csv("token,q1,k1,v1\na,,1,1\nb,2,1,1\nc,,1,1")
    assert start.asking == (1,)
    assert start.attend(causal=True).allowed.tolist() == [[True, True, False]]


def test_json() -> None:
    inputs = example("cat").inputs
    data = {
        "tokens": list(inputs.tokens),
        "query": inputs.query.tolist(),
        "key": inputs.key.tolist(),
        "value": inputs.value.tolist(),
    }
    same(inputs_from_json(json.dumps(data)), inputs)
    same(inputs_from_json(json.dumps(data | {"query": [1.0, 0.6]})), inputs)
    named = inputs_from_json(json.dumps(data | {"query_tokens": ["CAT"]}))
    assert isinstance(named, Inputs)
    assert named.asking == (1,)


def test_json_with_one_vector_for_all_roles_and_a_mask() -> None:
    start = inputs_from_json('{"x": [[1, 0], [0, 1]], "mask": [[true, false], [true, true]]}')
    assert start.tokens == ("t0", "t1")
    assert start.attend().weights[0].tolist() == [1, 0]


def test_json_with_heads() -> None:
    start = inputs_from_json('{"query": [[[1]], [[2]]], "key": [[[1], [2]]], "value": [[[1], [2]]]}')
    assert start.attend().weights.shape == (2, 1, 2)


def test_json_with_tables_is_a_layer() -> None:
    random = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "x": (3, 4),
        "query_table": (4, 4),
        "key_table": (4, 2),
        "value_table": (4, 2),
        "output_table": (4, 4),
        "query_bias": (4,),
        "key_bias": (2,),
        "value_bias": (2,),
        "output_bias": (4,),
    }
    data: dict[str, Any] = {name: random.normal(size=shape).tolist() for name, shape in shapes.items()}
    data |= {"heads": 2, "key_value_heads": 1, "tokens": ["a", "b", "c"]}
    start = inputs_from_json(json.dumps(data))
    assert isinstance(start, LayerInputs)
    assert start.attend(causal=True).to_json() == attend_layer(**data, causal=True).to_json()


def test_the_kind_is_known_by_the_content() -> None:
    assert isinstance(read_inputs('\n {"x": [[1]]}'), Inputs)
    assert isinstance(read_inputs(CAT), Inputs)


WRONG = [
    ("", "f is empty: expected JSON like"),
    (" \n", "f is empty: expected JSON like"),
    ("[1, 2]", 'f: expected an object like {"tokens": [...], "query"'),
    ('{"key": }', "f is not JSON: Expecting value in line 1, column 9"),
    ("{}", 'f: expected "query", found only an empty object'),
    ('{"key": [[1]], "value": [[1]]}', 'f: expected "query", found only "key", "value"'),
    (
        '{"query": [[1]], "key": [[1]], "value": [[1]], "sclae": 1}',
        'f: "sclae" is not known; expected "query", "key"',
    ),
    ('{"x": [[1]], "query": [[1]]}', 'f: "query" is not known; expected "x", "tokens", "mask"'),
    ('{"x": [[1]], "heads": 2}', 'f: expected "query_table", found only "x", "heads"'),
    ('{"query": [1], "key": [], "value": [[1]]}', "key: expected at least one row, found an empty list"),
    (
        '{"tokens": ["a"], "query": [1], "key": [[NaN]], "value": [[1]]}',
        'key row 0 ("a"), number 0: expected a fin',
    ),
    (
        '{"tokens": ["a"], "query": [1], "key": [["x"]], "value": [[1]]}',
        'key row 0 ("a"), number 0: expected a num',
    ),
    (
        '{"query": [1], "key": [[1], [1]], "value": [[1], [null]]}',
        "value row 1, number 0: expected a number, found",
    ),
    (
        '{"query": [1], "key": [[1e999]], "value": [[1]]}',
        "key row 0, number 0: expected a finite number, found inf",
    ),
    (
        '{"tokens": ["a", "b"], "query": [1], "key": [[1]], "value": [[1]]}',
        "tokens: expected 1, one for each key row",
    ),
    (
        '{"tokens": "a", "query": [1], "key": [[1]], "value": [[1]]}',
        "tokens: expected a list of texts, one for each",
    ),
    (
        '{"tokens": [1], "query": [1], "key": [[1]], "value": [[1]]}',
        "tokens row 0: expected a text, found the number",
    ),
    ('{"query": [[1], [2]], "key": [[1]], "value": [[1]]}', "query: expected at most 1 rows, one a token, found 2"),
    (
        '{"tokens": ["a"], "query_tokens": ["b"], "query": [1], "key": [[1]], "value": [[1]]}',
        'no token "b": expected one of a',
    ),
    ("[" * 100_000, "f cannot be read as JSON: it is nested too deep"),
    ('{"x": [[' + "1" * 5000 + "]]}", "f cannot be read as JSON: a number in it has more than 4,300 digits"),
    ("cat", "f: expected a header like token,q1,q2,k1,k2,v1,v2 or token,x1,x2, found the first column"),
    (
        "token;q1;k1\na;1;1",
        "f: expected a header like token,q1,q2,k1,k2,v1,v2 or token,x1,x2, found the first column",
    ),
    (
        "token,q1,k1,w1",
        'f: expected a header like token,q1,q2,k1,k2,v1,v2 or token,x1,x2, found the column the text "w1"',
    ),
    ("token,q1,q1,k1,v1", "f: expected a header like token,q1,q2,k1,k2,v1,v2 or token,x1,x2, found the column"),
    (
        "token,q1,k1",
        "f: expected a header like token,q1,q2,k1,k2,v1,v2 or token,x1,x2, found columns for k, q only",
    ),
    (
        "token,x1,x3",
        "f: expected a header like token,q1,q2,k1,k2,v1,v2 or token,x1,x2, found the x columns numbered",
    ),
    ("token,x1", "f: expected a line for each token below the header, found none"),
    ("token,q1,k1,v1\na,,1,1", "f: expected numbers in the q columns of at least one line, found none"),
    ("token,x1\na,1\n\nb", 'f, line 4 ("b"): expected 2 cells, as in the header, found 1'),
    ("token,x1\na,1\nb,c", 'f, line 3 ("b"), column x1: expected a number, found the text "c"'),
    ("token,x1\na,nan", 'f, line 2 ("a"), column x1: expected a finite number such as 0.5, found the text "nan"'),
    ("token,x1\na,", 'f, line 2 ("a"), column x1: expected a number, found nothing'),
    ("token,q1,q2,k1,k2,v1\na,1,,1,1,1", 'f, line 2 ("a"), column q2: expected a number, found nothing'),
    ('token,x1\n"a,1', "f, line 2: not CSV: unexpected end of data"),
]
"""What somebody may give, and how the message begins."""


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(NumbersError) as error:
        read_inputs(text, "f").attend()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_queries_and_keys_of_different_length_are_found_when_it_is_worked() -> None:
    with pytest.raises(NumbersError, match="key: expected 2 numbers in each row, as many as a query has, found 1"):
        read_inputs("token,q1,q2,k1,v1\na,1,1,1,1").attend()


@given(st.text(max_size=200) | st.text(alphabet='{}[]",:.01tokenqkvx\n', max_size=80))
def test_no_text_makes_anything_but_numbers_or_one_line(text: str) -> None:
    message = ""
    try:
        read_inputs(text, "f")
    except NumbersError as error:
        message = str(error)
    assert "\n" not in message
