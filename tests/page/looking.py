"""What stands on a page in Chromium, read off as a person would see it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from tests.browser import opened

Value = TypeVar("Value")

PATIENCE = 40.0
"""Seconds until a number that does not come counts as missing: a shared machine pauses at random."""

ROUNDED = 0.5e-3 + 1e-6
"""How far a number of three places may lie from what it was rounded from."""


@contextmanager
def looked_at(browser: Browser, path: Path, place: str = "", **options: Any) -> Iterator[Page]:
    """A file, opened from the disk with the network off."""
    with opened(browser, f"{path.as_uri()}{place}", alone=True, **options) as page:
        expect(page.locator(".heedmap .view")).to_be_visible()
        yield page


def go(page: Page, place: str) -> None:
    """Follow a link within the page: "view=heads&layer=3"."""
    page.evaluate("place => { location.hash = place; }", f"#{place}")
    view = next((part.removeprefix("view=") for part in place.split("&") if part.startswith("view=")), "read")
    expect(page.locator(f".view-{view}")).to_be_visible()


def eventually(page: Page, check: Callable[[], Value]) -> Value:
    """What a check returns once it holds: numbers are worked out in the background, and come when they come."""
    begun = time.monotonic()
    while True:
        try:
            return check()
        except (AssertionError, IndexError):  # what is not there yet has no first row either
            if time.monotonic() - begun > PATIENCE:
                raise
            page.wait_for_timeout(50)


def units(page: Page) -> list[tuple[str, str | None]]:
    """The words of the reader (or the tokens) in the order of the page, each with the number below it."""
    found: list[list[Any]] = page.locator(".words").last.evaluate(
        """list => [...list.querySelectorAll('[data-place]')].map((item) => [
          item.querySelector('.word-text').textContent, item.querySelector('.word-number')?.textContent ?? null])"""
    )
    return [(str(text), number) for text, number in found]


def numbers(page: Page) -> NDArray[np.float64]:
    """The numbers below the words; NaN where a word cannot be looked at."""
    return np.array([np.nan if number is None else number_of(number) for _, number in units(page)])


def number_of(text: str) -> float:
    """The first number in a text as the page writes it, with a true minus; NaN where there is none."""
    found = re.search(r"[-+]?\d+(\.\d+)?(e-?\d+)?", text.replace("\u2212", "-"))
    return float(found[0]) if found else np.nan


def table(page: Page, where: str) -> list[list[str]]:
    """The cells of a table's body, line by line."""
    found: list[list[str]] = page.locator(where).first.evaluate(
        "table => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    )
    return found


def colours(page: Page, where: str) -> NDArray[np.int64]:
    """The pixels of a canvas, [y, x, red green blue alpha]."""
    width, height, data = page.locator(where).first.evaluate(
        """canvas => {
          const { width, height } = canvas;
          return [width, height, [...canvas.getContext('2d').getImageData(0, 0, width, height).data]];
        }"""
    )
    return np.array(data, dtype=np.int64).reshape(height, width, 4)


def whole(weights: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights with NaN where nothing may be looked at."""
    return np.where(allowed, np.asarray(weights, dtype=np.float64), np.nan)


def canvas_place(page: Page) -> tuple[float, float]:
    """Where the chosen cell of the map is, in CSS pixels of its canvas: it wears a frame of the colour of a choice."""
    x, y = page.locator(".map-stage canvas").evaluate(
        """canvas => {
          const ratio = canvas.width / canvas.clientWidth;
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          let [left, top, right, bottom] = [Infinity, Infinity, -1, -1];
          for (let place = 0; place < data.length; place += 4) {
            if (data[place] !== 194 || data[place + 1] !== 65 || data[place + 2] !== 12) continue;
            const [x, y] = [(place / 4) % canvas.width, Math.floor(place / 4 / canvas.width)];
            [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
          }
          return [(left + right) / 2 / ratio, (top + bottom) / 2 / ratio];
        }"""
    )
    return x, y


def point_at_the_choice(page: Page) -> None:
    """Put the pointer on the chosen cell of the map."""
    stage = page.locator(".map-stage")
    expect(stage).to_have_attribute("aria-busy", "false")
    page.wait_for_timeout(100)  # the frame that draws the choice
    box = stage.bounding_box()
    assert box is not None
    x, y = canvas_place(page)
    page.mouse.move(box["x"] + x, box["y"] + y)
