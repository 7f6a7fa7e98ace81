"""The notebooks of the examples run, and print what stands in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from docs.running import EXAMPLES, run_notebook, working_folder
from nbclient import NotebookClient

from tests.printed import alike

BOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def printed_in(book: Any) -> list[str]:
    """What each code cell of a notebook has printed."""
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    streams = [[one for one in cell["outputs"] if one.get("name") == "stdout"] for cell in cells]
    return ["".join("".join(one["text"]) for one in stream) for stream in streams]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)
def test_notebooks_are_notebooks_with_outputs(path: Path) -> None:
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(book)
    assert sum(bool(text) for text in printed_in(book)) >= 3


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.slow] * ("claim" in path.stem), id=path.name) for path in BOOKS]
)
def test_cells_print_what_stands_below_them(path: Path) -> None:
    with working_folder():
        book, printed = run_notebook(path)
    assert alike("\n".join(printed), "\n".join(printed_in(book))), f"stale: run `make docs`. It prints now: {printed}"


@pytest.mark.slow
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)
def test_notebooks_run_in_a_real_kernel(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    before = printed_in(book)
    with working_folder() as folder:
        NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    assert alike("\n".join(printed_in(book)), "\n".join(before))
    if path.stem == "first_look":
        kinds = {kind for cell in book.cells for one in cell.get("outputs", []) for kind in one.get("data", {})}
        assert "application/vnd.jupyter.widget-view+json" in kinds, "the last cell shows the viewer"
