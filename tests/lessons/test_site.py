"""The exported site: whole pages that fetch nothing, walked in Chromium from a folder, and without a barrier."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heedmap.drawing.page.bundle import Bundle, load_bundle
from heedmap.errors import FileError
from heedmap.lessons.course import load_course
from heedmap.lessons.exercises.problem import typed_answer
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.site.page import inside
from heedmap.lessons.site.write import file_name, lesson_page, write_site
from heedmap.reading.model import Model
from tests.lessons import verdicts
from tests.lessons.making import EVERYTHING, lesson

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COURSE = load_course()
PLAIN = inside(Bundle("", ""))


def shown(body: str, *, answers: bool = False) -> str:
    made = lesson(body)
    return lesson_page(PLAIN, made, [made], Calculator(kept=Kept(None)), answers=answers)


def test_what_the_browser_is_tested_with_is_what_is_said_here() -> None:
    assert verdicts.FILE.read_text(encoding="utf-8") == verdicts.text(), "stale: python -m tests.lessons.verdicts"


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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, smollm2: Model, minilm: Model) -> Path:
    """The course as it is exported."""
    folder = tmp_path_factory.mktemp("site")
    here = {"smollm2": smollm2, "minilm": minilm}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heedmap.lessons.site.maps.model_named", lambda name: here[name])
        written = [path.name for path in write_site(folder, COURSE.lessons, Calculator(kept=Kept(None)))]
    assert [name for name in written if "-map-" not in name] == [
        "index.html",
        "words.html",
        *map(file_name, COURSE.lessons),
    ]
    return folder


def test_pages_link_only_to_one_another_and_to_the_web(site: Path) -> None:
    for path in site.glob("*.html"):
        for target in re.findall(r'<a [^>]*href="([^"]*)"', path.read_text(encoding="utf-8")):
            assert target.startswith(("https://", "#")) or (site / target).exists(), f"{path.name} links to {target}"


def test_pages_load_nothing(site: Path) -> None:
    for path in site.glob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in page
        for target in re.findall(r'<iframe [^>]*src="([^"]*)"', page):
            assert (site / target).exists(), "a map stands beside its lesson"
        assert not re.search(r"""<(?:script|img|link)[^>]+(?:src|href)=""", page.partition('<script type="module"')[0])


def test_lesson_one_is_walked_wrong_hint_right(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

    from tests.browser import opened

    with opened(browser, (site / "index.html").as_uri(), offline=True) as page:
        page.get_by_role("link", name="1 One word looks back").click()
        block = page.locator('[data-question="score-sat"]')
        block.get_by_label("Your answer").fill("0.74")
        block.get_by_role("button", name="Check").click()
        expect(block.get_by_role("status")).to_have_text("That is the product itself. You forgot to divide by √2.")
        block.get_by_role("button", name="Hint").click()
        expect(block.get_by_role("status")).to_have_text("Divide by 1.41.")
        block.get_by_label("Your answer").fill("0,52")
        block.get_by_label("Your answer").press("Enter")
        expect(block.get_by_role("status")).to_have_text("Right.")

        predict = page.locator('[data-question="sharper"]')
        expect(predict.locator(".outcome")).to_be_hidden()
        predict.get_by_label("less than a quarter").check()
        predict.get_by_role("button", name="Predict, then run").click()
        expect(predict.get_by_role("status")).to_contain_text("you said less than a quarter, it was nearly all of it")
        expect(predict.locator(".outcome")).to_be_visible()

        for name, button in (("largest-weight", 1), ("change-a-value", 1), ("sum-to-one", 2)):
            quiz = page.locator(f'[data-question="{name}"]')
            quiz.get_by_role("radio").first.check()
            quiz.get_by_role("button", name="Check").click()
            expect(quiz.get_by_role("status")).to_contain_text("Not this one. No:")
            quiz.get_by_role("radio").nth(button).check()
            quiz.get_by_role("button", name="Check").click()
            expect(quiz.get_by_role("status")).to_contain_text("Right.")
        expect(page.locator('[data-goal="quiz"]')).to_contain_text("done")
        expect(page.locator('[data-goal="checkpoints"]')).to_contain_text("not yet")


def test_a_real_models_map_stands_in_the_lesson(
    browser: Browser, smollm2: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import expect

    from tests.browser import opened

    monkeypatch.setattr("heedmap.lessons.site.maps.model_named", lambda name: smollm2)
    made = lesson('::: view "The cat sat on the mat" word=mat layer=16 head=3\nSee.\n:::')
    written = write_site(tmp_path, [made], Calculator(kept=Kept(None)))
    assert written[-1].name == "01-a-lesson-map-1.html"
    with opened(browser, (tmp_path / file_name(made)).as_uri(), offline=True) as page:
        page.locator("iframe").scroll_into_view_if_needed()
        inside_frame = page.frame_locator("iframe")
        expect(inside_frame.get_by_text("mat").first).to_be_visible()
        page.get_by_role("link", name="The map as a page of its own").click()
        expect(page).to_have_title("The cat sat on the mat · Heedmap")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), pytest.param("dark", 360, marks=pytest.mark.slow)])
def test_no_page_has_a_barrier(browser: Browser, site: Path, scheme: str, width: int) -> None:
    from tests.browser import opened

    axe = (Path(__file__).parents[2] / "viewer" / "node_modules" / "axe-core" / "axe.min.js").read_text(
        encoding="utf-8"
    )
    pages = ["index.html", "words.html", *(file_name(one) for one in COURSE.lessons if one.number in (1, 8, 12))]
    for name in pages:
        with opened(browser, (site / name).as_uri(), color_scheme=scheme) as page:
            page.set_viewport_size({"width": width, "height": 900})
            for button in page.get_by_role("button", name="Change the numbers").all()[:1]:
                button.click()
            page.evaluate(axe)
            looked = page.evaluate("axe.run({iframes: false})")
            assert len(looked["passes"]) > 15, "it looked at the page"
            found = looked["violations"]
            told = [f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes'][:3]]}" for one in found]
            assert told == [], f"{name}, {scheme}, {width} pixels wide"


def test_an_exercise_is_worked_in_the_browser(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

    from tests.browser import opened

    with opened(browser, (site / file_name(COURSE.lessons[0])).as_uri(), offline=True) as page:
        place = page.locator('[data-exercise="attend 1"]')
        for seed in (1, 2, 3):
            problem = generator("attend").problem(1, seed)
            expect(place).to_contain_text(f"number {seed}")
            for index in range(len(problem.steps)):
                field = place.get_by_label("Your answer").nth(index)
                if index == 1:
                    field.fill(typed_answer(problem, 0))
                    field.press("Enter")
                    expect(place.get_by_role("status").nth(1)).to_contain_text("You forgot to divide by √d")
                field.fill(typed_answer(problem, index))
                field.press("Enter")
                expect(place.get_by_role("status").nth(index)).to_have_text("Right.")
            expect(place).to_contain_text("Solved.")
            place.get_by_role("button", name="Another one").click()
        place = page.locator('[data-exercise="attend 2"]')
        field = place.get_by_label("Your answer").first
        for _ in range(3):
            field.fill("9 9 9")
            field.press("Enter")
        place.get_by_role("button", name="Show me").click()
        expect(place.get_by_role("status").first).to_contain_text("It is: ")


def test_a_worked_example_opens_and_follows_its_numbers(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

    from tests.browser import opened

    with opened(browser, (site / file_name(COURSE.lessons[0])).as_uri(), offline=True) as page:
        page.get_by_role("button", name="Change the numbers").first.click()
        by_hand = page.locator("[data-hand]").first
        expect(by_hand).to_contain_text("output [0.51, 0.37]")
        by_hand.get_by_role("checkbox", name="softmax").uncheck()
        expect(by_hand).to_contain_text("output [1.34, 0.88]")
