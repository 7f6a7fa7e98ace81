"""Writes docs/schemas.md: a table of fields for each JSON Schema of docs/schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.marked import with_files

FOLDER = Path(__file__).parent / "schemas"

INTRODUCTION = """# JSON schemas

Written by `make docs` from the files in `docs/schemas/`, each a JSON Schema (draft 2020-12) that real outputs are
tested against. Nothing else may stand in an output than what its schema names.

Everything that `--json` prints is the object that the API returns (`.to_json()`), in strict JSON: what is absent or
forbidden is `null`, never `NaN`. Its `schema` is `heedmap/NAME/VERSION`. The version grows when a field is taken
away or means something else; a new optional field does not change it, so a program should ignore fields that it does
not know.
Layers, heads and tokens count from 0; shares lie between 0 and 1.

A check in Python, with the package `jsonschema`:

<!-- docs/snippets/check_schema.py: start -->
<!-- docs/snippets/check_schema.py: end -->

<!-- docs/snippets/check_schema.txt: start -->
<!-- docs/snippets/check_schema.txt: end -->
"""

FILES_AND_PAGES = (
    "report", "run", "expectations", "reading", "stacks", "head-means", "page", "served", "source", "progress",
    "figures", "vectors", "lesson",
)  # fmt: skip
"""What is written to files and pages; the rest is printed."""


def schemas() -> dict[str, dict[str, Any]]:
    """All schemas by file name, common parts first."""
    found = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    return {"common.json": found.pop("common.json"), **found}


def schemas_page() -> str:
    """The page as Markdown."""
    found = schemas()
    common = found.pop("common.json")
    kept = [body for name, body in found.items() if name.rsplit("-", 1)[0] in FILES_AND_PAGES]
    shown = [body for body in found.values() if body not in kept]
    parts = [INTRODUCTION]
    for title, bodies in (("Printed by commands", shown), ("Kept in files and pages", kept)):
        parts.append(f"## {title}\n")
        parts += [_section(body) for body in bodies]
    parts.append("## Common parts\n\n[common.json](schemas/common.json)\n")
    for name, body in common["$defs"].items():
        parts.append(f"### {name}\n\n{body['description']}\n\n{_common(body)}")
    return with_files("\n".join(parts).rstrip() + "\n")


def _section(body: dict[str, Any]) -> str:
    """One schema: what it is, its file, its fields."""
    return f"### {body['title']}\n\n{body['description']} [{body['$id']}](schemas/{body['$id']})\n\n{_table(body)}"


def _common(body: dict[str, Any]) -> str:
    """A common part: the fields of an object, or of each object that it may be, or else what it is."""
    kinds = [one for one in body.get("anyOf", [body]) if "properties" in one]
    return "\n".join(_table(one) for one in kinds) if kinds else f"{_type(body).capitalize()}.\n"


def _table(body: dict[str, Any]) -> str:
    """The fields of an object, those of objects in it by their path."""
    lines = ["| field | type | what it is |", "|---|---|---|", *_lines(body, "")]
    return "\n".join(lines) + "\n"


def _lines(body: dict[str, Any], path: str) -> list[str]:
    """One line a field."""
    found = []
    required = body.get("required", [])
    for name, field in body["properties"].items():
        says = field.get("description", "")
        if "enum" in field:
            says += f" ({', '.join(field['enum'])})"
        if name not in required:
            says = f"{says} (not always there)" if says else "(not always there)"
        if name != "schema":
            found.append(f"| `{path}{name}` | {_type(field)} | {says.replace('|', chr(92) + '|')} |")
        inner, step = _inner(field)
        if inner is not None:
            found += _lines(inner, f"{path}{name}{step}")
    return found


def _inner(field: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The object in a field, in its list or under its names, and how that is written in a path."""
    body = next((one for one in field.get("anyOf", []) if one.get("type") != "null"), field)
    for step, inner in ((".", body), ("[].", body.get("items")), (".*.", body.get("additionalProperties"))):
        if isinstance(inner, dict) and "properties" in inner:
            return inner, step
    return None, ""


def _type(field: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in field:
        return _linked(field["$ref"])
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"])
    if "const" in field:
        return f"`{field['const']}`"
    kinds = field.get("type", "anything")
    words = [_of(kind, field) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " or ".join(words)


def _of(kind: str, field: dict[str, Any]) -> str:
    """One kind of value, with what it holds."""
    if "prefixItems" in field and kind == "array":
        return f"[{', '.join(_type(one) for one in field['prefixItems'])}]"
    if kind == "array" and field.get("items"):
        inner = _type(field["items"])
        return f"list of ({inner})" if " or " in inner else f"list of {inner}"
    if kind == "array":
        return "list"
    if kind == "object" and isinstance(field.get("additionalProperties"), dict) and "properties" not in field:
        return f"by name: {_type(field['additionalProperties'])}"
    return {"integer": "whole number", "string": "text", "boolean": "true or false"}.get(kind, kind)


def _linked(reference: str) -> str:
    """A link to the schema or common part that is meant."""
    name = reference.rsplit("/", 1)[-1]
    if reference.startswith("common.json"):
        return f"[{name}](#{name.lower()})"
    kind, version = name.removesuffix(".json").rsplit("-", 1)
    return f"[heedmap/{kind}/{version}](#heedmap{kind}{version})"
