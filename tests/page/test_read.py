"""Read: the numbers of the reader, the map, the steps, the heads and the odds are those of Python."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.reading.reading import Reading
from tests.page.conftest import Written
from tests.page.looking import (
    ROUNDED,
    eventually,
    go,
    looked_at,
    number_of,
    numbers,
    point_at_the_choice,
    table,
    units,
    whole,
)

HALF = 2.5e-4
"""What a weight that is carried in float16 may be off by."""

CAUSAL = np.tri(15, dtype=bool)


@pytest.fixture(scope="module")
def page(browser: Browser, trophy: Written[Reading]) -> Iterator[Page]:
    with looked_at(browser, trophy.path) as page:
        yield page


@pytest.mark.parametrize(("layer", "head"), [(16, 3), (0, 0), (29, 8), (18, 6), (16, None)])
@pytest.mark.parametrize("query", [0, 10, 14])
def test_each_token_of_a_row(page: Page, trophy: Written[Reading], layer: int, head: int | None, query: int) -> None:
    """Rows of some heads and of the mean, token by token; what lies ahead has no number."""
    row = whole(np.asarray(trophy.subject.map(layer, head))[query], CAUSAL[query])
    go(page, f"view=read&layer={layer}&head={'mean' if head is None else head}&query={query}&unit=tokens")

    def check() -> None:
        assert [text for text, _ in units(page)] == trophy.subject.tokens.labels
        np.testing.assert_allclose(numbers(page), row, rtol=0, atol=ROUNDED + HALF)

    eventually(page, check)


def test_words_their_sum_and_the_ordinary_share(page: Page, trophy: Written[Reading]) -> None:
    """A word gets the sum over its tokens; the sentence above says the row's sum and the ordinary share."""
    row = trophy.subject.row("it", layer=16, head=3)
    assert row.ordinary is not None
    go(page, "view=read&layer=16&head=3&query=10")

    def check() -> None:
        shown = dict(units(page))
        for word in ("The", "trophy", "suitcase", "because", "it"):
            assert number_of(shown[word] or "nan") == pytest.approx(row.share(word), abs=ROUNDED + 2 * HALF)
        assert shown["big"] is None
        assert shown["was"] is None

    eventually(page, check)
    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text("The row adds up to 1.000; an ordinary share of what “The” leaves is")
    assert number_of(sentence.inner_text().partition("leaves is")[2]) == pytest.approx(row.ordinary, abs=6e-4)
    expect(page.locator(".reader-below")).to_contain_text("4 later tokens cannot be seen")
    expect(page.locator(".reader-below")).to_contain_text("key-value head 1, shared with heads 4 and 5")


def test_a_word_of_two_tokens_looks_as_their_mean_or_as_its_last(page: Page, trophy: Written[Reading]) -> None:
    map_ = np.asarray(trophy.subject.map(16, 3))
    suit, case = trophy.subject.find("suitcase").tokens
    for rule, row in (("mean", map_[[suit, case]].mean(0)), ("last", map_[case])):
        go(page, f"view=read&layer=16&head=3&query={case}&rule={rule}")
        seen = [row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[suit] + row[case]]

        def check(seen: list[float] = seen) -> None:
            np.testing.assert_allclose(numbers(page)[:8], seen, rtol=0, atol=ROUNDED + 2 * HALF)

        eventually(page, check)
    expect(page.locator(".reader-below")).to_contain_text("that of the last of its 2 tokens")


def test_setting_the_first_token_apart_changes_no_number(page: Page) -> None:
    go(page, "view=read&layer=16&head=3&query=10")
    eventually(page, lambda: expect(page.locator(".word-first .word-number")).to_have_text("0.241"))
    bar = page.locator(".word-first .word-bar > span")
    before, sand = numbers(page), bar.get_attribute("style")
    page.get_by_role("switch").click()
    expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    np.testing.assert_array_equal(numbers(page), before)
    assert bar.get_attribute("style") != sand  # the colour alone: it is blue now, on the scale of the others
    page.get_by_role("switch").click()
    expect(page.locator(".reader-below")).to_contain_text("No number changes")


def test_the_four_steps_end_in_the_models_own_weights(page: Page, trophy: Written[Reading]) -> None:
    row = trophy.subject.row("it", layer=16, head=3, scores=True)
    assert row.scores is not None
    go(page, "view=read&layer=16&head=3&query=10&key=1")
    eventually(page, lambda: expect(page.locator(".steps-check")).to_be_visible())
    lines = table(page, ".steps-table")
    assert [line[0] for line in lines] == trophy.subject.tokens.labels[:11]
    scores = row.scores[:11]
    for name, column, expected, tolerance in (
        ("q·k", 1, scores * 8, 6e-3),
        ("score", 2, scores, 6e-3),
        ("exponential", 3, np.exp(scores - scores.max()), ROUNDED),
        ("weight", 4, row.weights[:11], ROUNDED),
    ):
        shown = np.array([number_of(line[column]) for line in lines])
        np.testing.assert_allclose(shown, expected, rtol=0, atol=tolerance, err_msg=name)
    check = page.locator(".steps-check")
    assert float(check.get_attribute("data-difference") or "nan") < 1e-5
    expect(page.locator(".four-steps")).to_contain_text("q · k of “it” and “trophy” is 33.75")


def test_the_steps_blend_the_models_own_values(page: Page, trophy: Written[Reading]) -> None:
    """The output of the head, worked in the browser, is the blend of the values that Python kept."""
    again = trophy.subject.reader.read_tokens(trophy.subject.tokens, layers=[16], values=True)  # type: ignore[union-attr]
    value = again.call(16).value
    assert value is not None
    expected = np.asarray(again.map(16, 3))[10] @ value[0, 1].double().numpy()
    go(page, "view=read&layer=16&head=3&query=10&key=1")
    numbers_of_output = page.locator("details", has_text="numbers of the output")
    numbers_of_output.locator("summary").click()
    shown = np.array([number_of(line[3]) for line in table(page, "details:has-text('numbers of the output') table")])
    np.testing.assert_allclose(shown, expected, rtol=0, atol=ROUNDED + 1e-5)


def test_the_cell_that_is_chosen_in_the_map(page: Page, trophy: Written[Reading]) -> None:
    weights = np.asarray(trophy.subject.map(16, 3))
    go(page, "view=read&layer=16&head=3&query=10&key=1")
    line = page.locator(".map-line")
    expect(line).to_contain_text("“it” (token 10) looks at “trophy” (token 1)")
    shown = number_of(line.inner_text().partition("weight")[2])
    assert shown == pytest.approx(float(weights[10, 1]), abs=5e-5 + HALF)
    go(page, "view=read&layer=16&head=3&query=3&key=9")
    expect(line).to_contain_text("may not look at “because” (token 9): it comes later")


@pytest.mark.parametrize(("query", "key"), [(10, 1), (14, 0), (13, 7)])
def test_the_crosshair_names_both_tokens_and_the_exact_weight(
    page: Page, trophy: Written[Reading], query: int, key: int
) -> None:
    weight = float(np.asarray(trophy.subject.map(16, 3))[query, key])
    labels = trophy.subject.tokens.labels
    go(page, f"view=read&layer=16&head=3&query={query}&key={key}")
    expect(page.locator(".map-line")).to_contain_text(f"(token {key})")
    point_at_the_choice(page)
    tip = page.locator(".map-tip")
    expect(tip).to_contain_text(f"“{labels[query]}” looks at “{labels[key]}”")
    expect(tip).to_contain_text("weight")
    shown = number_of(tip.locator(".map-tip-number").inner_text())
    assert shown == pytest.approx(weight, abs=5e-5 + HALF)
    page.mouse.move(5, 5)


def test_every_head_has_its_statistic(page: Page, trophy: Written[Reading]) -> None:
    """270 squares, each with the number that `stats` gives, for every statistic of the picker."""
    found = trophy.subject.stats()
    go(page, "view=read&layer=16&head=3&query=10")
    for name in page.locator("select[aria-label=statistic] option").evaluate_all("all => all.map(one => one.value)"):
        page.locator("select[aria-label=statistic]").first.select_option(name)

        def check(name: str = name) -> None:
            labels = page.locator(".statistics [role=gridcell]").evaluate_all("all => all.map(one => one.ariaLabel)")
            assert len(labels) == 270
            shown = np.array([number_of(label.partition(": ")[2]) for label in labels])
            expected = np.asarray(found[name], dtype=np.float64)
            assert labels[0].startswith("layer 0, head 0")
            assert labels[-1].startswith("layer 29, head 8")
            tolerance = np.where(np.abs(expected) >= 100, 0.5, np.where(np.abs(expected) >= 10, 0.05, 5e-4)) + 1e-5
            assert (np.abs(shown - expected) <= tolerance).all(), name

        eventually(page, check)


def test_the_odds_of_the_next_token(page: Page, trophy: Written[Reading]) -> None:
    expected = trophy.subject.next(5).candidates
    shown = page.locator(".odds li").all_inner_texts()
    for line, one in zip(shown[:5], expected, strict=True):
        assert number_of(line.split("%")[0].split()[-1]) == pytest.approx(100 * one.probability, abs=0.06)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_what_is_on_screen_is_saved_as_data(page: Page, trophy: Written[Reading], kind: str, tmp_path: Path) -> None:
    weights = whole(trophy.subject.map(16, 3), CAUSAL)
    go(page, "view=read&layer=16&head=3&query=10")
    expect(page.locator(".map-stage")).to_have_attribute("aria-busy", "false")
    with page.expect_download() as download:
        page.get_by_role("button", name=kind.upper(), exact=True).click()
    download.value.save_as(tmp_path / "saved")
    text = (tmp_path / "saved").read_text(encoding="utf-8")
    if kind == "csv":
        lines = list(csv.reader(io.StringIO(text)))
        assert lines[0][1:] == [line[0] for line in lines[1:]] == trophy.subject.tokens.labels
        saved = [[float(cell or "nan") for cell in line[1:]] for line in lines[1:]]
    else:
        found = json.loads(text)
        saved = [[np.nan if cell is None else cell for cell in line] for line in found["weights"]]
        assert found["not_numbers"] == []
    np.testing.assert_allclose(np.array(saved), weights, rtol=0, atol=HALF)


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_what_is_on_screen_is_saved_as_a_picture(page: Page, kind: str, begins: bytes, tmp_path: Path) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name=kind.upper(), exact=True).click()
    download.value.save_as(tmp_path / "saved")
    data = (tmp_path / "saved").read_bytes()
    assert data.startswith(begins) or begins in data[:200]
    assert download.value.suggested_filename == f"smollm2-self-layer-16-head-3.{kind}"
    if kind == "svg":
        assert "because" in data.decode("utf-8")
