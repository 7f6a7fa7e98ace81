"""The header and the file: nothing that a text holds can get out of its place, whatever it is."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.drawing.page.bundle import Bundle, load_bundle
from heedmap.drawing.page.contents import Contents, json_for_html
from heedmap.drawing.page.html import page_title, render
from heedmap.errors import FileError
from tests.drawing.making import HARD
from tests.drawing.page.making import made_contents

BUNDLE = Bundle("const end = '</script>', comment = '<!--';", ".heedmap { color: black }")


class Elements(HTMLParser):
    """Every element of a page by name, and the text of its scripts by id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.scripts: dict[str, str] = {}
        self.policy = ""
        self._open = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names.append(tag)
        self._open = given.get("id") or given.get("type") or "" if tag == "script" else ""
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.scripts[self._open] = self.scripts.get(self._open, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


@given(value=st.recursive(st.text() | st.none() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_json_stays_whole_and_inside_its_element(value: object) -> None:
    text = json_for_html(value)
    assert json.loads(text) == value
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", text)


@pytest.mark.parametrize("hostile", HARD)
def test_a_hostile_text_is_data_and_nothing_else(hostile: str) -> None:
    contents, _ = made_contents()
    contents.texts[0]["text"] = contents.texts[0]["labels"][0] = hostile
    contents.readings[0]["title"] = hostile
    plain, _ = made_contents()
    found = Elements(render(contents, BUNDLE, page_title(hostile)))
    assert found.names == Elements(render(plain, BUNDLE, "plain")).names
    header = json.loads(found.scripts["heedmap-header"])
    assert header["texts"][0]["labels"][0] == header["readings"][0]["title"] == hostile


def test_the_file_allows_itself_its_own_program_alone() -> None:
    contents, _ = made_contents()
    found = Elements(render(contents, BUNDLE, "page"))
    assert found.policy.startswith("default-src 'none'; script-src 'sha256-")
    assert found.scripts["module"] == BUNDLE.script_in_html
    assert "</script" not in BUNDLE.script_in_html
    assert "<!--" not in BUNDLE.script_in_html
    assert BUNDLE.script_hash in found.policy
    assert len([name for name in found.scripts if name.startswith("heedmap-block-")]) == len(contents.blocks)


def test_a_text_and_a_mask_stand_in_the_page_once() -> None:
    contents, readings = made_contents()
    assert [text["text"] for text in contents.texts] == [
        readings["self"].text,
        readings["cross"].text,
        readings["cross"].keys.text,  # type: ignore[union-attr]
    ]
    assert len({json.dumps(rule) for rule in contents.rules}) == len(contents.rules)
    assert Contents().header()["readings"] == []


def test_the_header_has_no_nan() -> None:
    contents, _ = made_contents()
    contents.readings[0]["model"]["broken"] = float("nan")
    with pytest.raises(ValueError, match="not JSON compliant"):
        contents.header_text()


def test_a_missing_program_says_how_it_is_built(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"page\.js is missing\): run `make viewer` in the checkout"):
        load_bundle(tmp_path)
