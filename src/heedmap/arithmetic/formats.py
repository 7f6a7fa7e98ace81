"""Numbers from a file: JSON for anything, CSV for one row a token."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from heedmap.arithmetic import checks
from heedmap.arithmetic.inputs import Inputs, LayerInputs
from heedmap.arithmetic.names import find_token, label, listed
from heedmap.errors import NumbersError
from heedmap.json_text import parse_json

VECTOR_ENTRIES = ("query", "key", "value")
TABLE_ENTRIES = ("query_table", "key_table", "value_table")
OPTIONAL_ENTRIES = (
    "output_table",
    "query_bias",
    "key_bias",
    "value_bias",
    "output_bias",
    "heads",
    "key_value_heads",
)

JSON_FORM = '{"tokens": [...], "query": [[...]], "key": [[...]], "value": [[...]]}'
CSV_FORM = "token,q1,q2,k1,k2,v1,v2"


def read_inputs(text: str, name: str = "the numbers") -> Inputs | LayerInputs:
    r"""Numbers from the text of a JSON or CSV file; JSON is known by its opening brace.

    Args:
        text: the file's content.
        name: where it came from, for the error.

    Raises:
        NumbersError: names the row, what was expected and what was found.

    Example:
        >>> read_inputs("token,x1,x2\nsun,1,0\nmoon,0,1").attend().weights.round(2)
        array([[0.67, 0.33],
               [0.33, 0.67]])
    """
    if not text.strip():
        raise NumbersError(f"{name} is empty: expected JSON like {JSON_FORM} or CSV with the header {CSV_FORM}")
    if text.lstrip()[0] in "{[":
        return inputs_from_json(text, name)
    return inputs_from_csv(text, name)


def inputs_from_json(text: str, name: str = "the numbers") -> Inputs | LayerInputs:
    """Numbers from JSON, in one of three forms.

    - `query`, `key`, `value`: a list of rows, one a token (or a list of heads, each such a list). `query` may
      have fewer rows than there are tokens: they belong to the tokens named in `query_tokens`, else to the last
      ones.
    - `x`: a vector a token, which is query, key and value at once.
    - `x` with `query_table`, `key_table`, `value_table` and, if wanted, `output_table`, `query_bias`,
      `key_bias`, `value_bias`, `output_bias`, `heads`, `key_value_heads`: a whole layer (see `attend_layer`).

    Each may have `tokens` (names; `t0`, `t1`, ... by default) and `mask` (rows of true and false, true = may look).

    Args:
        text: the JSON.
        name: where it came from, for the error.

    Raises:
        NumbersError: names the row, what was expected and what was found.

    Example:
        >>> start = inputs_from_json('{"query": [1], "key": [[1], [2]], "value": [[0], [1]]}')
        >>> start.attend().output.round(2)
        array([[0.73]])
    """
    data = _parse_json(text, name)
    if not isinstance(data, dict):
        raise NumbersError(f"{name}: expected an object like {JSON_FORM}, found {checks.found(data)}")
    if "x" not in data:
        _check_entries(name, data, VECTOR_ENTRIES, ("query_tokens",))
        return _vector_inputs(data)
    tables = {entry: data[entry] for entry in (*TABLE_ENTRIES, *OPTIONAL_ENTRIES) if entry in data}
    if tables:
        _check_entries(name, data, ("x", *TABLE_ENTRIES), OPTIONAL_ENTRIES)
    else:
        _check_entries(name, data, ("x",), ())
    x = checks.array("x", data["x"], least=2, most=2, labels=_labels(data))
    tokens, mask = _tokens(data, len(x)), data.get("mask")
    return LayerInputs(tokens, x, tables, mask) if tables else Inputs(tokens, x, x, x, tuple(range(len(x))), mask)


def inputs_from_csv(text: str, name: str = "the numbers") -> Inputs:
    r"""Numbers from CSV with a header: a row a token, with its query, key and value.

    The columns are `token`, then `q1,q2,...`, `k1,k2,...` and `v1,v2,...`; or `token` and `x1,x2,...` for
    vectors that are query, key and value at once. A token that does not ask has its q columns empty.

    Args:
        text: the CSV, separated by commas.
        name: where it came from, for the error.

    Raises:
        NumbersError: names the line, what was expected and what was found.

    Example:
        >>> inputs_from_csv("token,q1,k1,v1\nThe,,1,0\nit,1,2,1").attend().weights.round(2)
        array([[0.27, 0.73]])
    """
    header: list[str] = []
    columns: dict[str, list[int]] = {}
    tokens: list[str] = []
    asking: list[int] = []
    vectors: dict[str, list[list[float]]] = {}
    for line, row in _csv_lines(text, name):
        if not header:
            header, columns = row, _columns(name, row)
            vectors = {role: [] for role in columns}
            continue
        where = f'{name}, line {line} ("{label(row[0])}")'
        if len(row) != len(header):
            raise NumbersError(f"{where}: expected {len(header)} cells, as in the header, found {len(row)}")
        for role, places in columns.items():
            asks = role in "qx" and any(row[place] for place in places)
            if asks:
                asking.append(len(tokens))
            if asks or role != "q":
                vectors[role].append([checks.parse(f"{where}, column {header[place]}", row[place]) for place in places])
        tokens.append(row[0])
    if not tokens:
        raise NumbersError(f"{name}: expected a line for each token below the header, found none")
    if not asking:
        raise NumbersError(f"{name}: expected numbers in the q columns of at least one line, found none")
    arrays = {role: np.array(rows, dtype=np.float64) for role, rows in vectors.items()}
    query, key, value = (arrays[role] for role in ("qkv" if "q" in arrays else "xxx"))
    return Inputs(tuple(tokens), query, key, value, tuple(asking))


def _csv_lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV text that hold anything, each with its line number."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise NumbersError(f"{name}, line {reader.line_num}: not CSV: {error}") from None


def _parse_json(text: str, name: str) -> Any:
    """JSON, with the place named where it is none."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise NumbersError(f"{name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        raise NumbersError(f"{name} cannot be read as JSON: {error}") from None


def _check_entries(name: str, data: dict[str, Any], required: Sequence[str], optional: Sequence[str]) -> None:
    """Refuse missing and unknown entries."""
    for entry in required:
        if entry not in data:
            raise NumbersError(f'{name}: expected "{entry}", found only {_quoted(data) or "an empty object"}')
    known = (*required, *optional, "tokens", "mask")
    for entry in data:
        if entry not in known:
            raise NumbersError(f'{name}: "{label(entry)}" is not known; expected {_quoted(known)}')


def _quoted(entries: Iterable[str]) -> str:
    """Names in quotes, in a line."""
    return listed(f'"{entry}"' for entry in entries)


def _labels(data: dict[str, Any], key: str = "tokens") -> list[str] | None:
    """Names for the rows in errors, if they are there and are names."""
    tokens = data.get(key)
    known = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
    return tokens if known else None


def _tokens(data: dict[str, Any], count: int) -> tuple[str, ...]:
    """The tokens' names, made up when none are given."""
    if "tokens" not in data:
        return tuple(f"t{index}" for index in range(count))
    return checks.names("tokens", data["tokens"], count, "key row")


def _vector_inputs(data: dict[str, Any]) -> Inputs:
    """Query, key and value from JSON."""
    labels = _labels(data)
    key = checks.array("key", data["key"], least=2, labels=labels)
    value = checks.array("value", data["value"], least=2, labels=labels)
    tokens = _tokens(data, key.shape[-2])
    query = checks.array("query", data["query"], labels=_labels(data, "query_tokens"))
    query = query[None] if query.ndim == 1 else query
    count = query.shape[-2]
    if "query_tokens" in data:
        names = checks.names("query_tokens", data["query_tokens"], count, "query row")
        asking = tuple(find_token(tokens, name) for name in names)
    elif count <= len(tokens):
        asking = tuple(range(len(tokens) - count, len(tokens)))
    else:
        raise NumbersError(f"query: expected at most {len(tokens)} rows, one a token, found {count}")
    return Inputs(tokens, query, key, value, asking, data.get("mask"))


def _columns(name: str, header: list[str]) -> dict[str, list[int]]:
    """Where the numbers of each role stand in a line: {"q": [1, 2], "k": [3, 4], "v": [5, 6]}."""
    found: dict[str, dict[int, int]] = {}
    wrong = f"{name}: expected a header like {CSV_FORM} or token,x1,x2"
    if header[0].lower() != "token":
        raise NumbersError(f"{wrong}, found the first column {checks.found(header[0])}")
    for place, title in enumerate(header[1:], start=1):
        match = re.fullmatch(r"([qkvx])([0-9]{1,6})", title.lower())
        if match is None or int(match[2]) in found.get(match[1], {}):
            raise NumbersError(f"{wrong}, found the column {checks.found(title)}")
        found.setdefault(match[1], {})[int(match[2])] = place
    for role, numbers in found.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            raise NumbersError(f"{wrong}, found the {role} columns numbered {sorted(numbers)}")
    if set(found) not in ({"q", "k", "v"}, {"x"}):
        raise NumbersError(f"{wrong}, found columns for {', '.join(sorted(found)) or 'nothing'} only")
    return {role: [numbers[index] for index in sorted(numbers)] for role, numbers in found.items()}
