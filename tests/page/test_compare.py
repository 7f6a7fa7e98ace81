"""Compare: two sentences word by word, the difference map, and where it must be zero."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.drawing.page.comparison import align_tokens
from heedmap.reading.reading import Reading
from tests.page.conftest import Written
from tests.page.looking import ROUNDED, eventually, go, looked_at, number_of

HALF = 2.5e-4
"""What a weight that is carried in float16 may be off by."""

Two = Written[tuple[Reading, Reading]]


@pytest.fixture(scope="module")
def page(browser: Browser, compared: Two) -> Iterator[Page]:
    with looked_at(browser, compared.path, "#view=compare&layer=16&head=3&query=13") as page:
        yield page


def pairs(page: Page) -> list[tuple[str, list[float]]]:
    """Each pair of words with what it gets in the first, in the second, and the difference."""
    found: list[list[list[str]]] = page.locator(".words .word[role]").evaluate_all(
        """all => all.map((one) => [[one.querySelector('.word-text').textContent],
          [...one.querySelectorAll('.word-number')].map((number) => number.textContent)])"""
    )
    return [(name[0], [number_of(number) for number in numbers]) for name, numbers in found]


def by_word(
    weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Fifteen tokens as fourteen words: "suit" and "case" are one."""
    return np.concatenate([weights[:7], [weights[7] + weights[8]], weights[9:]])


def test_the_changed_words_rows_side_by_side(page: Page, compared: Two) -> None:
    first, second = (by_word(np.asarray(one.map(16, 3), dtype=np.float64)[13]) for one in compared.subject)
    go(page, "view=compare&layer=16&head=3&query=13")

    def check() -> None:
        shown = pairs(page)
        assert [name for name, _ in shown][11:] == ["too", "bigsmall", "."]
        assert shown[13][1] == []  # nobody sees what comes later
        found = np.array([numbers for _, numbers in shown[:13]])
        np.testing.assert_allclose(found[:, 0], first[:13], rtol=0, atol=ROUNDED + 2 * HALF)
        np.testing.assert_allclose(found[:, 1], second[:13], rtol=0, atol=ROUNDED + 2 * HALF)
        np.testing.assert_allclose(found[:, 2], (second - first)[:13], rtol=0, atol=ROUNDED + 4 * HALF)

    eventually(page, check)


def test_the_largest_difference_is_found_and_the_rest_is_zero(page: Page, compared: Two) -> None:
    first, second = (np.asarray(one.map(16, 3), dtype=np.float64) for one in compared.subject)
    difference = second - first
    assert np.abs(difference[:13]).max() < 1e-6
    query, key = np.unravel_index(np.abs(difference).argmax(), difference.shape)
    go(page, "view=compare&layer=16&head=3&query=13")
    said = page.locator(".panel-said")
    expect(said).to_contain_text("Largest difference:")
    shown = number_of(said.locator("button .figures").first.inner_text())
    assert shown == pytest.approx(float(difference[query, key]), abs=ROUNDED + 2 * HALF)
    expect(said).to_contain_text("Before “big → small” nothing can differ; the largest difference found there is 0.000")
    expect(said).to_contain_text("The first 13 tokens are the same")
    said.locator("button").first.click()
    expect(page.locator(".map-line")).to_contain_text(f"(token {query})")
    expect(page.locator(".map-line")).to_contain_text(f"(token {key})")


def test_the_map_of_differences_is_the_difference_of_the_maps(page: Page, compared: Two, tmp_path: Path) -> None:
    first, second = (np.asarray(one.map(16, 3), dtype=np.float64) for one in compared.subject)
    go(page, "view=compare&layer=16&head=3&query=13")
    expect(page.locator(".map-stage")).to_have_attribute("aria-busy", "false")
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON", exact=True).click()
    download.value.save_as(tmp_path / "saved.json")
    found = json.loads((tmp_path / "saved.json").read_text(encoding="utf-8"))
    assert found["unit"] == "difference of weights"
    assert [one["label"] for one in found["queries"]][13] == "big → small"
    saved = np.array([[0 if cell is None else cell for cell in line] for line in found["weights"]])
    np.testing.assert_allclose(saved, second - first, rtol=0, atol=2 * HALF)


def test_two_heads_and_two_layers_of_one_text(page: Page, compared: Two) -> None:
    """Another head of the same text: every row may differ, and the page says so."""
    one = compared.subject[0]
    for against, place in (
        ("a&against-layer=16&against-head=4", (16, 4)),
        ("a&against-layer=15&against-head=3", (15, 3)),
    ):
        go(page, f"view=compare&reading=a&layer=16&head=3&query=10&against={against}")
        expected = by_word(np.asarray(one.map(*place), dtype=np.float64)[10])[:10]

        def check(expected: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = expected) -> None:
            found = np.array([numbers for _, numbers in pairs(page)[:10]])
            np.testing.assert_allclose(found[:, 1], expected, rtol=0, atol=ROUNDED + 2 * HALF)

        eventually(page, check)
        expect(page.locator(".panel-said")).to_contain_text("every row may differ")


def test_swapping_turns_the_signs(page: Page) -> None:
    go(page, "view=compare&reading=a&layer=16&head=3&query=13&against=b&against-layer=16&against-head=3")
    eventually(page, lambda: expect(page.locator(".panel-said button .figures").first).to_be_visible())
    before = page.locator(".panel-said button .figures").first.inner_text()
    page.get_by_role("button", name="swap").click()
    turned = before.replace("\u2212", "+") if before.startswith("\u2212") else before.replace("+", "\u2212")
    expect(page.locator(".panel-said button .figures").first).to_have_text(turned)


def test_two_texts_of_unequal_length(browser: Browser, uneven: Two) -> None:
    """What is stated is what is shown: sums, numbers of tokens, cells without a counterpart, the scale's end."""
    one, other = uneven.subject
    pairs_of = align_tokens(one.tokens, other.tokens)
    first, second = (np.asarray(side.map(16, 3), dtype=np.float64) for side in uneven.subject)
    row = {key: second[15, pair] - first[13, key] for key, pair in pairs_of if key is not None and pair is not None}
    largest = max(
        float(abs(second[query, key] - first[row, column]))
        for row, query in pairs_of
        for column, key in pairs_of
        if None not in (row, query, column, key)
    )
    with looked_at(browser, uneven.path, "#view=compare&layer=16&head=3&query=13") as page:
        line = page.locator(".map-line")
        expect(line).to_contain_text("“big → small” (token 13 → 15) can be compared at 14 places")
        said = number_of(line.inner_text().split("add up to")[1])
        assert said == pytest.approx(sum(row.values()), abs=len(row) * 2 * HALF)
        assert abs(said) > 0.01, "the rows themselves add up to 1, so that their difference would be 0"
        expect(page.locator(".map-stage")).to_have_attribute("aria-busy", "false")
        end = number_of(page.locator(".map-legend-tick").last.inner_text())
        assert end == pytest.approx(largest, abs=2 * HALF + 5e-3 * largest)
        expect(page.locator(".map-legend-marks")).to_contain_text("no counterpart in the other text")
        go(page, "view=compare&reading=b&layer=16&head=3&query=15&key=7&against=a&against-layer=16&against-head=3")
        expect(line).to_contain_text("“small → big” (token 15 → 13) beside “− old” (token 7 → –)")
        expect(line).to_contain_text("nothing to compare, a word of the first text alone")
