"""The JSON Schemas in docs/schemas hold for real outputs, and there is one for every schema that the code names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from referencing import Registry, Resource

from tests.documentation.schema_samples import Samples
from tests.test_docs import ROOT

FOLDER = ROOT / "docs" / "schemas"
NAMED = re.compile(r'"(heedmap/([a-z-]+)/(\d))"')
FILES = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
NAMES = sorted(name.removesuffix(".json") for name in FILES if name != "common.json")


def in_the_code() -> set[str]:
    sources = (ROOT / "src").glob("**/*.py")
    return {
        f"{kind}-{number}" for path in sources for _, kind, number in NAMED.findall(path.read_text(encoding="utf-8"))
    }


def all_validators(kind: Any) -> dict[str, Any]:
    """A validator for each schema, by its name."""
    registry: Any = Registry().with_resources((name, Resource.from_contents(body)) for name, body in FILES.items())
    return {name: kind(FILES[f"{name}.json"], registry=registry) for name in NAMES}


@pytest.fixture(scope="module")
def validators() -> dict[str, Any]:
    return all_validators(Draft202012Validator)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Any]]]:
    folder = tmp_path_factory.mktemp("schemas")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEEDMAP_LEARN", str(folder / "learn"))
        patch.setenv("COLUMNS", "80")
        yield {f"{name}-1": found for name, found in Samples(folder).all().items()}


def test_every_schema_of_the_code_has_a_file_and_every_file_is_used() -> None:
    assert set(NAMES) == in_the_code()


def test_every_schema_has_a_real_output(samples: dict[str, list[Any]]) -> None:
    assert set(samples) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas_and_say_what_they_are(name: str) -> None:
    body = FILES[f"{name}.json"]
    Draft202012Validator.check_schema(body)
    assert body["$id"] == f"{name}.json"
    assert body["properties"]["schema"]["const"] == body["title"] == f"heedmap/{name[:-2]}/{name[-1]}"
    assert all(field.get("description") for field in body["properties"].values())


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_as_their_schema_says(name: str, validators: dict[str, Any], samples: dict[str, list[Any]]) -> None:
    for sample in samples[name]:
        validators[name].validate(sample)


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_is_missing_or_of_another_schema_is_found(name: str, samples: dict[str, list[Any]]) -> None:
    """Of an output whose other fields are right, so that only these are looked at."""
    body, sample = FILES[f"{name}.json"], samples[name][0]
    fields = Draft202012Validator({"required": body["required"]})
    kind = Draft202012Validator({"properties": {"schema": body["properties"]["schema"]}})
    assert fields.is_valid(sample)
    assert kind.is_valid(sample)
    for field in body["required"]:
        assert not fields.is_valid({key: value for key, value in sample.items() if key != field})
    assert not kind.is_valid(sample | {"schema": "heedmap/other/1"})


def test_every_field_occurs_in_some_output(samples: dict[str, list[Any]]) -> None:
    """What a schema lists and nothing writes would be a promise that nobody keeps."""
    seen: set[tuple[int, str]] = set()

    def note_and_check(validator: Any, properties: Any, instance: Any, schema: Any) -> Iterator[Any]:
        seen.update((id(properties), field) for field in properties if isinstance(instance, dict) and field in instance)
        yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, instance, schema)

    noting = extend(Draft202012Validator, {"properties": note_and_check})
    for name, validator in all_validators(noting).items():
        for sample in samples[name]:
            validator.validate(sample)
    listed = [(file, one.get("properties", {})) for file, body in FILES.items() for one in parts_of(body)]
    never = {f"{file}: {field}" for file, fields in listed for field in fields if (id(fields), field) not in seen}
    shared_out = {"tensor_parallel", *FILES["common.json"]["$defs"]["tensorParallel"]["properties"]}  # many processes
    assert never <= {f"common.json: {field}" for field in shared_out}


def parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all that stand in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    inner += [schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    for one in [*inner, *schema.get("anyOf", []), *schema.get("prefixItems", [])]:
        yield from parts_of(one)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_left_open(name: str) -> None:
    """Every value has a type, every list says of what, and no object takes fields that are not told."""
    for one in parts_of(FILES[name]):
        assert {"type", "$ref", "const", "anyOf", "enum", "$defs"} & set(one), one
        kinds = one.get("type", [])
        if "array" in kinds:
            assert "items" in one, one
        if "object" in kinds:
            assert one["additionalProperties"] is False or "properties" not in one, one
            assert set(one.get("required", [])) <= set(one.get("properties", {}))
