"""Heads: the small maps are exact, cell by cell, and every one of them leads to its head."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from heedmap.drawing.palette import BLUE, SAND, shade
from heedmap.reading.reading import Reading
from tests.page.conftest import Written
from tests.page.looking import colours, eventually, go, looked_at

SHADES = 1024
"""Steps of the page's colour tables: half a step, and half a level of a channel, is what a pixel may be off."""


@pytest.fixture(scope="module")
def page(browser: Browser, trophy: Written[Reading]) -> Iterator[Page]:
    with looked_at(browser, trophy.path, "#view=heads&layer=16&head=3") as page:
        yield page


def expected_pixels(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A map in Python's own palette: sand up to 1 for the first token, blue up to the largest of the others."""
    pixels = shade(weights / weights[:, 1:].max(), BLUE)
    pixels[:, 0] = shade(weights[:, 0], SAND)
    return 255 * pixels


@pytest.mark.parametrize("head", [0, 3, 8, None])
def test_a_small_map_is_exact(page: Page, trophy: Written[Reading], head: int | None) -> None:
    weights = np.asarray(trophy.subject.map(16, head), dtype=np.float64)
    name = "mean" if head is None else f"head {head}"
    canvas = f".panel-layer .head-map:has(.head-caption:text('{name}')) canvas"

    def check() -> None:
        pixels = colours(page, canvas)
        assert pixels.shape == (15, 15, 4)
        allowed = np.tri(15, dtype=bool)
        assert (pixels[..., 3] == np.where(allowed, 255, 0)).all()  # what may not be looked at is blank, not pale
        # float16 is off by 2.4e-4 at most: less than a step of the table, over which a channel moves by less than 1.
        difference = np.abs(pixels[..., :3] - expected_pixels(weights))[allowed]
        assert difference.max() <= 1.5

    eventually(page, check)


def test_heads_are_bracketed_by_the_key_value_head_that_they_share(page: Page) -> None:
    groups = page.locator(".panel-layer .head-group")
    expect(groups).to_have_count(4)  # three groups, and the mean
    for number in range(3):
        group = page.get_by_role("group", name=f"layer 16, key-value head {number}").first
        expect(group).to_contain_text(f"kv {number}")
        names = group.locator(".head-caption").all_inner_texts()
        assert [f"head {head}" in name for head, name in zip(range(3 * number, 3 * number + 3), names, strict=True)]


def test_a_small_map_leads_to_its_head(page: Page) -> None:
    go(page, "view=heads&layer=16&head=3")
    page.get_by_role("button", name="head 5").first.click()
    expect(page.locator(".view-read")).to_be_visible()
    assert "head=5" in page.url
    expect(page.locator(".sentence select[aria-label=head]")).to_have_value("5")


def test_a_square_leads_to_its_head(page: Page) -> None:
    go(page, "view=heads&layer=16&head=3")
    page.get_by_role("gridcell", name="layer 18, head 6:").click()
    expect(page.get_by_role("heading", name="The heads of layer 18")).to_be_visible()
    page.get_by_role("button", name="Read layer 18, head 6").click()
    expect(page.locator(".view-read")).to_be_visible()
    assert "layer=18&head=6" in page.url


def test_all_layers_have_their_maps(page: Page) -> None:
    go(page, "view=heads&layer=16&head=3")
    expect(page.locator(".layer-line")).to_have_count(30)
    last = page.locator(".layer-line").last
    last.scroll_into_view_if_needed()
    expect(last.locator("canvas")).to_have_count(9)
    eventually(page, lambda: drawn(page))


def drawn(page: Page) -> None:
    widths = page.locator(".layer-line").last.locator("canvas").evaluate_all("all => all.map(one => one.width)")
    assert widths == [15] * 9
