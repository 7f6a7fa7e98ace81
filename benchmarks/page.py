"""The page in Chromium: first picture, frames, bytes, beside other viewers; and the local application.

`python -m benchmarks.page --write` puts the tables into docs/performance.md. Needs Chromium, smollm2, and the page's
program (`make viewer`); other viewers are measured where `.venv-peers` has them.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from docs.marked import write_part
from playwright.sync_api import Browser
from tests.browser import chromium

import heedmap
from benchmarks import page_application, page_peers
from benchmarks.measure import markdown_table
from benchmarks.page_browser import Frames, first_picture, map_frames, opened
from benchmarks.page_peers import Viewer
from benchmarks.subject import tokens_of
from heedmap.drawing.page.bundle import load_bundle
from heedmap.reading.model import Model

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"

LAYER, HEAD = 16, 3

READY = (
    "document.querySelector('.word-asking') && document.querySelector('.word-number, .largest li')"
    " && document.querySelector('.map-stage[aria-busy=false]')"
)
"""The first view: the words with their numbers, and the map drawn."""

FIRST_VIEW = {128: 1.0, 2048: 3.0}
"""Seconds that were promised, by tokens."""

FRAMES = {2048: 50, 8192: 30}
"""Frames a second that were promised, by tokens."""

BUNDLE = 150_000
"""Bytes that were promised for the page's program, compressed."""


def write_page(model: Model, folder: Path, length: int) -> Path:
    """A page of all layers at 128 tokens, of one layer at more."""
    layers = list(range(len(model.layers))) if length == 128 else [LAYER]
    path = folder / f"{length}.html"
    reading = model.read_tokens(tokens_of(model, length), layers=layers, values=True)
    reading.page(path, layer=LAYER, head=HEAD, layers=layers)
    return path


def our_line(browser: Browser, length: int, path: Path, repeats: int) -> list[str]:
    """First view, crosshair and panning of one of our pages."""
    first = first_picture(browser, path.as_uri(), READY, repeats)
    crosshair, panning = (best_frames(browser, path, drag=drag, repeats=repeats) for drag in (False, True))
    line = [
        f"{length:,} x {30 if length == 128 else 1}",
        f"{path.stat().st_size / 1e6:.2f} MB",
        "-" if first is None else f"{first:.2f} s",
        f"{FIRST_VIEW[length]:g} s" if length in FIRST_VIEW else "-",
        str(crosshair),
        str(panning),
        f"{FRAMES[length]}" if length in FRAMES else "-",
    ]
    print(line, flush=True)
    return line


def best_frames(browser: Browser, path: Path, *, drag: bool, repeats: int) -> Frames:
    """The best of several runs: what the page can do when nobody else has the processor."""
    found = []
    for _ in range(repeats):
        with opened(browser, path.as_uri(), READY) as page:
            page.wait_for_function("() => window.heedmapReady !== undefined")
            found.append(map_frames(page, drag=drag, steps=20 if drag else 0))
    return max(found, key=lambda one: one.per_second)


def peers_table(browser: Browser, model: Model, ours: Path, repeats: int) -> str:
    """All viewers with the same 30 x 9 maps of 128 tokens."""
    reading = model.read_tokens(tokens_of(model, 128))
    picture = first_picture(browser, ours.as_uri(), READY, repeats)
    mine = Viewer("Heedmap", ours.stat().st_size, picture, best_frames(browser, ours, drag=False, repeats=repeats))
    viewers = [mine, *page_peers.measured(browser, reading, repeats)]
    if len(viewers) == 1:
        return "No other viewer is installed in `.venv-peers`."
    columns = ["128 tokens x 30 layers x 9 heads", "bytes", "first picture", "frames a second"]
    return markdown_table(columns, [one.line() for one in viewers])


def bundle_size() -> str:
    """How large the page's program and style sheet are."""
    bundle = load_bundle()
    script, style = (len(gzip.compress(text.encode(), 9)) for text in (bundle.script, bundle.style))
    return (
        f"The program and its style sheet take {(script + style) / 1000:.1f} kB compressed by gzip "
        f"(at most {BUNDLE // 1000}; {script / 1000:.1f} and {style / 1000:.1f})."
    )


@contextmanager
def browser_ahead(ahead: bool) -> Iterator[Browser]:
    """Chromium; `ahead` of all other work of the machine, where the system allows it, as on a machine of one's own."""
    if ahead:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    with chromium() as browser:
        if ahead:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        yield browser


def measured(repeats: int, lengths: list[int], ahead: bool) -> str:
    """All tables as Markdown."""
    load = os.getloadavg()[0]
    model = heedmap.load("smollm2")
    columns = ["tokens x layers", "file", "first view", "at most", "crosshair, frames a second", "panning", "at least"]
    with tempfile.TemporaryDirectory() as name, browser_ahead(ahead) as browser:
        folder = Path(name)
        pages = {128: write_page(model, folder, 128)}
        lines = [our_line(browser, 128, pages[128], repeats)]
        peers = peers_table(browser, model, pages[128], repeats)
        print(peers, flush=True)
        for length in lengths:
            pages[length] = write_page(model, folder, length)
            lines.append(our_line(browser, length, pages[length], repeats))
        tokens = tokens_of(model, max(lengths))
        text = tokens.text[: tokens[-1].end]
        version = browser.version
        del model
        application = page_application.measured(browser, text, repeats)
    ran = "The browser ran ahead of all other work of the machine" if ahead else "The browser ran beside other work"
    said = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d} in headless Chromium {version} without a GPU.",
        f"{ran} ({os.cpu_count()} cores, load {load:.0f} at the start, {os.getloadavg()[0]:.0f} at the end),",
        "the application's server beside it.",
        f"First views are medians of {repeats} openings, frames the best of {repeats} runs.",
    ]
    application_table = markdown_table(["the local application", ""], [list(one) for one in application.items()])
    return "\n\n".join(["\n".join(said), bundle_size(), markdown_table(columns, lines), peers, application_table])


def main() -> None:
    """Measure, print, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--lengths", type=int, nargs="+", default=[2048, 8192], help="tokens, beside 128")
    parser.add_argument("--ahead", action="store_true", help="the browser goes before all other work (Linux, as root)")
    given = parser.parse_args()
    tables = measured(given.repeats, given.lengths, given.ahead)
    print(tables)
    if given.write:
        write_part(DOCUMENT, "page", tables)


if __name__ == "__main__":
    main()
