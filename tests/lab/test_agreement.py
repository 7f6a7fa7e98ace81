"""Comparing reports, with each other and with what is expected of a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import ClaimError, FileError
from heedmap.lab.agreement import DIFFERS, MISSING, NEW, ROUNDED, SAME, check, compare
from heedmap.lab.expectations import parts_for, read_expectations, shipped
from heedmap.lab.experiment import Figure
from heedmap.lab.registry import EXPERIMENTS, experiment


def judged(before: Figure, now: Figure) -> str:
    return compare({"x": before}, {"x": now})[0].judgement


@pytest.mark.parametrize(
    ("before", "now", "judgement"),
    [
        (Figure(0.5), Figure(0.5), SAME),
        (Figure(1), Figure(1.0), SAME),
        (Figure(float("nan")), Figure(None), SAME),
        (Figure("place"), Figure("place"), SAME),
        (Figure(0.5), Figure(0.500004), ROUNDED),
        (Figure(1e6), Figure(1e6 + 5), ROUNDED),
        (Figure(0.5), Figure(0.5001), DIFFERS),
        (Figure("place"), Figure("word"), DIFFERS),
        (Figure(True), Figure(1), DIFFERS),
        (Figure(0.5), Figure(None), DIFFERS),
        (Figure(0.5, (0.4, 0.6)), Figure(0.5, (0.4, 0.6)), SAME),
        (Figure(0.5, (0.4, 0.6)), Figure(0.5, (0.4, 0.61)), DIFFERS),
        (Figure(0.5, (0.4, 0.6)), Figure(0.5), DIFFERS),
        (Figure(0.5, None, 20), Figure(0.5, None, 19), DIFFERS),
    ],
)
def test_figures_are_judged_by_value_interval_and_n(before: Figure, now: Figure, judgement: str) -> None:
    assert judged(before, now) == judgement
    assert judged(now, before) == judgement


def test_what_only_one_report_has_is_told() -> None:
    lines = compare({"x": Figure(1), "y": Figure(2)}, {"y": Figure(2), "z": Figure(3, searched=True)})
    assert [(line.name, line.judgement, line.agrees) for line in lines] == [
        ("x", MISSING, False),
        ("y", SAME, True),
        ("z", NEW, False),
    ]
    assert [line.searched for line in lines] == [False, False, True]


def test_expected_figures_have_their_own_tolerance() -> None:
    figures = {"a": Figure(0.5), "b": Figure(0.5), "c": Figure("place"), "d": Figure(0.0), "f": Figure(0.0)}
    expected: dict[str, Any] = {
        "a": {"value": 0.52, "tolerance": 0.03},
        "b": {"value": 0.52, "tolerance": 0.01},
        "c": {"value": "place"},
        "d": {"value": 1e-9},  # no tolerance: as far as another machine's rounding goes
        "f": {"value": 1e-3},
        "e": {"value": 1, "tolerance": 9},
    }
    judgements = [line.judgement for line in check(expected, figures)]
    assert judgements == [ROUNDED, DIFFERS, SAME, ROUNDED, DIFFERS, MISSING]
    with pytest.raises(ClaimError, match=r"none of the expected figures \(e\)"):
        check({"e": {"value": 1}}, figures)


def run_of(sha256: str, **settings: Any) -> dict[str, Any]:
    """The "run" of a report of the experiment `sink`."""
    part = {"settings": settings, "items_sha256": "i"}
    return {"model": {"name": "m", "sha256": sha256}, "data": {"parts": {"sink": part}}}


def expectations(folder: Path, **changes: Any) -> Path:
    """A file of expected figures."""
    part = {"title": "exact", "experiment": "sink", "settings": {"seed": 0}, "figures": {"sink.median": {"value": 1}}}
    content = {
        "schema": "heedmap/expectations/1",
        "title": "t",
        "model": {"name": "m", "sha256": ["a"]},
        "parts": [part],
    }
    (folder / "figures.json").write_text(json.dumps(content | changes))
    return folder / "figures.json"


def test_expectations_hold_for_their_weights_and_settings_alone(tmp_path: Path) -> None:
    expected = read_expectations(expectations(tmp_path))
    assert [part.title for part in parts_for(expected, run_of("a", seed=0, draws=9))] == ["exact"]
    with pytest.raises(ClaimError, match=r"with the weights a.*was measured on m with b.*--other-weights"):
        parts_for(expected, run_of("b", seed=0))
    assert len(parts_for(expected, run_of("b", seed=0), other_weights=True)) == 1
    with pytest.raises(ClaimError, match="nothing is expected of this run"):
        parts_for(expected, run_of("a", seed=1))
    part = {"title": "exact", "experiment": "sink", "figures": {}}
    for items, fits in (("i", True), ("j", False)):
        of_items = read_expectations(expectations(tmp_path, parts=[{**part, "items_sha256": items}, part]))
        assert len(parts_for(of_items, run_of("a"))) == 1 + fits


def test_files_that_hold_no_expectations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"its schema is 'other'"):
        read_expectations(expectations(tmp_path, schema="other"))
    with pytest.raises(FileError, match=r"parts.0: .title. is missing"):
        read_expectations(expectations(tmp_path, parts=[{}]))
    part = {"title": "t", "experiment": "sink", "figures": {"sink.median": {"value": 1, "tolerence": 1}}}
    with pytest.raises(
        FileError, match=r"figures.sink.median: 'tolerence' is not known there: expected value, tolerance"
    ):
        read_expectations(expectations(tmp_path, parts=[part]))
    with pytest.raises(FileError, match=r"there is no file .*none.json, and none of that name is shipped: .*smollm2"):
        read_expectations(tmp_path / "none.json")


@pytest.mark.parametrize("name", shipped())
def test_what_is_shipped_can_be_used(name: str) -> None:
    expected = read_expectations(Path(name))
    assert expected.title
    assert expected.model["name"]
    for part in expected.parts:
        assert part.experiment in EXPERIMENTS
        known = {option.name for option in experiment(part.experiment).Settings.options()}
        assert set(part.settings) <= known
        for figure in part.figures.values():
            assert set(figure) <= {"value", "tolerance", "says"}
            assert isinstance(figure["value"], str | bool) or figure["tolerance"] >= 0
