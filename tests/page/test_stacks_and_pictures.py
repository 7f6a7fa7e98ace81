"""Encoder-decoders and pictures: each stack's own tokens and rows, and patches in their places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.reading.picture_reading import PictureReading
from heedmap.reading.reading import Reading
from heedmap.reading.two_stacks import EncoderDecoderReading
from tests.page.conftest import Written
from tests.page.looking import ROUNDED, eventually, go, looked_at, number_of, numbers, units

HALF = 2.5e-4
"""What a weight that is carried in float16 may be off by."""


@pytest.fixture(scope="module")
def stacks(browser: Browser, two_stacks: Written[EncoderDecoderReading]) -> Iterator[Page]:
    with looked_at(browser, two_stacks.path) as page:
        yield page


@pytest.mark.parametrize(("reading", "stack"), [("cross", "cross"), ("self", "decoder"), ("encoder", "encoder")])
def test_each_stack_looks_at_its_own_tokens(
    stacks: Page, two_stacks: Written[EncoderDecoderReading], reading: str, stack: str
) -> None:
    subject = two_stacks.subject.stack(stack)
    keys = subject.tokens if subject.keys is None else subject.keys
    for query in (0, 2):
        row = np.asarray(subject.map(1, 0), dtype=np.float64)[query]
        row = row[: query + 1] if stack == "decoder" else row
        go(stacks, f"view=read&reading={reading}&layer=1&head=0&query={query}&unit=tokens")

        def check(row: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = row) -> None:
            assert [text for text, _ in units(stacks)] == keys.labels
            shown = numbers(stacks)
            np.testing.assert_allclose(shown[: len(row)], row, rtol=0, atol=ROUNDED + HALF)
            assert np.isnan(shown[len(row) :]).all()

        eventually(stacks, check)


def test_the_target_that_looks_and_the_source_that_is_looked_at(
    stacks: Page, two_stacks: Written[EncoderDecoderReading]
) -> None:
    go(stacks, "view=read&reading=cross&layer=1&head=0&query=2&unit=tokens")
    expect(stacks.locator(".words")).to_have_count(2)
    asking = stacks.get_by_label("Tokens that look")
    expect(asking.get_by_role("option")).to_have_count(len(two_stacks.subject.target))
    expect(stacks.get_by_label("Tokens that are looked at").get_by_role("listitem")).to_have_count(
        len(two_stacks.subject.source)
    )
    asking.get_by_role("option").nth(1).click()
    assert "query=1" in stacks.url


def test_the_steps_of_cross_attention_end_in_the_models_own_weights(stacks: Page) -> None:
    go(stacks, "view=read&reading=cross&layer=1&head=0&query=2")
    check = stacks.locator(".steps-check")
    eventually(stacks, lambda: expect(check).to_be_visible())
    assert float(check.get_attribute("data-difference") or "nan") < 1e-5


def shaded(page: Page) -> list[tuple[str, float]]:
    """The patches of the right-hand picture with their weights, row by row."""
    labels: list[str] = (
        page.get_by_role("grid", name="Where it looks")
        .get_by_role("gridcell")
        .evaluate_all("all => all.map((one) => one.ariaLabel)")
    )
    return [(name, number_of(number)) for name, _, number in (label.rpartition(", ") for label in labels)]


@pytest.mark.parametrize("kind", ["patches", "picture_in_text"])
def test_patches_stand_in_their_places(browser: Browser, request: pytest.FixtureRequest, kind: str) -> None:
    """The picture, a patch for a patch, shaded by the row of the chosen token."""
    written: Written[PictureReading] = request.getfixturevalue(kind)
    stack = "vision" if kind == "patches" else "text"
    reading: Reading = written.subject.stack(stack)
    places = written.subject.places[stack]
    word = "r1c2" if kind == "patches" else "dog"
    query = reading.find(word).tokens[0]
    row = np.asarray(reading.map(0, 1), dtype=np.float64)[query]
    with looked_at(browser, written.path, "#unit=tokens") as page:
        expect(page.locator(".patches img").first).to_be_visible()

        def check() -> None:
            found = shaded(page)
            assert [name for name, _ in found] == [f"r{y}c{x}" for y, x in np.ndindex(places.shape)]
            weights = np.array([weight for _, weight in found]).reshape(places.shape)
            np.testing.assert_allclose(weights, row[places], rtol=0, atol=ROUNDED + HALF)

        eventually(page, check)
        natural = page.locator(".patches img").first.evaluate("one => [one.naturalHeight, one.naturalWidth]")
        assert natural == list(written.subject.picture.shape[:2])
        if kind == "patches":
            page.get_by_role("grid", name="The patches of the picture").get_by_role("gridcell", name="r3c0").click()
            assert f"query={reading.find('r3c0').tokens[0]}" in page.url
