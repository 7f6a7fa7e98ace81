"""Whether a head matters: planted reasons are found and noise is not; effects against removals by a plain hook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import NumbersError, OutOfRange
from heedmap.lab.data import Pair
from heedmap.lab.experiment import DataSource
from heedmap.lab.matters import CANNOT_TELL, NO_REASON, REASON, Matters, MattersSettings, Task
from heedmap.lab.matters_conclude import conclude
from heedmap.lab.matters_measure import means_of, measure
from heedmap.lab.rows import Rows
from heedmap.reading.edits import remove
from heedmap.reading.model import Model
from tests.tiny import tiny_model

PAIR = Pair(
    "1",
    "f",
    (
        "The cup did not fit in the bag because it was too big.",
        "The cup did not fit in the bag because it was too small.",
    ),
    ("it", "it"),
    ("the cup", "the bag"),
    (0, 1),
)
LAYERS, HEADS = 4, 6


@pytest.fixture(scope="module")
def tiny(smollm2_tokenizer: Any) -> Model:
    """A tiny model of 3 layers and 4 heads that knows the real tokenizer's words."""
    return heedmap.wrap(tiny_model("llama", vocab_size=49152), smollm2_tokenizer)


def rows_of(
    pairs: int = 16, *, reason: int | None = None, pointing: int = 2, seed: int = 0, scattered: int = 4
) -> Rows:
    """Rows of noise in layer 2 of 4; one head may be a reason, one points at a noun."""
    rng = np.random.default_rng(seed)
    layer, head = np.repeat(np.arange(LAYERS), HEADS), np.tile(np.arange(HEADS), LAYERS)
    rows = []
    for number in range(pairs):
        effect = rng.normal(0, 0.05, (2, LAYERS * HEADS))
        if reason is not None:
            effect[:, 2 * HEADS + reason] += 0.4
        everywhere = number < scattered
        known = (layer == 2) | everywhere
        effect[:, ~known] = np.nan
        effect[1, layer != 2] = np.nan
        weights = rng.uniform(0, 0.1, (2, LAYERS * HEADS, 2))
        weights[:, 2 * HEADS + pointing, 0] = 0.8
        rows.append(
            {
                "item": f"{number:03d}",
                "layer": layer,
                "head": head,
                "middle": 2,
                "all_heads": everywhere,
                "odds": rng.normal(0.2, 0.5, 2),
                "effect": effect,
                "layer_effect": rng.normal(0.2, 0.3, 2),
                "direct": rng.normal(0, 0.1, (2, LAYERS * HEADS)),
                "no_direct": None,
                "word": weights,
                "last": weights,
            }
        )
    return Rows(rows)


def test_a_planted_reason_is_found() -> None:
    finding = conclude(rows_of(reason=3), MattersSettings(head=3, draws=300))
    assert finding.verdict == REASON
    assert finding.figures["matters.head"].value == "layer 2 head 3"
    assert finding.figures["matters.effect"].value == pytest.approx(0.4, abs=0.03)
    low, high = finding.figures["matters.effect"].interval or (1.0, 0.0)
    assert 0.35 < low < 0.4 < high < 0.45
    assert finding.figures["matters.rank"].value == 1
    assert finding.figures["matters.layer2.head3"].value == finding.figures["matters.effect"].value
    assert any("other heads may take over" in line for line in finding.does_not_show)


def test_the_head_that_points_most_is_tested_and_pointing_is_no_reason() -> None:
    finding = conclude(rows_of(reason=None, pointing=4), MattersSettings(draws=300))
    assert finding.figures["matters.head"].value == "layer 2 head 4"
    assert finding.verdict == NO_REASON
    finding = conclude(rows_of(reason=1, pointing=4), MattersSettings(draws=300))
    assert finding.verdict == NO_REASON, "another head of the layer is the reason"


def test_noise_is_seldom_called_a_reason() -> None:
    rows = (rows_of(10, seed=seed, scattered=0) for seed in range(40))
    verdicts = [conclude(one, MattersSettings(draws=100)).verdict for one in rows]
    # At most 2.5 percent of intervals lie above 0 by chance, and BCa of ten pairs is a little short.
    assert verdicts.count(REASON) <= 4


def test_rank_correlations_are_those_of_scipy() -> None:
    from scipy.stats import spearmanr

    rows = rows_of(reason=3)
    finding = conclude(rows, MattersSettings(draws=200))
    weights, effect = rows["word"][:4], rows["effect"][:4]
    pointing = np.abs(weights[..., 0] - weights[..., 1]).mean((0, 1))
    size = np.nanmean(np.nanmean(np.abs(effect), 1), 0)
    expected = spearmanr(pointing, size).statistic
    assert finding.figures["matters.correlation.word"].value == pytest.approx(expected)
    assert finding.figures["matters.largest"].value == "layer 2 head 3"


def test_too_few_pairs_cannot_tell_and_charts_are_drawn(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    assert conclude(rows_of(5, reason=3), MattersSettings(head=3, draws=100)).verdict == CANNOT_TELL
    finding = conclude(rows_of(8), MattersSettings(draws=100, by="zero"))
    assert any("off the distribution" in line for line in finding.does_not_show)
    assert len(finding.tables["layer"].rows) == HEADS
    for name, chart in finding.charts.items():
        figure, axes = plt.subplots()
        chart.draw(axes)
        figure.savefig(tmp_path / f"{name}.png")
        plt.close(figure)


def answer_odds(model: Model, text: str, hook: Any = None) -> float:
    """The log-odds of " cup" against " bag" after the question, with a hook before layer 1's output table."""
    ids = [model.tokenize(one).ids for one in (f"{text} What does 'it' refer to? Answer: the", " cup", " bag")]
    table = model.module.model.layers[1].self_attn.o_proj
    handle = table.register_forward_pre_hook(hook) if hook else None
    with torch.no_grad():
        logits = model.module(torch.tensor([ids[0]])).logits[0, -1].double()
    if handle:
        handle.remove()
    assert [len(one) for one in ids[1:]] == [1, 1]
    return float(logits[ids[1][0]] - logits[ids[2][0]])


def test_effects_are_those_of_a_plain_hook(tiny: Model) -> None:
    settings = MattersSettings(layer=1, by="zero")
    row = measure(tiny, Task(PAIR, all_heads=True), settings)
    assert row["middle"] == 1
    for version, (text, sign) in enumerate(zip(PAIR.texts, (1, -1), strict=True)):
        plain = sign * answer_odds(tiny, text)
        assert row["odds"][version] == pytest.approx(plain, abs=1e-4)
        for head in range(4):

            def change(_: Any, arguments: tuple[Any, ...], head: int = head) -> Any:
                joined = arguments[0].clone()
                joined[..., 16 * head : 16 * head + 16] = 0
                return (joined,)

            found = row["effect"][version, 4 + head]
            assert found == pytest.approx(plain - sign * answer_odds(tiny, text, change), abs=1e-4)
        nothing = plain - sign * answer_odds(tiny, text, lambda _, arguments: (torch.zeros_like(arguments[0]),))
        assert row["layer_effect"][version] == pytest.approx(nothing, abs=1e-4)
    assert not np.isnan(row["effect"][0]).any()
    assert np.isnan(row["effect"][1]).sum() == 8, "other layers' heads are taken away in the first version alone"
    reading = tiny.read(PAIR.texts[0])
    weights = reading.row("it", 2, 3).weights
    np.testing.assert_allclose(row["word"][0, 11], [weights[1], weights[7]], atol=1e-6)


@pytest.mark.parametrize("changed", [{"by": "mean"}, {"by": "text"}, {"edit": "forbid"}])
def test_every_way_to_take_a_head_away_changes_something(changed: dict[str, str], tiny: Model) -> None:
    row = measure(tiny, Task(PAIR, all_heads=False), MattersSettings(layer=1, **changed))  # type: ignore[arg-type]
    effects = row["effect"][:, 4:8]
    assert np.isfinite(effects).all()
    assert np.abs(effects).max() > 1e-4
    assert np.isnan(row["effect"][:, :4]).all()


def test_means_come_from_a_file_or_from_the_built_in_sentences(tiny: Model, tmp_path: Path) -> None:
    means = means_of(tiny, None)
    assert means.texts == 20
    assert means_of(tiny, None) is means
    means.save(tmp_path / "means")
    assert means_of(tiny, str(tmp_path / "means")).texts == 20


def test_items_are_spread_over_families_and_what_is_not_there_is_refused(tiny: Model) -> None:
    items = Matters().items(MattersSettings(), DataSource())
    chosen = [item.content for item in items if item.content.all_heads]
    assert len(chosen) == len({task.pair.family for task in chosen}) == 6
    with pytest.raises(OutOfRange, match=r"head 7 is out of range: layer 1 has 4 heads"):
        measure(tiny, Task(PAIR, False), MattersSettings(layer=1, head=7))
    with pytest.raises(OutOfRange, match=r"layer 9 is out of range"):
        measure(tiny, Task(PAIR, False), MattersSettings(layer=9))
    with pytest.raises(NumbersError, match=r"has something else in braces"):
        MattersSettings(wording="{noun}?")


def test_means_are_those_of_the_edited_model(tiny: Model) -> None:
    edited = tiny.edited(remove(0, 1, zero=True))
    plain, changed = means_of(tiny, None), means_of(edited, None)
    torch.testing.assert_close(plain.of(0, 0), changed.of(0, 0))
    assert not torch.allclose(plain.of(2, 0), changed.of(2, 0))
    assert means_of(edited, None) is changed
    assert means_of(tiny, None) is plain
