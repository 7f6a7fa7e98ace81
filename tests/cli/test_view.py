"""`heedmap view`: pages from the command line, their names, and what is said beside them."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import numpy as np
import pytest

from heedmap.cli.view import free_name
from heedmap.drawing.page import bundle
from heedmap.drawing.page import page as pages
from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.conftest import TROPHY
from tests.drawing.page.decoding import header_and_blocks, page_weights

LOAD = bundle.load_bundle
PROGRAM = bundle.Bundle("export default {}", "p {}")


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small program, so that no npm is needed; and a folder of one's own to write into."""
    monkeypatch.setattr(bundle, "load_bundle", lambda: PROGRAM)
    monkeypatch.setattr(pages, "load_bundle", lambda: PROGRAM)
    monkeypatch.chdir(tmp_path)


def test_a_page_is_named_by_its_text_and_its_name_is_printed(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command("view", TROPHY, "--word", "it", "--layer", "16", "--head", "3")
    assert run.code == 0
    assert run.out == "the-trophy-did-not-fit-in-the-suitcase.html\n"
    assert re.search(r"smollm2, 30 layers x 9 heads, float32; 15 tokens; no special tokens added", run.err)
    assert re.search(r"Layers 0 to 15, 17 to 29: every weight in float16, off by at most 0\.0002[345]\.", run.err)
    assert re.search(r"0\.\d MB; open it in any browser, or add --open", run.err)
    html = Path(run.out.strip()).read_text(encoding="utf-8")
    assert header_and_blocks(html)[0]["start"] == {"reading": "self", "layer": 16, "head": 3, "query": 10}
    row = smollm2.read(TROPHY).row("it", layer=20, head=5).weights
    assert np.abs(page_weights(html, "self", 20)[5, 10] - row).max() <= 5e-4


def test_no_file_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "it-rains.html").touch()
    assert free_name("It rains.", tmp_path).name == "it-rains-2.html"
    assert free_name("../../etc/passwd \x1b[31m", tmp_path).name == "etc-passwd-31m.html"
    assert free_name("?!", tmp_path).name == "heedmap.html"
    assert free_name("x" * 300, tmp_path).name == f"{'x' * 40}.html"


def test_two_texts_stand_side_by_side(heedmap_command: CommandLine) -> None:
    run = heedmap_command(
        "view", "It was too big.", "--compare", "It was too small.", "--layers", "7", "-o", "two.html"
    )
    assert run.code == 0
    header, _ = header_and_blocks(Path("two.html").read_text(encoding="utf-8"))
    assert [reading["title"] for reading in header["readings"]] == ["It was too big.", "It was too small."]
    assert header["comparison"]["mustBeZero"] == 3


def test_what_the_model_writes_is_on_the_page(heedmap_command: CommandLine) -> None:
    run = heedmap_command(
        "view", "The cat sat on the", "--generate", "2", "--layers", "12", "--layer", "12", "-o", "g.html"
    )
    assert run.code == 0
    header, _ = header_and_blocks(Path("g.html").read_text(encoding="utf-8"))
    assert header["generation"]["chosenBy"] == [4, 5]
    assert len(header["texts"][0]["labels"]) == 7
    off = re.search(r"were written, to (\S+)\.$", header["generation"]["note"])
    assert off is not None
    assert float(off[1]) < 1e-5


@pytest.mark.parametrize("started", [True, False])
def test_the_browser_is_asked(heedmap_command: CommandLine, monkeypatch: pytest.MonkeyPatch, started: bool) -> None:
    asked: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: asked.append(url) or started)  # type: ignore[func-returns-value]
    run = heedmap_command("view", "It rains.", "--layers", "3", "--open", "-o", "page.html")
    assert run.code == 0
    assert asked == [Path("page.html").resolve().as_uri()]
    assert ("no browser could be started here" in run.err) != started


def test_the_map_leads_to_the_page(heedmap_command: CommandLine) -> None:
    run = heedmap_command("map", "It rains.", "--layer", "16", "--head", "3", "-o", "map.html")
    assert run.code == 0
    header, _ = header_and_blocks(Path("map.html").read_text(encoding="utf-8"))
    assert header["start"]["layer"] == 16
    assert header["readings"][0]["layers"][16]["hasSteps"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--compare", "a", "--generate", "2"], 2, "a page shows one of them"),
        (["--layers", "x"], 2, "'x' is neither a layer nor a range"),
        (["--layer", "30"], 1, "layer 30 is out of range"),
        (["--max-mb", "0.01"], 1, "does not hold layer 15, which is shown first"),
        (["--max-mb", "0"], 2, "0.0 is not in the range x>0"),
        (["-o", "nowhere/page.html"], 1, "there is no folder"),
        (["--compare-model", "minilm"], 1, "smollm2 and minilm make other tokens of this text"),
    ],
)
def test_refusals_are_one_line(heedmap_command: CommandLine, arguments: list[str], code: int, message: str) -> None:
    run = heedmap_command("view", "It rains.", *arguments)
    assert run.code == code
    assert message in " ".join(run.err.split())
    assert run.out == ""
    assert not list(Path().glob("*.html"))


def test_without_the_program_nothing_is_read(heedmap_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "load_bundle", lambda: LOAD(Path("/nowhere")))
    run = heedmap_command("view", "It rains.", "--model", "no-such-model")
    assert run.code == 1
    assert "run `make viewer` in the checkout" in run.err
