"""Comparing: planted differences are found, noise is called one as rarely as said, both sides against whole maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import DataError, FileError, HeedmapError, NumbersError, UnsupportedModel
from heedmap.lab.compare import CANNOT_TELL, DIFFER, NO_DIFFERENCE, Compare, CompareSettings
from heedmap.lab.compare_conclude import conclude
from heedmap.lab.compare_measure import aligned, measure_models, measure_texts
from heedmap.lab.data import Contrast, Sentence
from heedmap.lab.experiment import DataSource
from heedmap.lab.max_t import max_t
from heedmap.lab.rows import Rows
from heedmap.reading.model import Model
from tests.lab.planted import HIGHEST, LOWEST, RUNS
from tests.tiny import tiny_model

HEADS, UNITS = 40, 14
SETTINGS = CompareSettings(statistics=("first", "entropy"), draws=400)


def rows_of(difference: Any = None, units: int = UNITS, seed: int = 0) -> Rows:
    """Rows of two sides of noise that goes with the unit in all heads, and what is planted in the second."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(units):
        common = rng.normal()
        a, b = (0.5 + 0.1 * common * side + rng.normal(0, 0.05, (1, 2, HEADS)) for side in (0, 1))
        if difference is not None:
            b[0] += difference
        rows.append(
            {
                "item": f"{unit:03d}",
                "layer": np.repeat(np.arange(4), 10),
                "head": np.tile(np.arange(10), 4),
                "a": a,
                "b": b,
                "before": 0.0,
            }
        )
    return Rows(rows)


def test_a_planted_difference_is_found_in_its_statistic_and_head() -> None:
    planted = np.zeros((2, HEADS))
    planted[1, 23] = -0.6
    finding = conclude(rows_of(planted), SETTINGS)
    assert finding.verdict == DIFFER
    assert finding.figures["compare.surest"].value == "entropy of layer 2 head 3"
    assert finding.figures["compare.surest"].searched
    assert finding.figures["compare.surest_difference"].value == pytest.approx(-0.6, abs=0.1)
    assert finding.figures["compare.differing"].value == 1
    assert finding.figures["compare.entropy.differing"].value == 1
    assert finding.figures["compare.first.differing"].value == 0
    assert finding.tables["differences"].rows[0][:3] == ["entropy", 2, 3]


def test_noise_that_goes_together_is_called_a_difference_as_rarely_as_said() -> None:
    found = 0
    for seed in range(RUNS):
        rows = rows_of(seed=seed)
        differences = (np.concatenate(rows.arrays("b")) - np.concatenate(rows.arrays("a"))).reshape(UNITS, -1)
        found += bool((max_t(differences, draws=199, seed=seed) <= 0.05).any())
    assert LOWEST < found / RUNS < HIGHEST


def test_p_values_are_those_of_all_flips_one_by_one() -> None:
    """An exhaustive oracle: all 2^8 signs, studentised in the plain way."""
    from itertools import product

    differences = np.random.default_rng(5).normal(0.4, 1, (8, 5))

    def t(values: Any) -> Any:
        return np.abs(values.mean(0) / (values.std(0, ddof=1) / np.sqrt(len(values))))

    largest = [t(differences * np.array(signs)[:, None]).max() for signs in product((-1, 1), repeat=8)]
    exact = [(np.array(largest) >= one * (1 - 1e-9)).mean() for one in t(differences)]
    np.testing.assert_allclose(max_t(differences, draws=20000), exact, atol=0.012)


def test_few_units_cannot_tell_and_equal_sides_do_not_differ() -> None:
    assert conclude(rows_of(units=5), SETTINGS).verdict == CANNOT_TELL
    rows = rows_of()
    same = Rows({**{name: rows.arrays(name)[n] for name in rows.names}, "b": rows.arrays("a")[n]} for n in range(UNITS))
    finding = conclude(same, SETTINGS)
    assert finding.verdict == NO_DIFFERENCE
    assert finding.figures["compare.p"].value == 1
    assert "No difference was found" in finding.sentence


def test_the_report_has_its_control_and_chart(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    finding = conclude(rows_of(np.full((2, HEADS), 0.3)), SETTINGS)
    assert finding.figures["compare.control"].value == 0
    figure, axes = plt.subplots()
    finding.charts["heads"].draw(axes)
    figure.savefig(tmp_path / "heads.png")
    plt.close(figure)


def test_pairs_are_compared_over_the_tokens_that_both_have(smollm2: Model) -> None:
    begin = "The trophy did not fit in the suitcase because it was too"
    texts = (f"{begin} big.", f"{begin} very small.")
    row = measure_texts(smollm2, Contrast("1", "f", texts), CompareSettings(statistics=("first", "entropy")))
    readings = [smollm2.read(text) for text in texts]
    places = aligned(readings[0].tokens.ids, readings[1].tokens.ids)
    assert len(places[0]) == row["tokens"] < len(readings[0].tokens)
    for side, reading, place in zip(("a", "b"), readings, places, strict=True):
        for layer, head in ((0, 0), (29, 8)):
            number = int(np.flatnonzero((row["layer"] == layer) & (row["head"] == head))[0])
            weights = np.asarray(reading.map(layer, head))[place]
            logs = np.log(np.where(weights > 0, weights, 1))
            np.testing.assert_allclose(row[side][0, 0, number], weights[:, 0].mean(), atol=1e-5)
            np.testing.assert_allclose(row[side][0, 1, number], -(weights * logs).sum(1).mean(), atol=1e-4)
    assert row["before"] < 1e-4, "a causal model cannot differ before the texts part"


def test_two_whole_texts_are_compared_sentence_by_sentence(smollm2: Model, tmp_path: Path) -> None:
    sentences = ["The cat sat down.", "It rained all day.", "Nobody came home.", "The lamp went out."]
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text(" ".join(sentences), encoding="utf-8")
    second.write_text(" ".join(["We begin.", *sentences[:2], "Somebody laughed.", *sentences[2:]]), encoding="utf-8")
    settings = CompareSettings(first=str(first), second=str(second), statistics=("first",))
    (item,) = Compare().items(settings, DataSource())
    (row,) = Compare().measure(smollm2, [item], settings)
    assert row["a"].shape == row["b"].shape == (4, 1, 270)


class FakeLoad:
    """Stands in for loading: gives one model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __call__(self, name: str, **_: Any) -> Model:
        return self.model


def test_two_models_are_compared_head_by_head(smollm2_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = heedmap.wrap(tiny_model("llama", vocab_size=49152), smollm2_tokenizer)
    changed = tiny_model("llama", vocab_size=49152)
    with torch.no_grad():  # the query of layer 2 head 1 is turned, so that this head alone looks elsewhere
        changed.model.layers[2].self_attn.q_proj.weight[16:32] *= -1
    other = heedmap.wrap(changed, smollm2_tokenizer)
    monkeypatch.setattr("heedmap.reading.loading.load", FakeLoad(other))
    settings = CompareSettings(other="changed", statistics=("first", "entropy"), draws=400)
    texts = [
        f"The {noun} did not fit in the box because it was too big, they said."
        for noun in ("trophy", "table", "lamp", "piano", "statue", "ladder", "tent", "clock")
    ]
    rows = Rows({"item": text, **measure_models(model, text, settings)} for text in texts)
    finding = conclude(rows, settings)
    assert finding.verdict == DIFFER
    assert {tuple(line[1:3]) for line in finding.tables["differences"].rows if float(line[-1] or 1) <= 0.05} == {(2, 1)}
    items = Compare().items(settings, DataSource())
    assert isinstance(items[0].content, Sentence)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda tokenizer: heedmap.wrap(tiny_model("llama", vocab_size=49152, num_hidden_layers=2), tokenizer),
            UnsupportedModel,
            r"has 3 layers of 4 heads and .* 2 of 4: heads can only be compared",
        ),
        (lambda _: None, DataError, r"make other tokens"),
    ],
)
def test_models_that_cannot_be_aligned_are_refused(
    make: Any,
    error: type[HeedmapError],
    message: str,
    smollm2_tokenizer: Any,
    minilm: Model,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = heedmap.wrap(tiny_model("llama", vocab_size=49152), smollm2_tokenizer)
    other = make(smollm2_tokenizer) or heedmap.wrap(tiny_model("llama", vocab_size=49152), minilm.tokenizer)
    monkeypatch.setattr("heedmap.reading.loading.load", FakeLoad(other))
    with pytest.raises(error, match=message):
        measure_models(model, "The cat sat.", CompareSettings(other="other"))


def test_settings_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NumbersError, match=r"expected both texts, or none"):
        CompareSettings(first="a")
    with pytest.raises(NumbersError, match=r"expected no texts where models are compared"):
        CompareSettings(first="a", second="b", other="c")
    with pytest.raises(NumbersError, match=r"statistics: expected one at least"):
        CompareSettings(statistics=())
    with pytest.raises(FileError, match=r"cannot read"):
        Compare().items(CompareSettings(first=str(tmp_path / "no"), second=str(tmp_path / "no")), DataSource())
