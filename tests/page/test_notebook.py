"""The page in notebooks: the widget's own module, twice in one document, and in a real marimo where it is there."""

from __future__ import annotations

import base64
import importlib.util
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from heedmap.drawing.page.bundle import load_bundle
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.browser import opened
from tests.page.conftest import Written

SHOW = """async ({ script, style, widgets }) => {
  const sheet = document.head.appendChild(document.createElement('style'));
  sheet.textContent = style;
  const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const { default: { render } } = await import(address);
  window.away = widgets.map(({ name, header, data, sizes }) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const values = { header, sizes, data: new DataView(bytes.buffer) };
    const el = document.body.appendChild(document.createElement('div'));
    el.id = name;
    return render({ model: { get: (key) => values[key] }, el });
  });
}"""
"""What anywidget does in Jupyter, VS Code, Colab and marimo alike: one module, `render` for each cell."""


def sent(name: str, widget: Any) -> dict[str, Any]:
    """What a notebook sends of a widget."""
    data = base64.b64encode(widget.data).decode("ascii")
    return {"name": name, "header": widget.header, "data": data, "sizes": widget.sizes}


@pytest.fixture
def cells(browser: Browser, trophy: Written[Reading], kinds: Written[Reading], folder: Path) -> Iterator[Page]:
    """Two cells of one notebook: the same text in two places."""
    (folder / "notebook.html").write_text("<!doctype html><title>notebook</title><h1>A notebook</h1>", encoding="utf-8")
    bundle = load_bundle()
    widgets = [
        sent("first", trophy.subject.widget(word="it", layer=16, head=3, layers=[15, 16])),
        sent("second", kinds.subject.widget(layer=1, head=2, layers=range(8), steps=[1])),
    ]
    with opened(browser, (folder / "notebook.html").as_uri(), alone=True) as page:
        page.evaluate(SHOW, {"script": bundle.script, "style": bundle.style, "widgets": widgets})
        yield page


def trophy_share(cell: Locator) -> Locator:
    return cell.locator(".words [role=option]", has_text="trophy").locator(".word-number")


def test_two_pages_in_one_notebook_share_nothing(cells: Page) -> None:
    first, second = cells.locator("#first"), cells.locator("#second")
    expect(trophy_share(first)).to_have_text("0.565")
    expect(second.locator(".sentence select[aria-label=head]")).to_have_value("2")
    before = second.locator(".words").inner_text()
    first.locator("select[aria-label=head]").first.select_option("4")
    expect(trophy_share(first)).not_to_have_text("0.565")
    first.get_by_role("option", name="because").click()
    expect(first.locator(".sentence")).to_contain_text("because")
    assert second.locator(".words").inner_text() == before
    second.get_by_role("tab", name="Heads").click()
    expect(second.locator(".view-heads")).to_be_visible()
    expect(first.locator(".view-read")).to_be_visible()
    assert "#" not in cells.url  # the address is the notebook's


def test_what_is_named_in_two_pages_has_two_names(cells: Page) -> None:
    expect(cells.locator(".heedmap .view")).to_have_count(2)
    names = cells.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(names) == len(set(names)) > 10
    for attribute in ("aria-controls", "aria-labelledby", "aria-describedby"):
        named = cells.locator(f"[{attribute}]").evaluate_all(
            f"all => all.map((one) => one.getAttribute('{attribute}'))"
        )
        assert set(named) <= set(names)
    expect(cells.locator("h1")).to_have_count(1)  # the notebook's own


def test_a_cell_that_is_run_again_leaves_nothing_behind(cells: Page) -> None:
    expect(trophy_share(cells.locator("#first"))).to_have_text("0.565")
    cells.evaluate("window.away[0]()")
    expect(cells.locator("#first > *")).to_have_count(0)
    expect(cells.locator("#second .words")).to_be_visible()


def test_numbers_that_came_in_part_are_told(browser: Browser, folder: Path, kinds: Written[Reading]) -> None:
    (folder / "notebook.html").write_text("<!doctype html><title>notebook</title>", encoding="utf-8")
    widget = sent("only", kinds.subject.widget(layer=1, layers=[1]))
    cut = widget | {"data": base64.b64encode(base64.b64decode(widget["data"])[:-9]).decode("ascii")}
    bundle = load_bundle()
    with opened(browser, (folder / "notebook.html").as_uri()) as page:
        page.evaluate(SHOW, {"script": bundle.script, "style": bundle.style, "widgets": [cut]})
        expect(page.get_by_role("alert")).to_contain_text("did not come whole: run the cell again")


NOTEBOOK = """import marimo
app = marimo.App()

@app.cell
def _():
    import heedmap
    model = heedmap.load("smollm2")
    reading = model.read("The cat sat on the mat because it was warm.", layers=[16])
    return (reading,)

@app.cell
def _(reading):
    reading
    return

@app.cell
def _(reading):
    reading.widget(word="it", layer=16, head=3)
    return

if __name__ == "__main__":
    app.run()
"""
"""A reading as the last line of a cell, and its widget in the next."""


@pytest.mark.slow
def test_two_cells_of_a_real_marimo(browser: Browser, smollm2: Model, tmp_path: Path) -> None:
    if importlib.util.find_spec("marimo") is None:
        pytest.skip("marimo is not installed: pip install marimo, and this runs a real notebook")
    (tmp_path / "notebook.py").write_text(NOTEBOOK, encoding="utf-8")
    command = [sys.executable, "-m", "marimo", "run", "notebook.py", "--headless", "--no-token", "--port", "2919"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            wait_for("http://127.0.0.1:2919")
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto("http://127.0.0.1:2919")
            pages = page.locator(".heedmap .view")
            expect(pages).to_have_count(2, timeout=240_000)
            row = smollm2.read("The cat sat on the mat because it was warm.", layers=[16]).row("it", layer=16, head=3)
            shown = page.locator(".heedmap").last.get_by_role("option", name="cat").locator(".word-number")
            expect(shown).to_have_text(f"{row.share('cat'):.3f}")
            page.close()
        finally:
            running.terminate()


def wait_for(address: str) -> None:
    """Until a server answers."""
    for _ in range(240):
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"nothing answers at {address}")
