"""Files of expected figures (`heedmap/expectations/1`): what a model is known to give, keyed by its weights' hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from heedmap.cut_text import cut_text
from heedmap.errors import ClaimError, FileError
from heedmap.json_form import Every, Maybe, Only, check_form, shown
from heedmap.lab.folder import read_json

SCHEMA = "heedmap/expectations/1"
FOLDER = "expectations"

_LONGEST = 1000
"""Characters of what a file has, at most, in an error."""

_FIGURE = Only({"value": (float, str, bool, type(None)), "tolerance": Maybe(float), "says": Maybe(str)})
_PART = Only(
    {
        "title": str,
        "experiment": str,
        "settings": Maybe(dict),
        "items_sha256": Maybe(str),
        "figures": Every(_FIGURE),
    }
)
_FORM = {"title": str, "model": Only({"name": str, "sha256": Maybe([str])}), "parts": [_PART]}
"""People write such files by hand: a name that is not known there is a slip, and is told."""


@dataclass(frozen=True)
class ExpectedPart:
    """Figures that one run is expected to give.

    Attributes:
        title: what they are, and how they are to be read ("exact within rounding", "like for like").
        experiment: what must have run.
        settings: the settings that must have been in force; others may differ.
        items: the hash of the items that they were measured on; None for any.
        figures: by name: {"value", "tolerance"}.
    """

    title: str
    experiment: str
    settings: Mapping[str, Any]
    items: str | None
    figures: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Expectations:
    """A file of them.

    Attributes:
        title: what the file is.
        model: name of the model, and the hashes its weights may have; none where nobody knows them.
        parts: in order.
    """

    title: str
    model: Mapping[str, Any]
    parts: Sequence[ExpectedPart]


def shipped() -> list[str]:
    """The names of the files that come with Heedmap, without `.json`.

    Example:
        >>> "smollm2" in shipped()
        True
    """
    folder = resources.files("heedmap.lab") / FOLDER
    return sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))


def read_expectations(given: Path) -> Expectations:
    """A file of expected figures, or one of those that are shipped, by its name.

    Raises:
        FileError: it cannot be read, or is none.
    """
    if not given.exists() and str(given) in shipped():
        with resources.as_file(resources.files("heedmap.lab") / FOLDER / f"{given}.json") as path:
            return _parse(read_json(path), given)
    if not given.exists():
        raise FileError(f"there is no file {given}, and none of that name is shipped: {', '.join(shipped())}")
    return _parse(read_json(given), given)


def _parse(found: Mapping[str, Any], path: Path) -> Expectations:
    """The content of a file."""
    if found.get("schema") != SCHEMA:
        raise FileError(f"{path} holds no expected figures ({SCHEMA}); its schema is {shown(found.get('schema'))}")
    check_form(found, _FORM, str(path))
    parts = [
        ExpectedPart(
            part["title"],
            part["experiment"],
            part.get("settings") or {},
            part.get("items_sha256"),
            part["figures"],
        )
        for part in found["parts"]
    ]
    return Expectations(found["title"], found["model"], parts)


def parts_for(expected: Expectations, run: Mapping[str, Any], *, other_weights: bool = False) -> list[ExpectedPart]:
    """The parts that a report can be compared with.

    Args:
        expected: the file.
        run: the "run" of the report.
        other_weights: compare although the weights are others.

    Raises:
        ClaimError: the report was measured on other weights, or no part fits its experiments and settings.
    """
    hashes, measured = expected.model.get("sha256") or [], run["model"]["sha256"]
    if hashes and measured not in hashes and not other_weights:
        raise ClaimError(
            f"these figures are for {expected.model['name']} with the weights {hashes[0][:12]}..., and the report was "
            f"measured on {run['model']['name']} with {str(measured)[:12]}...; --other-weights compares all the same"
        )
    measured_parts = run["data"]["parts"]
    fitting = [part for part in expected.parts if _fits(part, measured_parts.get(part.experiment))]
    if not fitting:
        wanted = "; ".join(f"{part.experiment} {dict(part.settings)}" for part in expected.parts)
        raise ClaimError(
            f"nothing is expected of this run ({', '.join(measured_parts)}) with its settings and data: "
            f"the file has {cut_text(wanted, _LONGEST)}"
        )
    return fitting


def _fits(part: ExpectedPart, measured: Mapping[str, Any] | None) -> bool:
    """Whether a run had the experiment, the settings and the items that some figures are for."""
    return (
        measured is not None
        and all(measured["settings"].get(name) == value for name, value in part.settings.items())
        and part.items in (None, measured["items_sha256"])
    )
