"""The experiment `heads`: planted heads are found, planted noise and planted places are not."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from heedmap.errors import NumbersError
from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.heads import Heads, HeadsSettings
from heedmap.lab.heads_effects import effects_of, halves
from heedmap.lab.heads_measure import other_order
from heedmap.lab.held_out import held_out
from heedmap.lab.request import Request
from heedmap.lab.rows import ITEM, Rows
from heedmap.lab.run import RunPlace, perform
from heedmap.reading.model import Model
from tests.lab.planted import heads_rows

SETTINGS = HeadsSettings(draws=400)


def conclude(rows: Rows, settings: HeadsSettings = SETTINGS) -> Finding:
    return Heads().conclude(rows, settings)


def value(finding: Finding, name: str) -> Any:
    return finding.figures[f"heads.{name}"].value


def test_a_planted_head_is_found() -> None:
    finding = conclude(heads_rows(np.random.default_rng(0), noun={37: 0.25}))
    assert finding.verdict == "found"
    assert (value(finding, "best.layer"), value(finding, "best.head")) == (3, 7)
    assert (value(finding, "held_out.layer"), value(finding, "held_out.head")) == (3, 7)
    assert value(finding, "held_out.effect") == pytest.approx(0.25, abs=0.08)
    assert value(finding, "p") == 1 / 401
    assert value(finding, "held_out.random_head") == 0
    assert "layer 3 head 7" in finding.sentence
    assert finding.figures["heads.best.effect"].searched
    assert not finding.figures["heads.held_out.effect"].searched
    assert any("consequence of causality" in line for line in finding.does_not_show)


@pytest.mark.parametrize("seed", range(5))
def test_planted_noise_is_not_found(seed: int) -> None:
    finding = conclude(heads_rows(np.random.default_rng(seed)))
    assert finding.verdict == "not found"
    assert "No head is shown to look at A rather than B" in finding.sentence


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_place_is_not_found_and_is_named_as_one(seed: int) -> None:
    """A head that always looks at the first noun would be the best with one noun order alone."""
    rows = heads_rows(np.random.default_rng(seed), place={12: 0.48})
    finding = conclude(rows)
    assert finding.verdict == "not found"
    assert (value(finding, "place.layer"), value(finding, "place.head")) == (1, 2)
    assert value(finding, "place.effect") == pytest.approx(0.48, abs=0.08)
    assert abs(value(finding, "place.noun_effect")) < 0.1
    effects = effects_of(rows)
    first = np.where(rows["first"][:, 0] == 0, 1, -1)
    assert abs((first[:, None] * effects.orders[0])[:, 12].mean()) > 0.4, "in one order alone it seems to be the answer"


def test_what_follows_the_clue_is_looked_for_after_it() -> None:
    finding = conclude(heads_rows(np.random.default_rng(3), clue={5: 0.2}))
    assert finding.verdict == "not found", "at the word itself no causal model can know"
    assert (value(finding, "clue.after.best.layer"), value(finding, "clue.after.best.head")) == (0, 5)
    assert value(finding, "clue.after.held_out.effect") == pytest.approx(0.2, abs=0.06)
    assert "heads.clue.at_word.p" not in finding.figures
    assert any("layer 0 head 5 follows the words that decide" in line for line in finding.shows)


def test_an_encoder_may_follow_the_clue_at_the_word() -> None:
    finding = conclude(heads_rows(np.random.default_rng(4), clue={5: 0.2}, causal=False))
    assert value(finding, "versions_differ") > 0.01
    assert (value(finding, "clue.at_word.best.layer"), value(finding, "clue.at_word.best.head")) == (0, 5)
    assert value(finding, "clue.at_word.p") == 1 / 401
    assert value(finding, "best.same_noun") < 1
    assert not any("consequence of causality" in line for line in finding.does_not_show)


def test_in_a_causal_model_both_versions_are_one_row() -> None:
    finding = conclude(heads_rows(np.random.default_rng(5)))
    assert value(finding, "versions_differ") == 0
    assert value(finding, "best.same_noun") == 1


@pytest.mark.parametrize(
    ("pairs", "families", "says"),
    [(5, 5, "5 pairs can be used: under 6"), (20, 1, "All pairs are of one family"), (0, 1, "0 pairs can be used")],
)
def test_with_too_little_nothing_can_be_told(pairs: int, families: int, says: str) -> None:
    rows = heads_rows(np.random.default_rng(0), pairs=max(pairs, 1), noun={3: 0.5}, families=families)
    if not pairs:
        rows = Rows({**row, "left_out": "its word is a blank"} for row in rows_of(rows))
    finding = conclude(rows)
    assert finding.verdict == "cannot tell"
    assert says in finding.sentence


def rows_of(rows: Rows) -> list[dict[str, Any]]:
    return [{name: rows.arrays(name)[place] for name in rows.names} for place in range(len(rows))]


def test_pairs_that_cannot_be_used_are_counted_by_reason() -> None:
    made = rows_of(heads_rows(np.random.default_rng(0), pairs=20))
    for row in made[:3]:
        row |= {"left_out": "its word is a blank", "weights": np.full_like(row["weights"], np.nan)}
    finding = conclude(Rows(made))
    assert (value(finding, "pairs"), value(finding, "left_out")) == (17, 3)
    assert "Anything about 3 pairs that were left out: its word is a blank." in finding.does_not_show


def test_a_head_whose_weights_are_no_numbers_is_left_out_of_the_search() -> None:
    made = rows_of(heads_rows(np.random.default_rng(0), pairs=20, noun={37: 0.25}))
    made[4]["weights"] = np.where(np.arange(60)[:, None] == 0, np.nan, made[4]["weights"])
    finding = conclude(Rows(made))
    assert value(finding, "searched") == 59
    assert (value(finding, "best.layer"), value(finding, "best.head")) == (3, 7)


def test_a_head_that_was_named_before_is_tested_without_a_search() -> None:
    rows = heads_rows(np.random.default_rng(6))
    best = effects_of(rows).noun.mean(0).argmax()
    finding = conclude(rows, HeadsSettings(draws=400, layer=int(best // 10), head=int(best % 10)))
    assert value(finding, "asked.effect") == value(finding, "best.effect")
    assert value(finding, "asked.p") < value(finding, "p")
    absent = conclude(rows, HeadsSettings(draws=400, layer=99, head=0))
    assert absent.figures["heads.asked.effect"].value is None
    with pytest.raises(NumbersError, match="layer and head: give both"):
        HeadsSettings(layer=3)


def test_families_are_never_cut_in_two() -> None:
    families = [f"{number % 7}" for number in range(40)]
    for seed in range(10):
        half = halves(families, seed)
        assert half is not None
        names = [
            {family for family, inside in zip(families, half, strict=True) if inside == side} for side in (True, False)
        ]
        assert not names[0] & names[1]
        assert abs(int(half.sum()) - 20) <= 6
    assert halves(["one"] * 5, 0) is None


def test_the_reporting_half_has_no_part_in_the_choice() -> None:
    rng = np.random.default_rng(7)
    effects, half = rng.normal(size=(20, 30)), np.arange(20) < 10
    other = effects.copy()
    other[~half] = rng.normal(size=(10, 30))
    one, two = held_out(effects, half), held_out(other, half)
    assert one is not None
    assert two is not None
    assert (one.head, one.chosen) == (two.head, two.chosen)
    assert one.effect == pytest.approx(effects[~half, one.head].mean())
    assert one.as_good == pytest.approx((effects[~half].mean(0) >= one.effect).sum() / 29 - 1 / 29)


def test_everything_is_there_for_a_report() -> None:
    finding = conclude(heads_rows(np.random.default_rng(0), noun={37: 0.25}))
    json.dumps({name: asdict(figure) for name, figure in finding.figures.items()}, allow_nan=False)
    for chart in finding.charts.values():
        _, axes = plt.subplots()
        chart.draw(axes)
        assert axes.get_xlabel()
        assert chart.searched
        plt.close()
    assert finding.tables["best"].searched
    assert len(finding.tables["best"].rows) == 12
    assert all(figure.says for figure in finding.figures.values())


def measured(model: Model, source: Path | None, limit: int, **settings: Any) -> tuple[list[Item], Rows]:
    options = HeadsSettings(draws=200, **settings)
    items = list(Heads().items(options, DataSource(source)))[:limit]
    rows = Heads().measure(model, items, options)
    return items, Rows({ITEM: item.id, **row} for item, row in zip(items, rows, strict=True))


def test_weights_are_those_of_the_rows_of_a_reading(smollm2: Model) -> None:
    items, rows = measured(smollm2, None, 2)
    for number, item in enumerate(sorted(items, key=lambda item: item.id)):
        pair = item.content
        for order, texts in enumerate((pair.texts, pair.other_order)):
            for version, text in enumerate(texts):
                reading = smollm2.read(text)
                nouns = [reading.find(candidate.removeprefix("the ")).tokens for candidate in pair.candidates]
                after = [token.index for token in reading.tokens if token.text == "."]
                for layer, head in ((0, 0), (16, 3), (29, 8)):
                    place = layer * 9 + head
                    found = rows["weights"][number, :, order, version, place]
                    word = reading.row("it", layer=layer, head=head).weights
                    stop = reading.map(layer, head)[after[0]]
                    expected = [[float(row[list(noun)].sum()) for noun in nouns] for row in (word, stop)]
                    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_head_that_looks_at_the_first_noun(smollm2: Model, tmp_path: Path) -> None:
    """Layer 16 head 3 leads by 0.50 with one noun order, and by -0.44 with the nouns exchanged."""
    path = tmp_path / "trophy.jsonl"
    texts = [f"The trophy did not fit in the suitcase because it was too {size}." for size in ("big", "small")]
    row = {"texts": texts, "word": "it", "candidates": ["the trophy", "the suitcase"], "answers": [0, 1]}
    path.write_text(json.dumps(row), encoding="utf-8")
    items, rows = measured(smollm2, path, 1)
    assert other_order(items[0].content, exchange=True) == tuple(
        text.replace("trophy", "X").replace("suitcase", "trophy").replace("X", "suitcase") for text in texts
    )
    lean = rows["weights"][0, 0, :, :, 16 * 9 + 3]
    np.testing.assert_allclose(lean[..., 0] - lean[..., 1], [[0.502] * 2, [-0.441] * 2], atol=2e-3)
    assert rows["exchanged"].tolist() == [True]
    finding = conclude(rows)
    assert finding.verdict == "cannot tell"
    assert value(finding, "versions_differ") <= 1e-5  # as the lab calls equal
    assert "under 6" in finding.sentence


def test_an_encoder_gives_two_rows(minilm: Model) -> None:
    items, rows = measured(minilm, None, 8)
    assert len(items) == 8
    assert rows["weights"].shape == (8, 2, 2, 2, 72, 2)
    finding = conclude(rows)
    assert value(finding, "versions_differ") > 0.001
    assert "heads.clue.at_word.p" in finding.figures


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"candidates": ["the cat", "the wolf"]}, "'the wolf' does not stand in its text word for word"),
        ({"settings": {"exchange": False}}, "the other noun order is not known, and its nouns cannot be exchanged"),
    ],
)
def test_why_a_pair_cannot_be_used(minilm: Model, tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    row = {
        "texts": ["The cat saw the dog as it ran.", "The cat saw the dog as it sat."],
        "word": "it",
        "candidates": ["the cat", "the dog"],
        "answers": [0, 1],
        "other_order": None,
    } | {name: value for name, value in changes.items() if name != "settings"}
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    _, rows = measured(minilm, path, 1, **changes.get("settings", {}))
    assert rows["left_out"].tolist() == [reason]
    assert np.isnan(rows["weights"]).all()


def test_a_blank_is_no_word_that_looks(minilm: Model, data_folder: Path) -> None:
    _, rows = measured(minilm, data_folder / "samples" / "winogrande.jsonl", 1)
    assert rows["left_out"].tolist() == ["its word is a blank"]


def test_lines_of_winobias_that_are_left_out_are_told_and_reported(
    minilm: Model, data_folder: Path, tmp_path: Path
) -> None:
    path = data_folder / "winobias" / "pro_stereotyped_type1.txt.dev"
    asked = Request("heads", {"heads": SETTINGS}, {"name": "minilm"}, data=path, limit=6, skip_bad=True)
    told: list[str] = []
    report = perform(RunPlace(asked, minilm, tmp_path / "report", note=told.append))
    assert report is not None
    reason = f"{path}, line 27: expected two brackets (a noun and its pronoun), found 3"
    assert told[0] == f"heads: 14 bad rows of the data left out, first {reason}"
    skipped = report.run["data"]["parts"]["heads"]["skipped_rows"]
    assert (skipped["count"], skipped["first"][0]) == (14, reason)
