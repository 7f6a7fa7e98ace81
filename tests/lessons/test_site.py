"""Pages of the exported site: what they are made of, and what they hold for whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedmap.drawing.page.bundle import Bundle, load_bundle
from heedmap.errors import FileError
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.site.page import inside
from heedmap.lessons.site.write import lesson_page
from tests.lessons import verdicts
from tests.lessons.making import EVERYTHING, lesson
from tests.printed import assert_same_json

PLAIN = inside(Bundle("", ""))


def shown(body: str, *, answers: bool = False) -> str:
    made = lesson(body)
    return lesson_page(PLAIN, made, [made], Calculator(kept=Kept(None)), answers=answers)


def test_what_the_browser_is_tested_with_is_what_is_said_here() -> None:
    stored, made = json.loads(verdicts.FILE.read_text(encoding="utf-8")), json.loads(verdicts.text())
    assert_same_json(made, stored, 1e-12, "stale: python -m tests.lessons.verdicts: ")  # e^x may differ in its last bit


def test_every_kind_of_block_becomes_html() -> None:
    page = shown(EVERYTHING)
    for said in (
        "The point",
        "A meeting",
        "0.38",
        "function softmax(",
        "☐",
        "Change the numbers",
        "heedmap learn check",
    ):
        assert said in page
    assert "{{" not in page
    assert page.count("<section") == page.count("</section>")
    assert '<pre tabindex="0" role="group" aria-label="A box">[0.38 ]|</pre>' in page


def test_answers_are_shown_to_teachers_only() -> None:
    assert "The answers" not in shown(EVERYTHING)
    assert 'class="outcome" hidden' in shown(EVERYTHING)
    teacher = shown(EVERYTHING, answers=True)
    assert "<summary>The answer</summary><p>0.38</p>" in teacher
    assert "<b>right</b> Yes:" in teacher
    assert 'class="outcome" hidden' not in teacher


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def test_text_is_never_obeyed() -> None:
    page = shown(
        f"{HOSTILE}\n\n::: myth {HOSTILE}\n{HOSTILE} [link](javascript:alert(1))\n:::\n"
        f"::: quiz q\n{HOSTILE}\n- [x] {HOSTILE}\n  {HOSTILE}</script>\n- [ ] b\n  no\n:::\n"
        f"::: diagram {HOSTILE.replace(' ', '')}\n{HOSTILE}\n:::\n"
    )
    assert "<img" not in page
    assert page.count("<script") == 2, "the data and the program"
    assert 'href="javascript' not in page
    data = page.partition('id="heedmap-lesson">')[2].partition("</script>")[0]
    assert "&lt;script&gt;" in json.loads(data)["quiz"]["q"][0]["reason"]


def test_without_the_program_it_is_said_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="run `make viewer`"):
        load_bundle(tmp_path, "course")


def test_whatever_may_be_scrolled_can_be_reached_by_keyboard() -> None:
    page = shown(
        "```python\nweights = 1\n```\n\n    indented\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n::: languages attend\n:::\n"
    )
    assert page.count("<pre") == page.count('<pre tabindex="0"') >= 6
    assert page.count("<table>") == page.count('tabindex="0" role="group" aria-label="Table"><table>') == 1
