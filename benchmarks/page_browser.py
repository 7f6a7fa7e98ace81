"""What a page costs in Chromium: how long until there is a picture, and how many frames a second it keeps."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page

FRAMES = (Path(__file__).parents[1] / "viewer" / "bench" / "frames.js").read_text(encoding="utf-8")
"""A function of our own map: moves over it, or drags it, and counts frames."""

PATIENCE = 180_000
"""Milliseconds until something that does not appear counts as blank."""

_WATCH = """(ready) => {
  const look = () => {
    if (eval(ready)) window.heedmapReady = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

HOVER = """(picture, index) => {
  const box = document.querySelector(picture).getBoundingClientRect();
  const place = {
    clientX: Math.max(0, box.left) + Math.min(box.width, innerWidth) * (0.5 + 0.4 * Math.sin(index / 25)),
    clientY: Math.max(0, box.top) + Math.min(box.height, innerHeight) * (0.5 + 0.4 * Math.cos(index / 36)),
    bubbles: true,
  };
  const now = document.elementFromPoint(place.clientX, place.clientY);
  if (now !== window.under) {
    window.under?.dispatchEvent(new MouseEvent('mouseout', place));
    now?.dispatchEvent(new MouseEvent('mouseover', place));
    window.under = now;
  }
  now?.dispatchEvent(new MouseEvent('mousemove', place));
}"""
"""One step of a pointer over a picture, which tells whatever lies below it."""

PRESS = """(button, index) => document.querySelector(button).click()"""
"""One press of a button."""

_COUNTED = """async ({ step, at, frames }) => {
  const act = eval(step);
  const times = [];
  let last = performance.now();
  for (let index = 0; index < frames; index++) {
    act(at, index);
    await new Promise((resolve) => requestAnimationFrame(resolve));
    times.push(performance.now() - last);
    last = performance.now();
  }
  return { perSecond: (1000 * frames) / times.reduce((sum, time) => sum + time, 0), slowest: Math.max(...times) };
}"""


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames a second, and the longest pause between two of them in milliseconds."""

    per_second: float
    slowest: float

    def __str__(self) -> str:
        return f"{self.per_second:.0f} (longest pause {self.slowest:.0f} ms)"


Served = Callable[[BrowserContext], None]
"""What a context is given before a page opens, such as scripts that stand for those of a CDN."""


@contextmanager
def opened(browser: Browser, address: str, ready: str, served: Served | None = None) -> Iterator[Page]:
    """A page in a context of its own, whose `heedmapReady` is when an expression first held; no network."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=served is None, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    if served is not None:
        served(context)
    context.add_init_script(f"({_WATCH})({ready!r})")
    page = context.new_page()
    page.goto(address, wait_until="commit")
    yield page
    context.close()


def first_picture(
    browser: Browser, address: str, ready: str, repeats: int, served: Served | None = None, patience: int = PATIENCE
) -> float | None:
    """Median seconds from opening to the first frame in which an expression holds; None where it never does."""
    found = []
    for _ in range(repeats):
        with opened(browser, address, ready, served) as page:
            try:
                page.wait_for_function("() => window.heedmapReady !== undefined", timeout=patience)
            except Error:
                return None
            found.append(float(page.evaluate("window.heedmapReady")) / 1000)
    return statistics.median(found)


def map_frames(page: Page, *, drag: bool, steps: int = 0, frames: int = 150) -> Frames:
    """Frames while our own map is dragged, or the crosshair moves over it; `steps` turns of the wheel come before."""
    told: dict[str, Any] = page.evaluate(FRAMES, {"steps": steps, "drag": drag, "frames": frames})
    return Frames(told["perSecond"], told["slowest"])


def frames_of(page: Page, step: str, at: str, frames: int = 100) -> Frames:
    """Frames while something is done in each of them: `HOVER` over a picture, `PRESS` a button."""
    told: dict[str, Any] = page.evaluate(_COUNTED, {"step": step, "at": at, "frames": frames})
    return Frames(told["perSecond"], told["slowest"])
