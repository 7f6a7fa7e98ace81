"""Other viewers with the same maps in the same browser: bytes, time to the first picture, frames a second."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Route

from benchmarks.page_browser import HOVER, PATIENCE, PRESS, Frames, Served, first_picture, frames_of, opened
from benchmarks.peers import PYTHON
from heedmap.reading.reading import Reading

WORKER = Path(__file__).parent / "page_peers_worker.py"

BLANK_AFTER = 30_000
"""Milliseconds after which a page that has shown nothing counts as blank."""

SCRIPTS = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
"""bertviz names three scripts of a CDN: the same from npm (jquery 2.1.0, since 2.0.0 is not there)."""

PACKAGES = ("requirejs@2.3.6", "d3@5.7.0", "jquery@2.1.0")


@dataclass(frozen=True, slots=True)
class Viewer:
    """One tool's page as it was measured.

    Attributes:
        name: the tool, and how it was opened.
        size: bytes of the file.
        picture: seconds until the first picture; None: blank.
        frames: while the pointer moves over it.
    """

    name: str
    size: int
    picture: float | None
    frames: Frames | None

    def line(self) -> list[str]:
        """Cells of the table."""
        picture = "blank" if self.picture is None else f"{self.picture:.2f} s"
        return [self.name, f"{self.size / 1e6:.2f} MB", picture, "-" if self.frames is None else str(self.frames)]


def measured(browser: Browser, reading: Reading, repeats: int) -> list[Viewer]:
    """Bertviz without a network and with its scripts at hand, and attnview; nothing where they are not installed."""
    if not PYTHON.exists():
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "weights.npy", np.stack([np.asarray(one[0]) for one in reading.attentions()]))
        (folder / "labels.json").write_text(json.dumps(reading.tokens.labels), encoding="utf-8")
        command = [str(PYTHON), str(WORKER), str(folder / "weights.npy"), str(folder / "labels.json"), name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            print(result.stderr)
            return []
        scripts = _scripts(folder)
        pages = [
            _Page("attnview 0.5.1, from row to row", folder / "attnview.html", "#weights td", PRESS, "#next", None),
            _Page("bertviz 1.4.1, no network", folder / "bertviz.html", "#vis svg line", HOVER, "#vis svg", None),
        ]
        if scripts is not None:
            name = "bertviz 1.4.1, its scripts from disk"
            pages.append(_Page(name, folder / "bertviz.html", "#vis svg line", HOVER, "#vis svg", scripts))
        return [_viewer(browser, one, repeats) for one in pages]


class _Page(NamedTuple):
    """A page of another tool: what it draws first, and what is done with it."""

    name: str
    path: Path
    drawn: str
    step: str
    at: str
    served: Served | None


def _viewer(browser: Browser, one: _Page, repeats: int) -> Viewer:
    """One page as it was measured."""
    ready = f"document.querySelector('{one.drawn}')"
    patience = BLANK_AFTER if "no network" in one.name else PATIENCE
    picture = first_picture(browser, one.path.as_uri(), ready, repeats, one.served, patience)
    frames = None
    if picture is not None:
        with opened(browser, one.path.as_uri(), ready, one.served) as page:
            page.wait_for_function("() => window.heedmapReady !== undefined")
            frames = frames_of(page, one.step, one.at)
    return Viewer(one.name, one.path.stat().st_size, picture, frames)


def _scripts(folder: Path) -> Served | None:
    """What answers bertviz's questions to its CDN from npm's copies; None where npm is not there or has none."""
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES]
    try:
        subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None

    def answer(route: Route) -> None:
        file = SCRIPTS.get(route.request.url.rpartition("/")[2])
        if file is None:
            route.abort()
        else:
            route.fulfill(path=folder / "node_modules" / file, content_type="text/javascript")

    def serve(context: BrowserContext) -> Any:
        context.route(re.compile("^https:"), answer)

    return serve
