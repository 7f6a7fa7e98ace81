"""By hand and About: the worked examples are Python's, every number can be edited, and the page says what it carries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.reading.reading import Reading
from tests.drawing.page.decoding import header_and_blocks
from tests.page.conftest import Written
from tests.page.looking import go, looked_at


@pytest.fixture(scope="module")
def page(browser: Browser, trophy: Written[Reading]) -> Iterator[Page]:
    with looked_at(browser, trophy.path, "#view=hand") as page:
        yield page


def test_the_page_says_what_it_carries(page: Page, trophy: Written[Reading]) -> None:
    go(page, "view=about")
    header, _ = header_and_blocks(trophy.path.read_text(encoding="utf-8"))
    reading = header["readings"][0]
    about = page.locator(".about")
    for note in reading["notes"]:
        expect(about.locator(".about-notes")).to_contain_text(note)
    expect(about.locator(".facts").first).to_contain_text(str(reading["model"]["sha256"]))
    lines = about.locator("table tbody tr")
    layer = lines.filter(has=page.locator("th", has_text="16"))
    expect(layer).to_contain_text("unfold")
    worst = next(one["worst"] for one in reading["layers"] if one["number"] == 16)
    expect(layer).to_contain_text(f"{worst:.2g}".rstrip("0").replace("e-0", "e-"))
    expect(about).to_contain_text(f"Written by Heedmap {header['version']}, as heedmap/page/1")
