"""The experiment `sink`: against whole maps, against NumPy, and on sinks that were planted and some that were not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from heedmap.lab.experiment import DataSource, Finding, Item
from heedmap.lab.rows import Rows
from heedmap.lab.sink import Sink, SinkSettings
from heedmap.lab.sink_measure import CONTROLS, sentence_and_controls
from heedmap.reading.loading import wrap
from heedmap.reading.model import Model
from tests.tiny import tiny_model

FEW = SinkSettings(draws=200)


def measured(model: Model, items: list[Item], settings: SinkSettings = FEW) -> list[dict[str, Any]]:
    return [dict(row) for row in Sink().measure(model, items, settings)]


def some_items(count: int) -> list[Item]:
    return list(Sink().items(FEW, DataSource()))[:count]


def eager_maps(model: Model, ids: list[int]) -> np.ndarray:
    """Every weight as transformers' eager attention gives it, [layer, head, query, key]."""
    module = model.module
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            found = module(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)), output_attentions=True)
    finally:
        module.set_attn_implementation(before)
    return torch.cat(found.attentions).numpy()


@pytest.fixture(scope="module")
def tiny_mistral(smollm2_tokenizer: Any) -> Model:
    """A small random model with windows of six tokens, and words that it takes from another one."""
    return wrap(tiny_model("mistral", vocab_size=len(smollm2_tokenizer)), smollm2_tokenizer)


def check_against_maps(model: Model, items: list[Item]) -> None:
    """Shares, their means and medians, and the even look, from whole maps."""
    for item, row in zip(items, measured(model, items), strict=True):
        ids = model.tokenize(item.content.text).ids
        maps = eager_maps(model, ids)
        shares = maps[:, :, 1:, 0]
        # Measured padded and by the fused kernel, the oracle alone and eagerly: float32 rounds both to about 1e-6.
        np.testing.assert_allclose(row["share"], shares.mean(1), atol=2e-5)
        np.testing.assert_allclose(row["head_mean"], shares.mean(-1), atol=2e-5)
        np.testing.assert_allclose(row["head_median"], np.median(shares, -1), atol=2e-5)
        allowed = maps[:, 0] > 0
        even = allowed[:, 1:, 0] / allowed[:, 1:].sum(-1)
        np.testing.assert_allclose(row["even"], even, atol=1e-6)
        assert row["positions"].tolist() == list(range(1, len(ids)))


def test_shares_are_those_of_whole_maps(minilm: Model, tiny_mistral: Model) -> None:
    check_against_maps(minilm, some_items(6))
    check_against_maps(tiny_mistral, some_items(6))


def test_controls_change_what_they_say(smollm2: Model) -> None:
    text = "The trophy did not fit."
    variants = sentence_and_controls(smollm2, text, None, "Perhaps", "By the way,")
    assert set(variants) == {"itself", *CONTROLS}
    spelled = {name: smollm2.tokenizer.decode(variant.ids) for name, variant in variants.items()}
    assert spelled["itself"] == text
    assert spelled["other"] == "Perhaps trophy did not fit."
    assert spelled["shifted"] == f"By the way, {text}"
    assert spelled["marker"].endswith(text)
    assert len(spelled["marker"]) > len(text)
    words = {name: smollm2.tokenizer.decode(variant.ids[variant.word]) for name, variant in variants.items()}
    assert words == {"itself": "The", "other": "Perhaps", "shifted": " The", "marker": "The"}


def test_an_encoder_loses_its_special_tokens_in_the_control(minilm: Model) -> None:
    variants = sentence_and_controls(minilm, "The trophy did not fit.", None, "Perhaps", "By the way,")
    words = {name: minilm.tokenizer.decode([variant.ids[variant.word]]) for name, variant in variants.items()}
    assert words == {"itself": "the", "other": "perhaps", "shifted": "the", "marker": "the"}
    assert variants["itself"].word == 1
    assert variants["marker"].word == 0


def test_controls_are_means_over_the_tokens_after_the_word(minilm: Model) -> None:
    items = some_items(3)
    rows = measured(minilm, items)
    for item, row in zip(items, rows, strict=True):
        variants = sentence_and_controls(minilm, item.content.text, None, FEW.other_word, FEW.before)
        for name in CONTROLS:
            variant = variants[name]
            maps = eager_maps(minilm, variant.ids).mean(1)[:, variant.word + 1 :]
            np.testing.assert_allclose(row[f"{name}.place"], maps[:, :, 0].mean(1), atol=2e-5)
            np.testing.assert_allclose(row[f"{name}.word"], maps[:, :, variant.word].mean(1), atol=2e-5)


def test_long_texts_count_at_a_few_positions(minilm: Model) -> None:
    row = measured(minilm, some_items(1), SinkSettings(positions=5, controls=False))[0]
    assert len(row["positions"]) == 5
    assert row["positions"][0] == 1
    assert row["positions"][-1] == row["tokens"] - 1
    assert not [name for name in row if name.startswith(CONTROLS)]


def planted(
    share: float, sentences: int = 20, positions: int = 12, *, place: float = 0.5, word: float = 0.1, seed: int = 0
) -> list[dict[str, Any]]:
    """Rows of a model of three layers and two heads whose share on the first token is known."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(sentences):
        shares = np.clip(share + random.normal(scale=0.03, size=(3, positions)), 0, 1).astype(np.float32)
        controls = {
            f"{control}.{key}": np.full(3, value + random.normal(scale=0.01), np.float32)
            for control in CONTROLS
            for key, value in (("place", place), ("word", word))
        }
        rows.append(
            {
                "item": f"s{number:02}",
                "family": "planted",
                "text": "planted",
                "layers": np.arange(3, dtype=np.int32),
                "positions": np.arange(1, positions + 1, dtype=np.int32),
                "tokens": positions + 1,
                "share": shares,
                "even": np.tile(1 / np.arange(2, positions + 2, dtype=np.float32), (3, 1)),
                "head_mean": np.stack([shares.mean(1)] * 2, 1),
                "head_median": np.stack([np.median(shares, 1)] * 2, 1),
                **controls,
            }
        )
    return rows


def conclude(rows: list[dict[str, Any]], **settings: Any) -> Finding:
    return Sink().conclude(Rows(rows), SinkSettings(**{"draws": 300, **settings}))


@pytest.mark.parametrize(("share", "verdict"), [(0.6, "sink"), (0.13, "no sink"), (0.268, "cannot tell")])
def test_planted_sinks_are_found_and_even_looks_are_not(share: float, verdict: str) -> None:
    """An even look gives the first of 2 to 13 tokens a median of 0.134, so a sink begins at 0.268."""
    assert conclude(planted(share)).verdict == verdict


@pytest.mark.parametrize(
    ("place", "word", "follows"), [(0.5, 0.1, "place"), (0.1, 0.5, "word"), (0.3, 0.3, "cannot tell")]
)
def test_place_and_word_are_told_apart(place: float, word: float, follows: str) -> None:
    finding = conclude(planted(0.6, place=place, word=word))
    assert finding.figures["sink.follows"].value == follows
    assert ("goes with the word" in finding.sentence) == (follows == "word")


def test_figures_are_those_of_numpy() -> None:
    rows = planted(0.4, sentences=7)
    figures = conclude(rows).figures
    shares = np.concatenate([row["share"] for row in rows], 1)
    assert figures["sink.median"].value == pytest.approx(np.median(shares), abs=1e-7)
    assert figures["sink.lower_quartile"].value == pytest.approx(np.quantile(shares, 0.25), abs=1e-7)
    assert figures["sink.median_of_layers"].value == pytest.approx(np.median(np.median(shares, 1)), abs=1e-7)
    assert figures["sink.layer2.upper_quartile"].value == pytest.approx(np.quantile(shares[2], 0.75), abs=1e-7)
    medians = np.median([row["head_median"] for row in rows], 0)
    assert figures["sink.layer1.head0.median"].value == pytest.approx(medians[1, 0], abs=1e-7)
    at = np.concatenate([row["positions"] for row in rows])
    assert figures["sink.curve.4_7"].value == pytest.approx(shares.mean(0)[(at >= 4) & (at < 8)].mean(), abs=1e-7)
    assert figures["sink.curve.1"].n == 7
    assert figures["sink.positions"].value == 84
    assert figures["sink.median"].n == 7


def test_intervals_come_from_sentences_and_not_from_positions() -> None:
    """The same sentences with every position ten times: more positions, no more sentences, the same interval."""
    rows = planted(0.4)
    for row, shift in zip(rows, np.linspace(-0.2, 0.2, len(rows)), strict=True):
        row["share"] = row["share"] + np.float32(shift)
    many = [{**row, **{name: np.repeat(row[name], 10, -1) for name in ("share", "even", "positions")}} for row in rows]
    one, ten = (conclude(them).figures["sink.median"].interval for them in (rows, many))
    assert one is not None
    assert ten is not None
    np.testing.assert_allclose(one, ten, atol=0.005)
    assert one[1] - one[0] > 0.05


def test_one_sentence_has_no_interval_and_no_verdict() -> None:
    finding = conclude(planted(0.6, sentences=1))
    assert finding.verdict == "cannot tell"
    assert finding.figures["sink.median"].interval is None


def test_sentences_of_one_token_and_rows_that_are_no_numbers_do_not_count() -> None:
    rows = planted(0.6)
    rows[0] = {**rows[0], **{name: rows[0][name][..., :0] for name in ("share", "even", "positions")}}
    rows[1]["share"][:, 2] = np.nan
    rows[2]["shifted.place"] = np.full(3, np.nan, np.float32)
    figures = conclude(rows).figures
    assert np.isfinite(figures["sink.median"].value)  # type: ignore[arg-type]
    assert figures["sink.shifted.difference"].n == 19


def test_smollm2_has_a_sink_in_the_first_place(smollm2: Model) -> None:
    items = some_items(3)
    rows = [{"item": item.id, **row} for item, row in zip(items, measured(smollm2, items), strict=True)]
    finding = conclude(rows)
    assert finding.verdict == "sink"
    assert finding.figures["sink.follows"].value == "place"
    for chart in finding.charts.values():
        assert chart.says
