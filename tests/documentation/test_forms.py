"""What is read back is described twice, as a schema for people and as a form for the reader: the two agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from heedmap.json_form import Every, Maybe, Only, Times
from heedmap.lab import expectations, folder, report, request
from heedmap.reading import stored
from tests.documentation.test_schemas import FILES

FORMS = {
    "reading-1.json": stored._READING,
    "report-1.json": report._FORM,
    "run-1.json": folder._FORM,
    "expectations-1.json": expectations._FORM,
    "common.json#/$defs/request": request._FORM,
}
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": float,
    "null": type(None),
}


def followed(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema, or the one that it refers to."""
    while "$ref" in schema:
        file, _, name = schema["$ref"].partition("#/$defs/")
        schema = FILES[file]["$defs"][name] if name else FILES[file]
    return schema


def kinds_of(schema: dict[str, Any]) -> set[type]:
    """The kinds of values that a schema allows."""
    schema = followed(schema)
    if "anyOf" in schema:
        return set().union(*map(kinds_of, schema["anyOf"]))
    kinds = schema["type"]
    return {KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)}


def accepted(form: Any) -> set[type]:
    """The kinds of values that a form takes; a whole number is a number."""
    if isinstance(form, Maybe):
        return accepted(form.form) | {type(None)}
    if isinstance(form, list | Times):
        return {list}
    if isinstance(form, dict | Every | Only):
        return {dict}
    kinds = set(form) if isinstance(form, tuple) else {form}
    return kinds | ({int} if float in kinds else set())


def problems(form: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    """Where the reader would refuse what the schema allows, or asks for what the schema does not have."""
    schema, form_inside = followed(schema), form.form if isinstance(form, Maybe) else form
    if not kinds_of(schema) <= accepted(form):
        yield f"{place}: {kinds_of(schema)} may stand there, the reader takes {accepted(form)}"
    if isinstance(form_inside, list | Times):
        inner = form_inside.form if isinstance(form_inside, Times) else form_inside[0]
        yield from problems(inner, schema["items"], f"{place}[]")
    elif isinstance(form_inside, Every):
        yield from problems(form_inside.form, schema["additionalProperties"], f"{place}.*")
    elif isinstance(form_inside, dict | Only):
        entries = form_inside.entries if isinstance(form_inside, Only) else form_inside
        yield from (f"{place}.{name}: not in the schema" for name in set(entries) - set(schema["properties"]))
        if isinstance(form_inside, Only):
            unread = set(schema["properties"]) - set(entries) - {"schema"}
            yield from (f"{place}.{name}: refused by the reader" for name in unread)
        for name in set(entries) & set(schema["properties"]):
            if name not in schema["required"] and not isinstance(entries[name], Maybe):
                yield f"{place}.{name}: may be missing, and the reader needs it"
            yield from problems(entries[name], schema["properties"][name], f"{place}.{name}")


@pytest.mark.parametrize("name", FORMS)
def test_the_reader_takes_what_the_schema_allows(name: str) -> None:
    assert list(problems(FORMS[name], {"$ref": name}, name)) == []


def test_a_form_that_does_not_fit_is_found() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"n": {"type": ["integer", "null"]}, "parts": {"type": "array", "items": {"type": "string"}}},
        "required": ["n"],
    }
    assert list(problems({"n": Maybe(int), "parts": Maybe([str])}, schema, "x")) == []
    assert {one.partition(":")[0] for one in problems(Only({"n": int, "more": str}), schema, "x")} == {
        "x.more",
        "x.n",
        "x.parts",
    }
    assert next(problems({"parts": [int]}, schema, "x")).startswith("x.parts: may be missing")
