"""Pictures of the page for the documents, taken in Chromium from pages written now."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect
from tests.browser import chromium, opened

import heedmap

IMAGES = Path(__file__).parent / "images"

TROPHY = "The trophy did not fit in the suitcase because it was too big."


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture.

    Attributes:
        name: of the file, without its suffix.
        page: which page.
        place: the view, as it stands in the address.
        height: of the window, in CSS pixels; 1280 wide.
        scheme: "light" or "dark".
    """

    name: str
    page: str
    place: str
    height: int
    scheme: str = "light"


SHOTS = (
    Shot("page-read", "trophy", "view=read&layer=16&head=3&query=10&key=1", 1000),
    Shot("page-dark", "trophy", "view=read&layer=16&head=3&query=8&key=4", 1000, "dark"),
    Shot("page-heads", "trophy", "view=heads&layer=16&head=3", 900),
    Shot("page-compare", "compared", "view=compare&layer=16&head=3&query=13", 980),
)


def take(browser: Browser, folder: Path) -> list[Path]:
    """Write all pictures into a folder; the pages are not kept."""
    model = heedmap.load("smollm2")
    reading = model.read(TROPHY)
    other = model.read(TROPHY.replace("big", "small"))
    with tempfile.TemporaryDirectory() as name:
        pages = {page: Path(name) / f"{page}.html" for page in ("trophy", "compared")}
        reading.page(pages["trophy"], word="it", layer=16, head=3, steps=16)
        reading.page(pages["compared"], word="big", layer=16, head=3, layers=[15, 16, 17], compare=other)
        return [_picture(browser, pages[shot.page], shot, folder) for shot in SHOTS]


def _picture(browser: Browser, page: Path, shot: Shot, folder: Path) -> Path:
    """One picture, when all that it shows is there."""
    path = folder / f"{shot.name}.png"
    size = {"width": 1280, "height": shot.height}
    options: dict[str, Any] = {"viewport": size, "color_scheme": shot.scheme, "reduced_motion": "reduce"}
    with opened(browser, f"{page.as_uri()}#{shot.place}", alone=True, **options) as shown:
        expect(shown.locator(".heedmap .view")).to_be_visible()
        expect(shown.locator("[aria-busy=true]")).to_have_count(0)
        shown.wait_for_function(
            "() => [...document.querySelectorAll('.tiny-map')].every((one) => one.width > 1"
            " || one.getBoundingClientRect().top > innerHeight)"
        )
        shown.wait_for_timeout(500)  # the frame in which it is drawn
        shown.screenshot(path=path)
    return path


def write() -> None:
    """Take the pictures of the documents."""
    IMAGES.mkdir(exist_ok=True)
    with chromium() as browser:
        take(browser, IMAGES)


if __name__ == "__main__":
    write()
