"""Dilution: known curves are found, prompts are built as said, shares are those of whole maps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedmap
from heedmap.errors import NumbersError
from heedmap.lab.dilution import CANNOT_TELL, DILUTED, NOT_DILUTED, Dilution, DilutionSettings, Hidden
from heedmap.lab.dilution_conclude import conclude
from heedmap.lab.dilution_measure import fact_and_question, measure
from heedmap.lab.experiment import DataSource
from heedmap.lab.rows import Rows
from heedmap.reading.model import Model
from tests.tiny import tiny_model

AMOUNTS = (0, 100, 1000)


def rows_of(*, facts: int = 10, lost: float = 2.0, helps: float = 3.0, seed: int = 0) -> Rows:
    """Rows in which the share goes with the length to the power of -0.5, and odds fall by so much a tenfold length."""
    rng = np.random.default_rng(seed)
    rows = []
    for fact in range(facts):
        for amount in AMOUNTS:
            tokens = 20 + amount
            share = np.full((2, 3), 0.5 * tokens**-0.5) * rng.uniform(0.9, 1.1, (2, 3))
            share[1, 2] *= 3
            without = rng.normal(0, 0.3)
            odds = without + helps - lost * np.log10(tokens / 20) + rng.normal(0, 0.2)
            rows.append(
                {
                    "item": f"{fact:02d}-{amount:05d}",
                    "fact": fact,
                    "amount": amount,
                    "tokens": tokens,
                    "share": share,
                    "layers": np.array([4, 7]),
                    "even": 8 / tokens,
                    "odds": odds,
                    "odds_without": without,
                }
            )
    return Rows(rows)


def test_a_known_dilution_is_found_with_its_powers() -> None:
    finding = conclude(rows_of(), DilutionSettings(draws=300))
    figures = finding.figures
    assert finding.verdict == DILUTED
    assert figures["dilution.head"].value == "layer 7 head 2"
    assert figures["dilution.share_slope"].value == pytest.approx(-0.5, abs=0.03)
    assert figures["dilution.odds_slope"].value == pytest.approx(-2, abs=0.3)
    assert figures["dilution.amount0.gain"].value == pytest.approx(3, abs=0.3)
    assert figures["dilution.amount100.best"].n == 5, "the chosen head is measured on the facts it was not chosen on"


def test_odds_that_stay_are_not_called_diluted() -> None:
    assert conclude(rows_of(lost=0), DilutionSettings(draws=300)).verdict == NOT_DILUTED
    finding = conclude(rows_of(lost=-1), DilutionSettings(draws=300))
    assert finding.verdict == NOT_DILUTED
    assert re.search(
        r"the answer gains \d\.\d\d nats of log-odds \(95 percent: \d\.\d\d to \d\.\d\d\)", finding.sentence
    )


def test_a_fact_that_does_not_help_cannot_tell(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    assert conclude(rows_of(helps=0), DilutionSettings(draws=300)).verdict == CANNOT_TELL
    finding = conclude(rows_of(facts=4), DilutionSettings(draws=300))
    assert finding.verdict == CANNOT_TELL
    figure, axes = plt.subplots()
    finding.charts["curve"].draw(axes)
    figure.savefig(tmp_path / "curve.png")
    plt.close(figure)


def test_shares_are_those_of_the_map_and_the_fact_gives_the_odds(smollm2: Model) -> None:
    settings = DilutionSettings(place="middle")
    filler = ("The sun was low.", "A dog ran by.", "It rained.")
    row = measure(smollm2, Hidden(0, 8, filler), settings)
    fact, question = fact_and_question(0)
    text = f"The sun was low. {fact} A dog ran by.{question}"
    reading = smollm2.read(text, layers=[12])
    last = len(reading.tokens) - 1
    start = text.index(fact)
    span = list(reading.tokens.covering(start, start + len(fact)))
    for head in (0, 5):
        assert row["share"][12, head] == pytest.approx(reading.map(12, head)[last][span].sum(), abs=1e-5)
    assert row["tokens"] == last + 1
    assert row["even"] == pytest.approx(len(span) / (last + 1))
    assert row["odds"] > row["odds_without"] + 1


@pytest.mark.parametrize("place", ["begin", "middle", "end"])
@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3_text", "bert"])
def test_an_even_look_is_even_over_what_each_layer_allows(family: str, place: str, smollm2_tokenizer: Any) -> None:
    """In a layer with a sliding window of 4 or so the fact is mostly out of sight."""
    module = tiny_model(family, vocab_size=len(smollm2_tokenizer), max_position_embeddings=64)
    model = heedmap.wrap(module, smollm2_tokenizer)
    row = measure(model, Hidden(0, 8, ("The sun was low.", "A dog ran by.")), DilutionSettings(place=place))
    fact, question = fact_and_question(0)
    first, second = " The sun was low. A dog ran by.", ""
    before, after = {"begin": ("", first), "end": (first[1:] + " ", second)}.get(
        place, ("The sun was low. ", " A dog ran by.")
    )
    reading = model.read(f"{before}{fact}{after}{question}")
    assert row["tokens"] == len(reading.tokens)
    span = list(reading.tokens.covering(len(before), len(before) + len(fact)))
    allowed = [reading.map(layer, 0).allowed()[-1] for layer in range(len(model.layers))]
    assert row["even"] == pytest.approx(np.mean([one[span].sum() / one.sum() for one in allowed]))
    windowed = any(not one.all() for one in allowed)
    assert windowed == (family in ("mistral", "gemma3_text"))
    if family == "mistral" and place == "begin":
        assert row["even"] == 0


def test_the_power_of_an_even_look_is_told_where_it_has_one() -> None:
    rows = rows_of()
    assert "an even look's with -1" in conclude(rows, DilutionSettings(draws=300)).shows[-1]
    windowed = [{**row, "even": 0.0 if row["amount"] > 100 else row["even"]} for row in rows._table.to_pylist()]
    windowed = [{**row, "share": np.array(row["share"]), "layers": np.array(row["layers"])} for row in windowed]
    assert "even look" not in conclude(Rows(windowed), DilutionSettings(draws=300)).shows[-1]


def test_an_encoder_gives_shares_and_no_odds(minilm: Model) -> None:
    row = measure(minilm, Hidden(1, 10, ("It rained all day.",)), DilutionSettings())
    assert np.isnan(row["odds"])
    assert row["share"].shape == (6, 12)


def test_items_hold_every_fact_in_every_amount() -> None:
    items = Dilution().items(DilutionSettings(facts=3, amounts=(0, 64)), DataSource())
    assert [item.id for item in items][:2] == ["fact-00-0000000", "fact-00-0000064"]
    assert len(items) == 6
    assert items[0].content.filler == items[1].content.filler != items[2].content.filler
    with pytest.raises(NumbersError, match=r"amounts: expected two different ones"):
        DilutionSettings(amounts=(5, 5))
    with pytest.raises(NumbersError, match=r"facts: expected 12 at most"):
        DilutionSettings(facts=13)
