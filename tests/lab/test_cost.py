"""Measured cost: a tiny model end to end, and conclusions from rows whose growth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedmap
from heedmap.errors import NumbersError, TextTooLong
from heedmap.lab.cost import AS_PREDICTED, CANNOT_TELL, OTHERWISE, Cost, CostSettings
from heedmap.lab.cost_conclude import conclude
from heedmap.lab.cost_measure import measure
from heedmap.lab.experiment import DataSource
from heedmap.lab.rows import Rows
from heedmap.reading.model import Model
from tests.tiny import tiny_model

LENGTHS = (100, 200, 400, 800, 1600)


def rows_of(*, power: float = 2.0, cache: float = 1.0, lengths: tuple[int, ...] = LENGTHS) -> Rows:
    """Rows whose first token takes 1 ms a token and 1 microsecond a pair, with noise between repeats."""
    rng = np.random.default_rng(0)
    return Rows(
        {
            "item": f"{length}-{repeat}",
            "length": length,
            "first": (1e-3 * length + 1e-6 * length**2) * rng.uniform(0.98, 1.02),
            "next": 2e-3,
            "cache": cache * 64 * length,
            "peak": float("nan"),
            "attention_seconds": 1e-6 * length**power * rng.uniform(0.98, 1.02),
            "predicted_attention": 8.0 * length**2,
            "predicted_rest": 1e4 * length,
            "predicted_cache": 64.0 * length,
            "predicted_crossing": 1250.0,
            "layers": 3,
        }
        for length in lengths
        for repeat in range(3)
    )


def test_known_growth_is_found() -> None:
    finding = conclude(rows_of(), CostSettings())
    figures = finding.figures
    assert finding.verdict == AS_PREDICTED
    assert figures["cost.power.predicted_attention"].value == pytest.approx(2)
    assert figures["cost.power.attention_seconds"].value == pytest.approx(2, abs=0.05)
    assert figures["cost.tenfold.attention_seconds"].value == pytest.approx(100, rel=0.1)
    assert figures["cost.fit.linear"].value == pytest.approx(1e-3, rel=0.05)
    assert figures["cost.fit.square"].value == pytest.approx(1e-6, rel=0.05)
    assert figures["cost.crossing.fitted"].value == pytest.approx(1000, rel=0.1)
    assert figures["cost.length1600.peak"].value is None
    assert figures["cost.writing_to_reading"].value == pytest.approx(2e-3 / 2.6e-3, rel=0.05)


def test_other_growth_and_another_cache_are_said() -> None:
    assert conclude(rows_of(power=1.0), CostSettings()).verdict == OTHERWISE
    assert conclude(rows_of(cache=2.0), CostSettings()).verdict == OTHERWISE
    assert conclude(rows_of(lengths=(100, 200)), CostSettings()).verdict == CANNOT_TELL


def test_the_chart_is_drawn(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    finding = conclude(rows_of(), CostSettings())
    figure, axes = plt.subplots()
    finding.charts["growth"].draw(axes)
    figure.savefig(tmp_path / "growth.png")
    plt.close(figure)
    assert len(finding.tables["lengths"].rows) == 5


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma3_text"])
def test_a_tiny_model_is_measured_with_the_cache_predicted(family: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_model(family, vocab_size=49152), smollm2_tokenizer)
    settings = CostSettings(lengths=(20, 40), repeats=1, further=2)
    items = Cost().items(settings, DataSource())
    rows = list(Cost().measure(model, items, settings))
    assert [row["length"] for row in rows] == [20, 40]
    for row in rows:
        assert 0 < row["first"] < 60
        assert 0 < row["next"] < 60
        assert 0 < row["attention_seconds"] < 60
        # A sliding cache keeps one token less than its window, since the next brings its own.
        slack = 3 * 2 * 2 * 16 * 4 if family == "gemma3_text" else 0
        assert abs(row["cache"] - row["predicted_cache"]) <= slack


def test_encoders_have_no_cache_and_limits_are_kept(minilm: Model) -> None:
    row = measure(minilm, 16, 0, 1)
    assert np.isnan(row["next"])
    assert np.isnan(row["cache"])
    assert row["first"] > 0
    with pytest.raises(TextTooLong, match=r"600 tokens and 1 more are more than the model's 512 positions"):
        measure(minilm, 600, 0, 1)
    with pytest.raises(NumbersError, match=r"lengths: expected one at least"):
        CostSettings(lengths=())
