"""Roles: scores against whole maps, planted heads that are found and heads of noise that are not, and smollm2's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import heedmap
from heedmap.errors import OutOfRange, TextTooLong
from heedmap.lab.experiment import DataSource, Finding
from heedmap.lab.random_tokens import ordinary_ids, random_tokens
from heedmap.lab.registry import experiment
from heedmap.lab.roles import Roles, RolesSettings
from heedmap.lab.roles_conclude import conclude
from heedmap.lab.roles_measure import measure_sequence
from heedmap.lab.roles_names import CANNOT_TELL, INDUCTION, NO_INDUCTION, ROLES
from heedmap.lab.rows import Rows
from heedmap.reading.model import Model
from tests.families import tiny_family
from tests.lab.planted import HIGHEST, LOWEST, RUNS

HEADS = 12


@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_scores_are_those_of_the_whole_maps(name: str, request: pytest.FixtureRequest) -> None:
    model: Model = request.getfixturevalue(name)
    drawn = random_tokens(model, 6, 3)
    row = measure_sequence(model, drawn)
    rows = np.arange(drawn.second.start, drawn.second.stop)
    keys = {
        "previous": rows - 1,
        "first": np.zeros_like(rows),
        "self": rows,
        "duplicate": rows - 6,
        "induction": rows - 5,
    }
    for column, tokens in (("repeated", drawn.repeated), ("unrepeated", drawn.unrepeated)):
        reading = model.read_tokens(tokens)
        for place in (0, 17, len(row["layer"]) - 1):
            weights = np.asarray(reading.map(int(row["layer"][place]), int(row["head"][place])))
            expected = [weights[rows, keys[role]].mean() for role in ROLES]
            np.testing.assert_allclose(row[column][:, place], expected, atol=2e-6)
    if name == "smollm2":  # causal: the row of token i has i + 1 keys
        np.testing.assert_allclose(row["even"], np.mean(1 / (rows + 1)), rtol=1e-5)
    else:
        np.testing.assert_allclose(row["even"], 1 / len(drawn.repeated), rtol=1e-5)


def test_an_even_look_keeps_to_the_window(smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_family("mistral"), smollm2_tokenizer)  # a window of 6
    drawn = random_tokens_of_tiny(model)
    even = dict(zip(ROLES, measure_sequence(model, drawn)["even"], strict=True))
    np.testing.assert_allclose(even["previous"], 1 / 6, rtol=1e-5)
    np.testing.assert_allclose(even["duplicate"], 0, atol=1e-9)


def random_tokens_of_tiny(model: Model) -> Any:
    """Random tokens that a tiny vocabulary knows, ten before they repeat."""
    return random_tokens(model, 10, 0)


def test_sequences_are_made_of_ordinary_tokens_and_come_again(smollm2: Model, minilm: Model) -> None:
    for model, around in ((smollm2, 0), (minilm, 2)):
        drawn, again, other = (random_tokens(model, 8, number) for number in (1, 1, 2))
        assert drawn == again
        assert drawn.repeated.ids != other.repeated.ids
        assert len(drawn.repeated) == len(drawn.unrepeated) == 16 + around
        first = slice(drawn.start, drawn.start + 8)
        assert drawn.repeated.ids[first] == drawn.repeated.ids[drawn.second] == drawn.unrepeated.ids[first]
        assert len(set(drawn.unrepeated.ids)) == 16 + around
        special = {*model.tokenizer.all_special_ids, *model.tokenizer.get_added_vocab().values()}
        assert not special & set(ordinary_ids(model).tolist())
        assert sum(number in special for number in drawn.repeated.ids) == around
    assert random_tokens(minilm, 8, 1, special_tokens=False).start == 0


def test_too_many_tokens_are_refused(minilm: Model, smollm2_tokenizer: Any) -> None:
    with pytest.raises(TextTooLong, match=r"two times 300 random tokens are more than the model's 512 positions"):
        random_tokens(minilm, 300, 0)
    tiny = heedmap.wrap(tiny_family("llama"), smollm2_tokenizer)
    with pytest.raises(OutOfRange, match=r"has \d+ ordinary tokens, too few for 120 different ones"):
        random_tokens(tiny, 60, 0)


def rows_of(
    sequences: int, plant: Callable[[np.ndarray, np.ndarray, np.random.Generator], None], seed: int = 0
) -> Rows:
    """Rows of noise that goes with the sequence in all heads, repeated and not, and what is planted in them."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(sequences):
        common = rng.normal(0, 0.02)
        repeated, unrepeated = (
            np.clip(0.1 + common + rng.normal(0, 0.03, (len(ROLES), HEADS)), 0, 1) for _ in range(2)
        )
        plant(repeated, unrepeated, rng)
        rows.append(
            {
                "item": f"{number:03d}",
                "layer": np.repeat(np.arange(3), 4),
                "head": np.tile(np.arange(4), 3),
                "repeated": repeated,
                "unrepeated": unrepeated,
                "even": np.full((len(ROLES), HEADS), 0.05),
            }
        )
    return Rows(rows)


def test_a_planted_head_is_found_with_its_score() -> None:
    place, number = 6, list(ROLES).index("induction")

    def plant(repeated: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> None:
        repeated[number, place] = 0.8 + rng.normal(0, 0.02)

    finding = conclude(rows_of(20, plant), RolesSettings())
    assert finding.verdict == INDUCTION
    figures = finding.figures
    assert figures["roles.induction.best"].value == figures["roles.induction.chosen"].value == "layer 1 head 2"
    assert figures["roles.induction.best"].searched
    assert figures["roles.induction.score"].value == pytest.approx(0.8, abs=0.02)
    low, high = figures["roles.induction.score"].interval or (1, 0)
    assert 0.75 < low < 0.8 < high < 0.85
    assert figures["roles.induction.p"].value == pytest.approx(1 / 2001)
    assert figures["roles.duplicate.p"].value > 0.05  # type: ignore[operator]
    assert "There are induction heads: layer 1 head 2 gives 0.80 of its look" in finding.sentence


def test_a_head_that_looks_there_without_repetition_too_is_no_induction_head() -> None:
    def plant(repeated: np.ndarray, unrepeated: np.ndarray, rng: np.random.Generator) -> None:
        repeated[:, 3], unrepeated[:, 3] = rng.normal(0.8, 0.02, (2, len(ROLES)))

    finding = conclude(rows_of(20, plant, seed=4), RolesSettings())
    assert finding.figures["roles.induction.chosen"].value == "layer 0 head 3"
    assert finding.verdict == NO_INDUCTION
    assert "No head was found" in finding.sentence
    assert any("hardly changes it" in line for line in finding.shows)


def test_noise_is_called_induction_as_rarely_as_said() -> None:
    def nothing(*_: Any) -> None:
        """Plant nothing."""

    verdicts = [conclude_quickly(rows_of(12, nothing, seed)) for seed in range(RUNS)]
    assert LOWEST < verdicts.count(INDUCTION) / RUNS < HIGHEST


def conclude_quickly(rows: Rows) -> str:
    """The verdict alone, with few draws."""
    from heedmap.lab.permutation import best_head
    from heedmap.lab.roles_conclude import verdict_of

    number = list(ROLES).index("induction")
    return verdict_of(best_head(rows["repeated"][:, number] - rows["unrepeated"][:, number], draws=199), len(rows))


def test_few_sequences_cannot_tell() -> None:
    finding = conclude(rows_of(5, lambda repeated, *_: repeated.fill(0.9)), RolesSettings())
    assert finding.verdict == CANNOT_TELL
    assert finding.sentence.startswith("5 sequences are too few")


def test_the_report_says_what_was_found_and_what_was_not(tmp_path: Any) -> None:
    import matplotlib.pyplot as plt

    finding = conclude(rows_of(8, lambda *_: None), RolesSettings(draws=200))
    assert finding.verdict in Roles.verdicts
    assert len(finding.shows) == len(ROLES)
    assert any("does in real text" in line for line in finding.does_not_show)
    assert len(finding.tables["roles"].rows) == 25
    assert finding.tables["roles"].searched
    figure, axes = plt.subplots()
    finding.charts["roles"].draw(axes)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(ROLES)
    figure.savefig(tmp_path / "roles.png")
    plt.close(figure)


def run_all(model: Model, settings: RolesSettings) -> Finding:
    """The whole experiment without files."""
    roles = experiment("roles")
    items = roles.items(settings, DataSource())
    measured = zip(items, roles.measure(model, items, settings), strict=True)
    return roles.conclude(Rows({"item": item.id, **row} for item, row in measured), settings)


def test_a_short_run_of_smollm2_finds_its_known_heads(smollm2: Model) -> None:
    finding = run_all(smollm2, RolesSettings(sequences=6, length=25, draws=200))
    figures = finding.figures
    assert finding.verdict == INDUCTION
    assert figures["roles.induction.best"].value == "layer 18 head 6"
    assert 0.83 <= figures["roles.induction.layer18.head6"].value <= 0.92  # type: ignore[operator]
    assert figures["roles.previous.best"].value == "layer 16 head 0"
    assert figures["roles.previous.second"].value == "layer 11 head 1"


@pytest.mark.slow
def test_the_whole_run_of_smollm2(smollm2: Model) -> None:
    figures = run_all(smollm2, RolesSettings()).figures
    assert figures["roles.induction.best"].value == "layer 18 head 6"
    assert 0.83 <= figures["roles.induction.layer18.head6"].value <= 0.90  # type: ignore[operator]
    assert figures["roles.previous.best"].value == "layer 16 head 0"
    assert figures["roles.previous.second"].value == "layer 11 head 1"
    for name in ("layer16.head0", "layer11.head1"):
        assert 0.80 <= figures[f"roles.previous.{name}"].value <= 0.91  # type: ignore[operator]
