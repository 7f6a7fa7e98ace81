"""The site is built strictly, holds every page, leads nowhere that is not there, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docs.build import all_pages
from docs.schema_page import schemas_page
from playwright.sync_api import Browser, expect

from tests.test_docs import ROOT

CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
"""What a browser fetches by itself."""


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build as `make docs-site` does, in a copy."""
    program = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the site is made from."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("src", "examples"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def site(project: Path) -> Path:
    done = build(project)
    assert done.returncode == 0, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)[-4000:]
    return project / "site"


class Addresses(HTMLParser):
    """The addresses in a page, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("src", "href") and value:
                self.found.append((tag, name, value))
            if name in ("id", "name") and value:
                self.anchors.add(value)


def pages_of(site: Path) -> Iterator[tuple[Path, Addresses]]:
    for path in sorted(site.glob("**/*.html")):
        yield path, Addresses(path.read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation_and_built(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs") for path in all_pages() if path.is_relative_to(ROOT / "docs")]
    assert [str(page) for page in pages if f"{page}\n" not in CONFIGURATION] == []
    assert all((site / page.with_suffix(".html")).exists() for page in pages)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path, page in pages_of(site):
        for tag, name, value in page.found:
            if (tag, name) in LOADED:
                assert not urlsplit(value).netloc, f"{path.name} loads {value}"
    for sheet in site.glob("**/*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import\s)[\"']?(?:https?:)?//", text), f"{sheet.name} loads from elsewhere"


def test_links_inside_the_site_lead_somewhere(site: Path) -> None:
    """Pictures and files too, which the strict build does not look for."""
    known = dict(pages_of(site))
    for path, page in known.items():
        for _, _, value in page.found:
            address = urlsplit(value)
            if address.scheme or address.netloc or value.startswith(("#__", "data:")) or path.name == "404.html":
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            assert target.exists(), f"{path.name} leads to {value}"
            if address.fragment and target in known:
                assert unquote(address.fragment) in known[target].anchors, f"{path.name} leads to {value}"


@pytest.mark.slow
def test_the_search_finds_and_asks_nobody_else(site: Path, browser: Browser) -> None:
    """In real Chromium, from a server of this machine; every request is looked at."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}/"
        asked: list[str] = []
        with browser.new_context() as context:
            page = context.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{place}index.html")
            page.locator(".md-search__button").click()
            box = page.get_by_role("textbox").or_(page.get_by_role("combobox")).or_(page.get_by_role("searchbox")).first
            box.wait_for(timeout=60_000)  # on a busy machine its program takes its time
            box.fill("forbid")
            expect(page.locator("a", has_text="forbid").first).to_be_visible(timeout=60_000)
        server.shutdown()
    assert asked
    assert all(url.startswith((place, "blob:", "data:")) for url in asked), asked


def test_tools_and_snippets_are_no_pages(site: Path) -> None:
    assert not list(site.glob("**/*.py"))
    assert not (site / "snippets").exists()


def test_the_page_of_schemas_is_made_from_them() -> None:
    committed = (ROOT / "docs" / "schemas.md").read_text(encoding="utf-8")
    assert schemas_page() == committed, "stale: run `make docs`"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("[a page](nowhere.md)", "page does not exist"),
        ("[a heading](numerics.md#nowhere)", "anchor does not exist"),
        ("[a name][heedmap.nowhere]", "unresolved autoref"),
        ("\n::: heedmap.nowhere\n", "heedmap.nowhere"),
    ],
)
def test_a_broken_page_fails_the_build(broken: str, says: str, project: Path, site: Path) -> None:
    page = project / "docs" / "limits.md"
    whole = page.read_text(encoding="utf-8")
    page.write_text(f"{whole}\n{broken}\n", encoding="utf-8")
    done = build(project)
    page.write_text(whole, encoding="utf-8")
    assert done.returncode != 0
    assert says in re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
