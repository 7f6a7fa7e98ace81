"""The figures that are shipped for models are those that these models give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heedmap.lab.agreement import check
from heedmap.lab.expectations import parts_for, read_expectations
from heedmap.lab.registry import experiment
from heedmap.lab.report import Report
from heedmap.lab.request import Request
from heedmap.lab.run import RunPlace, perform
from heedmap.reading.model import Model


def run(model: Model, name: str, folder: Path, limit: int | None = None, **settings: Any) -> Report:
    """The report of an experiment on its built-in data."""
    request = Request(name, {name: experiment(name).Settings(**settings)}, {"name": model.name}, limit=limit)
    report = perform(RunPlace(request, model, folder))
    assert report is not None
    return report


def check_expectations(model: Model, name: str, folder: Path, limit: int | None = None, **settings: Any) -> None:
    """Every expected figure is found, within its tolerance."""
    report = run(model, name, folder, limit, **settings)
    parts = parts_for(read_expectations(Path(model.name)), report.run)
    assert [part.experiment for part in parts] == [name]
    lines = [line for part in parts for line in check(part.figures, report.figures)]
    assert len(lines) >= 10
    assert not [str(line) for line in lines if not line.agrees]


@pytest.mark.parametrize("name", ["sink", "causal", "heads"])
def test_minilm_gives_the_recorded_figures(minilm: Model, name: str, tmp_path: Path) -> None:
    check_expectations(minilm, name, tmp_path / "report")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["sink", "causal", "reference", "heads"])
def test_smollm2_gives_the_recorded_figures(smollm2: Model, name: str, tmp_path: Path) -> None:
    check_expectations(smollm2, name, tmp_path / "report")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_smollm2_gives_the_figures_that_lessons_quote(smollm2: Model, tmp_path: Path) -> None:
    """Of experiments that take long, the part that was recorded."""
    check_expectations(smollm2, "matters", tmp_path / "matters", limit=12, scatter=2)
    check_expectations(smollm2, "dilution", tmp_path / "dilution", amounts=(0, 128, 512))


def test_the_published_picture_has_the_figures_of_the_experiment(smollm2: Model, tmp_path: Path) -> None:
    """On other weights the names are the same; numbers of tokens and heads differ with the model."""
    report = run(smollm2, "picture", tmp_path / "report")
    published = read_expectations(Path("qwen2.5-0.5b")).parts[0]
    assert published.experiment == "picture"
    missing = set(published.figures) - set(report.figures)
    # This tokenizer writes suitcase as two tokens, which moves the full stop by one place.
    assert missing == {"picture.row.suitcase", "picture.diagonal.suitcase", "picture.diagonal.token13"}
    assert report.figures["picture.changed_at_word"].value == 0
    assert report.figures["picture.head"].value == "L16H3"
