"""The form that a JSON value must have, and a line that says where a value has another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heedmap.errors import FileError
from heedmap.lab.data.reader import shown

_WORDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


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


def check_form(found: Any, form: Any, where: str) -> None:
    """Refuse a JSON value that is not of a form.

    Args:
        found: the value.
        form: a type or several, a dictionary of the entries that an object must have, a list of the one form that all
            items have, `Maybe`, `Every`, `Only` or `Times`. Whole numbers are numbers; true and false are not.
        where: what to call the value in the error.

    Raises:
        FileError: naming the place, what was expected there, and what was found.

    Example:
        >>> check_form({"n": "x"}, {"n": (int, type(None))}, "report.json")
        Traceback (most recent call last):
        heedmap.errors.FileError: report.json: n: expected a whole number or null, found 'x'
    """
    if isinstance(form, Maybe):
        if found is not None:
            check_form(found, form.form, where)
    elif isinstance(form, Every):
        _check_type(found, dict, where)
        for name, value in found.items():
            check_form(value, form.form, _inner(where, name))
    elif isinstance(form, Only | dict):
        _check_entries(found, form, where)
    elif isinstance(form, list | Times):
        _check_list(found, form, where)
    else:
        _check_type(found, form, where)


def _check_entries(found: Any, form: Only | dict[str, Any], where: str) -> None:
    """An object's entries."""
    _check_type(found, dict, where)
    entries = form.entries if isinstance(form, Only) else form
    unknown = sorted(set(found) - set(entries)) if isinstance(form, Only) else []
    if unknown:
        raise FileError(f"{where}: {shown(unknown[0])} is not known there: expected {', '.join(entries)}")
    for name, inner in entries.items():
        if name not in found and not isinstance(inner, Maybe):
            raise FileError(f"{where}: {name!r} is missing")
        check_form(found.get(name), inner, _inner(where, name))


def _check_list(found: Any, form: list[Any] | Times, where: str) -> None:
    """A list's items."""
    _check_type(found, list, where)
    if isinstance(form, Times) and len(found) != form.count:
        raise FileError(f"{where}: expected {form.count} values, found {len(found)}")
    inner = form.form if isinstance(form, Times) else form[0]
    for number, value in enumerate(found):
        check_form(value, inner, _inner(where, number))


def _check_type(found: Any, form: Any, where: str) -> None:
    """A single value."""
    kinds = form if isinstance(form, tuple) else (form,)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    right = isinstance(found, kinds) and (number or bool in kinds or not isinstance(found, bool))
    if right or (number and float in kinds):
        return
    words = " or ".join(_WORDS.get(kind, "a number" if kind is float else "a whole number") for kind in kinds)
    raise FileError(f"{where}: expected {words}, found {shown(found)}")


def _inner(where: str, name: object) -> str:
    """The name of a value inside another: `report.json: run.data`."""
    return f"{where}.{shown(name).strip(chr(39))}" if ": " in where else f"{where}: {shown(name).strip(chr(39))}"
