"""Numbers from people: turned into float64 arrays, or refused with the row named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedmap.arithmetic.names import label
from heedmap.cut_text import cut_text
from heedmap.errors import NumbersError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

AXES = {1: (), 2: ("row",), 3: ("head", "row")}
"""What the axes before the last are called, by the number of axes."""

LISTS = (list, tuple, np.ndarray)
LARGEST = float(np.finfo(np.float64).max)

SHAPES = {1: "a list of numbers", 2: "a list of rows of numbers", 3: "a list of heads, each a list of rows"}


def array(name: str, data: Any, *, least: int = 1, most: int = 3, labels: Sequence[str] | None = None) -> Array:
    """Numbers as a float64 array, with nothing missing, ragged, empty or not finite.

    Args:
        name: what the numbers are, for the error.
        data: nested lists, a NumPy array, or anything NumPy can read as one.
        least: the fewest axes allowed.
        most: the most axes allowed.
        labels: names of the rows, for the error.

    Raises:
        NumbersError: names the row, what was expected and what was found.

    Example:
        >>> array("key", [[1, 0], [0, 1]]).shape
        (2, 2)
        >>> array("key", [[1, 0], [0]], labels=["river", "the"])
        Traceback (most recent call last):
        heedmap.errors.NumbersError: key row 1 ("the"): expected 2 numbers as in row 0, found 1
    """
    if isinstance(data, (str, bytes, dict)) or data is None:
        raise NumbersError(f"{name}: expected {SHAPES[least]}, found {found(data)}")
    result: NDArray[Any]
    if isinstance(data, (list, tuple)):
        if len(data) == 0:
            raise NumbersError(f"{name}: expected at least one {'row' if least > 1 else 'number'}, found an empty list")
        _check_nested(name, data, labels, float)
        result = np.asarray(data, dtype=np.float64)
    else:
        result = np.asarray(data)
    if result.dtype.kind not in "iuf":
        raise NumbersError(f"{name}: expected real numbers, found {result.dtype} values")
    result = result.astype(np.float64)
    if not least <= result.ndim <= most:
        raise NumbersError(f"{name}: expected {_allowed_shapes(least, most)}, found {_axes_found(result)}")
    if result.size == 0:
        raise NumbersError(f"{name}: expected at least one number in every row, found the shape {result.shape}")
    bad = np.argwhere(~np.isfinite(result))
    if len(bad):
        where = _place(name, tuple(bad[0]), labels, (*AXES[result.ndim], "number"))
        raise NumbersError(f"{where}: expected a finite number, found {result[tuple(bad[0])]}")
    return result


def mask(data: Any, shape: tuple[int, int, int]) -> Mask:
    """A boolean mask (`True` = may look), stretched to (head, query, key).

    Args:
        data: booleans of shape (key), (query, key) or (head, query, key).
        shape: the numbers of heads, queries and keys.

    Raises:
        NumbersError: not booleans, ragged, or of a shape that does not fit.

    Example:
        >>> mask([True, False], (1, 1, 2))
        array([[[ True, False]]])
    """
    if isinstance(data, (list, tuple)):
        _check_nested("mask", data, None, bool)
    result = np.asarray(data)
    if result.dtype != np.bool_:
        raise NumbersError(
            f"mask: expected booleans (True = may look), found {result.dtype}; write `mask != 0` for zeros and ones"
        )
    heads, queries, keys = shape
    fitting = {(keys,), (queries, keys), (1, queries, keys), (heads, queries, keys)}
    if result.shape not in fitting:
        raise NumbersError(
            f"mask: expected {queries} rows (queries) of {keys} (keys), or such rows for each of "
            f"{heads} heads, found the shape {result.shape}"
        )
    return np.broadcast_to(result, shape)


def single(name: str, value: Any) -> float:
    """One finite number.

    Raises:
        NumbersError: it is not a number, or not finite.

    Example:
        >>> single("scale", 1)
        1.0
    """
    problem = _leaf_problem(value, float)
    if problem is None and not math.isfinite(value):
        problem = f"expected a finite number, found {value}"
    if problem:
        raise NumbersError(f"{name}: {problem}")
    return float(value)


def whole(name: str, value: Any) -> int:
    """One whole number of at least 1.

    Raises:
        NumbersError: it is not, or is less than 1.

    Example:
        >>> whole("heads", 2)
        2
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        shown = value if isinstance(value, (int, float, np.number)) else found(value)
        raise NumbersError(f"{name}: expected a whole number of at least 1, found {shown}")
    return int(value)


def parse(place: str, text: str) -> float:
    """One finite number from text.

    Args:
        place: where it stands, for the error.
        text: what was written.

    Raises:
        NumbersError: it is not a number, or not finite.

    Example:
        >>> parse("line 2, column k1", " 0.5")
        0.5
    """
    shown = found(text.strip()) if text.strip() else "nothing"
    try:
        value = float(text)
    except ValueError:
        raise NumbersError(f"{place}: expected a number, found {shown}") from None
    if not math.isfinite(value) or "_" in text:
        raise NumbersError(f"{place}: expected a finite number such as 0.5, found {shown}")
    return value


def names(name: str, given: Any, count: int, of: str) -> tuple[str, ...]:
    """Names, one for each of `count` rows.

    Raises:
        NumbersError: they are not texts, or there are too few or too many.

    Example:
        >>> names("key_tokens", ["The", "cat"], 2, "key")
        ('The', 'cat')
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise NumbersError(f"{name}: expected a list of texts, one for each {of}, found {found(given)}")
    for index, item in enumerate(given):
        if not isinstance(item, str):
            raise NumbersError(f"{name} row {index}: expected a text, found {found(item)}")
    if len(given) != count:
        raise NumbersError(f"{name}: expected {count}, one for each {of}, found {len(given)}")
    return tuple(given)


def finite_result(name: str, values: Array) -> None:
    """Refuse a result that has grown beyond what float64 can hold.

    Raises:
        NumbersError: some value is infinite.
    """
    if not np.isfinite(values).all():
        raise NumbersError(f"{name}: too large for the machine's numbers (beyond 1e308); expected smaller inputs")


def found(item: Any) -> str:
    """A few words that say what something is, for an error.

    Example:
        >>> found("abc"), found([])
        ('the text "abc"', 'an empty list')
    """
    if isinstance(item, str):
        text = label(item)
        return f'the text "{cut_text(text, 40)}"'
    if item is None:
        return "nothing (null)"
    if isinstance(item, (bool, np.bool_)):
        return f"the truth value {str(item).lower()}"
    if isinstance(item, (list, tuple)):
        return "an empty list" if len(item) == 0 else f"a list of {len(item)}"
    if isinstance(item, (int, float, np.number)):
        return f"the number {item}"
    return f"a {type(item).__name__}"


def _check_nested(name: str, data: Any, labels: Sequence[str] | None, leaf: type) -> None:
    """Check nested lists as deep as their first items go: rows of one length, leaves of the kind wanted."""
    depth, first = 1, data
    while len(first) and isinstance(first[0], LISTS):
        depth, first = depth + 1, first[0]
    kinds = (*AXES.get(depth, ("list",) * (depth - 1)), "number")
    _check_level(name, data, labels, kinds, (), leaf)


def _check_level(
    name: str,
    data: Any,
    labels: Sequence[str] | None,
    kinds: tuple[str, ...],
    place: tuple[int, ...],
    leaf: type,
) -> None:
    """Check one list: not empty, and each item as the first one."""
    kind = kinds[len(place)]
    if len(data) == 0:
        where = _place(name, place, labels, kinds)
        raise NumbersError(f"{where}: expected at least one {kind}, found an empty list")
    for index, item in enumerate(data):
        here = (*place, index)
        problem = (
            _leaf_problem(item, leaf) if kind == "number" else _list_problem(item, data[0], kind, kinds[len(here)])
        )
        if problem:
            raise NumbersError(f"{_place(name, here, labels, kinds)}: {problem}")
        if kind != "number":
            _check_level(name, item, labels, kinds, here, leaf)


def _list_problem(item: Any, first: Any, kind: str, inner: str) -> str | None:
    """What is wrong with a list that should be like the first one beside it, if anything."""
    if not isinstance(item, LISTS):
        count = f"{len(first)} " if isinstance(first, LISTS) else ""  # the first one may be wrong itself
        return f"expected a list of {count}{inner}s, found {found(item)}"
    if len(item) != len(first):
        return f"expected {len(first)} {inner}s as in {kind} 0, found {len(item) or 'an empty list'}"
    return None


def _leaf_problem(item: Any, leaf: type) -> str | None:
    """What is wrong with a leaf that should be a number (or, for `bool`, a truth value), if anything."""
    boolean = isinstance(item, (bool, np.bool_))
    if leaf is bool:
        return None if boolean else f"expected true or false (true = may look), found {found(item)}"
    if boolean or not isinstance(item, (int, float, np.integer, np.floating)):
        return f"expected a number, found {found(item)}"
    if isinstance(item, int) and abs(item) > LARGEST:
        return "expected a number below 1e308, found a larger one"
    return None


def _place(name: str, place: tuple[int, ...], labels: Sequence[str] | None, kinds: tuple[str, ...]) -> str:
    """'key row 1 ("the"), number 0' for ("key", (1, 0))."""
    words = []
    for index, kind in zip(place, kinds, strict=False):
        named = kind == "row" and labels is not None and index < len(labels)
        words.append(f'{kind} {index} ("{label(str(labels[index]))}")' if named and labels else f"{kind} {index}")
    return f"{name} {', '.join(words)}" if words else name


def _allowed_shapes(least: int, most: int) -> str:
    """The shapes that would do, in words."""
    return " or ".join(SHAPES[count] for count in range(least, most + 1))


def _axes_found(values: NDArray[Any]) -> str:
    """The shape that was found, in words."""
    return "a single number" if values.ndim == 0 else f"{values.ndim} axes, of the shape {values.shape}"
