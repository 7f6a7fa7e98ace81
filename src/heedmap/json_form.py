"""The form that a JSON value must have, and a line that says where a value has another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heedmap.cut_text import cut_text
from heedmap.errors import FileError

_WORDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}
_SHOWN = 60
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Maybe:
    """The form of an entry that may be missing, or null."""

    form: Any


@dataclass(frozen=True, slots=True)
class Every:
    """The form of all values of an object, whatever they are called."""

    form: Any


@dataclass(frozen=True, slots=True)
class Only:
    """An object that has no other entries than these."""

    entries: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Times:
    """A list of so many values, each of one form."""

    count: int
    form: Any


def check_form(found: Any, form: Any, where: str, error: type[Exception] = FileError) -> None:
    """Refuse a JSON value that is not of a form.

    Args:
        found: the value.
        form: a type or several, a dictionary of the entries that an object must have, a list of the one form that all
            items have, `Maybe`, `Every`, `Only` or `Times`. Whole numbers are numbers too; true, false and what is
            infinite or beyond 64 bits are not.
        where: what to call the value in the error.
        error: what is raised.

    Raises:
        FileError: (or `error`) naming the place, what was expected there, and what was found.

    Example:
        >>> check_form({"n": "x"}, {"n": (int, type(None))}, "report.json")
        Traceback (most recent call last):
        heedmap.errors.FileError: report.json: n: expected a whole number or null, found 'x'
    """
    problem = next(_problems(found, form, ""), None)
    if problem is not None:
        raise error(f"{where}: {problem}")


def shown(value: object) -> str:
    """A value as an error quotes it: a long one is cut.

    Example:
        >>> shown("it"), len(shown("x" * 1000))
        ("'it'", 61)
    """
    return cut_text(repr(value), _SHOWN)


def _problems(found: Any, form: Any, where: str) -> Iterator[str]:
    """What is wrong with a value and with what is inside it."""
    if isinstance(form, Maybe):
        if found is not None:
            yield from _problems(found, form.form, where)
    elif isinstance(form, Every):
        yield from _of_type(found, dict, where)
        for name, value in found.items():
            yield from _problems(value, form.form, _inner(where, name))
    elif isinstance(form, Only | dict):
        yield from _of_entries(found, form, where)
    elif isinstance(form, list | Times):
        yield from _of_list(found, form, where)
    else:
        yield from _of_type(found, form, where)


def _of_entries(found: Any, form: Only | dict[str, Any], where: str) -> Iterator[str]:
    """What is wrong with an object's entries."""
    yield from _of_type(found, dict, where)
    entries = form.entries if isinstance(form, Only) else form
    unknown = sorted(set(found) - set(entries)) if isinstance(form, Only) else []
    if unknown:
        yield f"{where}{shown(unknown[0])} is not known there: expected {', '.join(entries)}"
    for name, inner in entries.items():
        if name not in found and not isinstance(inner, Maybe):
            yield f"{where}{name!r} is missing"
        yield from _problems(found.get(name), inner, _inner(where, name))


def _of_list(found: Any, form: list[Any] | Times, where: str) -> Iterator[str]:
    """What is wrong with a list's items."""
    yield from _of_type(found, list, where)
    if isinstance(form, Times) and len(found) != form.count:
        yield f"{where}expected {form.count} values, found {len(found)}"
    inner = form.form if isinstance(form, Times) else form[0]
    for number, value in enumerate(found):
        yield from _problems(value, inner, _inner(where, number))


def _of_type(found: Any, form: Any, where: str) -> Iterator[str]:
    """What is wrong with a single value."""
    kinds = form if isinstance(form, tuple) else (form,)
    if isinstance(found, bool):
        right = bool in kinds
    elif isinstance(found, int):
        right = (int in kinds or float in kinds) and -_LARGEST <= found <= _LARGEST
    elif isinstance(found, float):
        right = float in kinds and math.isfinite(found)
    else:
        right = isinstance(found, kinds)
    if not right:
        words = " or ".join(_WORDS[kind] for kind in kinds)
        yield f"{where}expected {words}, found {shown(found)}"


def _inner(where: str, name: object) -> str:
    """The beginning of a line about a value inside another: `run.data: `."""
    inner = shown(name).strip("'")
    return f"{where.removesuffix(': ')}.{inner}: " if where else f"{inner}: "
