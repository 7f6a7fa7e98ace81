"""Texts that ask for trouble: shown literally, each label on its own, and nothing in them runs."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.drawing.page.bundle import load_bundle
from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import Carried, Shown, fill
from heedmap.drawing.page.html import page_title, render
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text import tokenize
from heedmap.text.tokens import Token, Tokens
from tests.drawing.making import HARD
from tests.drawing.page.making import HEADS, SHARED, about, call
from tests.page.looking import eventually, go, looked_at, point_at_the_choice, table, units

FILES = [
    "ansi.log", "blns.json", "chat.jsonl", "chat.txt", "cjk.txt", "code.js", "code_indent.py", "combining.txt",
    "emoji.txt", "escapes.json", "invalid_utf8.bin", "long_words.txt", "markdown.md", "one_char.txt", "page.html",
    "pronouns_mixed.txt", "rtl.txt", "stacktrace.log", "table.csv", "utf16le.txt", "whitespace.txt",
]  # fmt: skip
"""All hard texts but the empty one, of which there is no reading."""

PWNED = [
    "</script><script>window.__pwned = 1</script>",
    "<img src=x onerror='window.__pwned = 1'>",
    "<svg onload=window.__pwned=1>",
    "javascript:window.__pwned=1",
    "{{constructor.constructor('window.__pwned=1')()}}",
    "${window.__pwned = 1}",
    "<!--<script>",
    "]]>",
    "\udcff",
]

Opened = tuple[dict[str, Reading], Page]

LONGEST = 500
"""Tokens of a file that are read: a longer one is more of the same."""


def reading_of(tokens: Tokens) -> Reading:
    """A reading of these tokens, with made-up queries and keys: what is looked at here are the letters."""
    rule = MaskRule(len(tokens), len(tokens), ahead=0)
    layers = (AttentionLayer(0, "layers.0", HEADS, SHARED),)
    return Reading(tokens, layers, OrderedDict({0: call(rule, 2, seed=0)}), about(layers))


def cut(tokens: Tokens) -> Tokens:
    return Tokens(tokens.text, tokens.tokens[:LONGEST])


def read_file(path: Path) -> str:
    encoding = "utf-16" if path.name == "utf16le.txt" else "utf-8"
    return path.read_bytes().decode(encoding, errors="replace")


def spelled(labels: list[str]) -> Tokens:
    """Tokens that each are one of these strings, whatever they are."""
    return Tokens(" ".join(labels), tuple(Token(index, index, text, None, None) for index, text in enumerate(labels)))


@pytest.fixture(scope="module")
def naughty(data_folder: Path) -> Tokens:
    """The big list of naughty strings, and some of our own, each as one token."""
    listed = json.loads((data_folder / "hard" / "blns.json").read_text(encoding="utf-8"))
    assert len(listed) > 500
    return spelled([*PWNED, *HARD, *(one for one in listed if one)])


@pytest.fixture(scope="module")
def page(
    browser: Browser, folder: Path, data_folder: Path, smollm2_tokenizer: Any, naughty: Tokens
) -> Iterator[Opened]:
    """One page with all of them, titles included."""
    texts = {name: cut(tokenize(smollm2_tokenizer, read_file(data_folder / "hard" / name))) for name in FILES}
    readings = {name: reading_of(tokens) for name, tokens in ({"naughty": naughty} | texts).items()}
    contents = Contents(start={"reading": "naughty", "layer": 0, "head": 1, "query": 40})
    contents.extras["generation"] = {"prompt": 3, "chosenBy": [2, 3], "note": PWNED[0]}
    shown = [Shown(name, f"{name} {PWNED[0]}", reading, 0) for name, reading in readings.items()]
    fill(contents, shown, Carried(steps=[0]))
    (folder / "hostile.html").write_text(render(contents, load_bundle(), page_title(PWNED[0])), encoding="utf-8")
    with looked_at(browser, folder / "hostile.html") as page:
        page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
        yield readings, page


ELEMENTS = "() => [...new Set([...document.querySelectorAll('*')].map((one) => one.tagName.toLowerCase()))]"


def nothing_ran(page: Page) -> None:
    """No script of a text has run, and nothing of a text became an element."""
    assert page.evaluate("() => window.__pwned === undefined")
    found = set(page.evaluate(ELEMENTS))
    assert not found & {"img", "iframe", "object", "embed", "link", "base", "form", "a", "math", "video", "audio"}
    runnable = "script:not([type='application/json']):not([type='text/plain'])"
    assert page.locator(runnable).count() == 1


def test_every_naughty_string_is_its_own_token(page: Opened, naughty: Tokens) -> None:
    """Drawn whole, as on paper: 500 labels, each literal and in an element that isolates its direction."""
    _, shown = page
    go(shown, "view=read&reading=naughty&layer=0&head=1&query=40&unit=tokens")
    eventually(shown, lambda: all_labels(shown, naughty))
    assert set(shown.locator(".words .word-text").evaluate_all("all => all.map((one) => one.tagName)")) == {"BDI"}
    nothing_ran(shown)


def all_labels(page: Page, tokens: Tokens) -> None:
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")  # all blocks are drawn, not those near the screen
    assert [text for text, _ in units(page)] == [label or "∅" for label in tokens.labels]


@pytest.mark.parametrize("name", FILES)
def test_every_hard_text_is_shown_literally(page: Opened, name: str) -> None:
    readings, shown = page
    tokens = readings[name].tokens
    go(shown, f"view=read&reading={name}&layer=0&head=1&query={len(tokens) - 1}&unit=tokens")
    eventually(shown, lambda: all_labels(shown, tokens))
    nothing_ran(shown)


def test_words_are_shown_literally(page: Opened) -> None:
    """As words: the letters of the file in their order, its own program among them."""
    _, shown = page
    go(shown, "view=read&reading=page.html&layer=0&head=1&query=20&unit=words")
    eventually(shown, lambda: expect(shown.locator(".sentence")).to_contain_text("Where"))
    shown.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    text = "".join(text for text, _ in units(shown))
    assert "window.__pwned=true;if(1<2&&\"a\">'b'){alert(" in text.replace("␣", "").replace("⏎", "")
    nothing_ran(shown)


@pytest.mark.parametrize("view", ["compare", "heads", "generation", "hand", "about"])
def test_no_view_runs_what_a_token_says(page: Opened, view: str) -> None:
    _, shown = page
    go(shown, f"view={view}&reading=naughty&layer=0&head=1&query=40&against=page.html")
    shown.wait_for_timeout(200)
    nothing_ran(shown)
    if view == "about":
        expect(shown.locator(".about")).to_contain_text(f"naughty {PWNED[0]}")
    if view == "generation":
        expect(shown.locator(".sentence")).to_contain_text(f"chose token 3, “{spelled(PWNED).labels[3]}”")
        expect(shown.locator(".notes")).to_contain_text(PWNED[0])


def test_steps_and_map_name_tokens_literally(page: Opened) -> None:
    _, shown = page
    go(shown, "view=read&reading=naughty&layer=0&head=1&query=8&key=0&unit=tokens")
    expect(shown.locator(".map-line")).to_contain_text(f"looks at “{spelled(PWNED).labels[0]}” (token 0)")
    eventually(shown, lambda: steps_named(shown))
    nothing_ran(shown)


def steps_named(page: Page) -> None:
    assert [line[0] for line in table(page, ".steps-table")] == spelled(PWNED).labels


def test_the_tip_and_the_title_are_text(page: Opened) -> None:
    _, shown = page
    go(shown, "view=read&reading=chat.txt&layer=0&head=1&query=30&key=29&unit=tokens")
    for _ in range(14):
        shown.get_by_role("button", name="Zoom in").click()
    shown.locator(".map-stage").focus()
    shown.keyboard.press("ArrowLeft")  # brings the cell into view
    point_at_the_choice(shown)
    expect(shown.locator(".map-tip")).to_contain_text("looks at")
    nothing_ran(shown)
    assert shown.title() == f"{PWNED[0]} · Heedmap"


def test_text_that_runs_from_right_to_left(page: Opened) -> None:
    """The words run from right to left, in the order of the model; the sentence around them from left to right."""
    _, shown = page
    go(shown, "view=read&reading=rtl.txt&layer=0&head=1&query=3&unit=words")
    words = shown.locator(".words")
    expect(words).to_have_attribute("dir", "rtl")
    expect(shown.locator(".sentence")).to_have_css("direction", "ltr")

    def in_order() -> None:
        boxes = words.locator("[data-place]").evaluate_all(
            "all => all.slice(0, 6).map((one) => one.getBoundingClientRect()).map(({ left, top }) => [left, top])"
        )
        first_line = [left for left, top in boxes if top == boxes[0][1]]
        assert len(first_line) > 2
        assert first_line == sorted(first_line, reverse=True)

    eventually(shown, in_order)
