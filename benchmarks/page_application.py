"""The local application beside the file: first paint, a row, and tiles of 8,192 tokens from the server."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, Request

from benchmarks.page_browser import Frames, map_frames

SENTENCE = "The trophy did not fit in the suitcase because it was too big."

LIMIT = 600_000
"""Milliseconds for a reading of 8,192 tokens on a busy machine."""


@contextmanager
def running() -> Iterator[str]:
    """The address of an application with a state of its own."""
    with tempfile.TemporaryDirectory() as state:
        command = [sys.executable, "-m", "heedmap", "serve", "--no-open"]
        environment = {**os.environ, "XDG_STATE_HOME": state}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, text=True, env=environment, **pipes)
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/")
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def measured(browser: Browser, long_text: str, repeats: int) -> dict[str, str]:
    """What was measured, by its name in the table."""
    with running() as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(LIMIT)
        paint = statistics.median(_first_paint(page, address) for _ in range(repeats))
        page.goto(f"{address}/read")
        _read(page, SENTENCE)
        page.wait_for_selector(".word-number")
        row = statistics.median(_row(page, head) for head in range(1, 8))
        ready, tiles, frames = _long(page, long_text)
        page.close()
    return {
        "first paint": f"{paint:.0f} ms",
        "a row of a sentence of 15 tokens, model loaded": f"{row:.0f} ms",
        "8,192 tokens: from the words to the map": f"{ready:.0f} ms",
        "8,192 tokens: a tile from the server (median)": f"{tiles:.0f} ms",
        "8,192 tokens: frames a second while panning": str(frames),
    }


def _first_paint(page: Page, address: str) -> float:
    """Milliseconds from the request to the first content on screen."""
    page.goto("about:blank")
    page.goto(f"{address}/read")
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    return float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


def _read(page: Page, text: str) -> None:
    page.get_by_label("Text").fill(text)
    page.get_by_role("button", name="Read", exact=True).click()


_ROW = """async (head) => {
  const select = document.querySelector('.sentence select[aria-label=head]');
  const shown = () => [...document.querySelectorAll('.word-number')].map((one) => one.textContent).join();
  const before = shown();
  const begun = performance.now();
  select.value = String(head);
  select.dispatchEvent(new Event('change', { bubbles: true }));
  while (shown() === before) await new Promise((resolve) => setTimeout(resolve, 2));
  return performance.now() - begun;
}"""


def _row(page: Page, head: int) -> float:
    """Milliseconds from choosing another head to its numbers."""
    return float(page.evaluate(_ROW, head))


def _long(page: Page, text: str) -> tuple[float, float, Frames]:
    """From the words of a reading until its map is there, one tile's answer, and frames while the map is dragged."""
    tiles: list[float] = []

    def finished(request: Request) -> None:
        if "/tile?" in request.url:
            tiles.append(request.timing["responseEnd"])

    page.on("requestfinished", finished)
    _read(page, text)
    page.wait_for_selector(".words-long")
    begun = time.perf_counter()
    page.wait_for_selector(".map-stage[aria-busy=false]")
    ready = 1000 * (time.perf_counter() - begun)
    frames = map_frames(page, drag=True, steps=20)
    page.wait_for_selector(".map-stage[aria-busy=false]")
    return ready, statistics.median(tiles), frames
