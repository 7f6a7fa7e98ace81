"""The exported site walked in Chromium from a folder, offline: wrong answer, hint, right answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heedmap.lessons.blocks import View
from heedmap.lessons.exercises.problem import typed_answer
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.live import compute
from heedmap.lessons.site.maps import map_name
from heedmap.lessons.site.write import write_site
from tests.browser import opened
from tests.lessons.making import EVERYTHING, lesson
from tests.lessons.site import COURSE, answer, barriers, choose, dead_links, page_of, what_is_loaded

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WALKED = [COURSE.find(number) for number in ("1", "8", "12")]
MAP = '<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src \'none\'"><title>A map</title>'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three lessons as they are exported, with empty pages for the maps of real models (see test_site_whole)."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "heedmap.lessons.site.write.maps_of",
            lambda made: [(map_name(made, piece), MAP) for piece in made.pieces if isinstance(piece, View)],
        )
        write_site(folder, WALKED, Calculator(kept=Kept(None)))
    return folder


def test_pages_link_only_to_one_another_and_to_the_web(site: Path) -> None:
    assert dead_links(site) == []


def test_pages_load_nothing(site: Path) -> None:
    assert what_is_loaded(site) == []


def test_lesson_one_is_walked_wrong_hint_right(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

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


def test_lesson_eight_is_walked_wrong_hint_right(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

    text = '"The trophy did not fit in the suitcase because it was too big." it'
    carried = Calculator(kept=Kept(None))
    shares = {
        word: carried.figure(f"looks {text} {word} layer=16 head=3", WALKED[1], 1).text
        for word in ("@7", "suitcase", "trophy")
    }
    with opened(browser, page_of(site, 8), offline=True) as page:
        predict = page.locator('[data-question="where"]')
        predict.get_by_role("button", name="Predict, then run").click()
        expect(predict.get_by_role("status")).to_contain_text("Predict first")
        predict.get_by_label("suit", exact=True).check()
        predict.get_by_role("button", name="Predict, then run").click()
        expect(predict.get_by_role("status")).to_contain_text("you said suit, it was trophy")
        expect(predict.locator(".outcome")).to_contain_text(shares["trophy"])
        expect(answer(page, "both-pieces", shares["@7"])).to_contain_text('That is "suit" alone.')
        block = page.locator('[data-question="both-pieces"]')
        block.get_by_role("button", name="Hint").click()
        expect(block.get_by_role("status")).to_contain_text('Add the weights of "suit" and "case".')
        expect(answer(page, "both-pieces", shares["suitcase"])).to_have_text("Right.")
        square, triangle = (compute(f"cells 15{mask}").text for mask in ("", " mask=causal"))
        expect(answer(page, "cells", square)).to_contain_text("That is the whole square.")
        expect(answer(page, "cells", triangle)).to_have_text("Right.")
        expect(answer(page, "which-index", "0")).to_contain_text("It cannot.")
        expect(answer(page, "which-index", shares["trophy"])).to_have_text("Right.")
        expect(page.locator('[data-goal="checkpoints"]')).to_contain_text("done")
        expect(choose(page, "along", "All cells together.")).to_contain_text("Not this one.")
        expect(choose(page, "along", "Those of a row: one word's looks.")).to_contain_text("Right.")


def test_lesson_twelve_is_walked_wrong_hint_right(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

    carried = Calculator(kept=Kept(None))
    with opened(browser, page_of(site, 12), offline=True) as page:
        one = carried.figure("picked-weight size-trophy trophy", WALKED[2], 1).text
        expect(answer(page, "lead", one)).to_contain_text("Take the other noun's weight away.")
        block = page.locator('[data-question="lead"]')
        block.get_by_role("button", name="Hint").click()
        expect(block.get_by_role("status")).to_contain_text("minus the weight on")
        expect(answer(page, "lead", carried.figure("picked-lead size-trophy", WALKED[2], 1).text)).to_have_text(
            "Right."
        )
        best = page.locator('[data-question="best-coin"]')
        best.get_by_label("Your prediction").fill("6")
        best.get_by_role("button", name="Predict, then run").click()
        expect(best.get_by_role("status")).to_contain_text(f"you said 6, it was {compute('luckiest 270 10').text}")
        expect(best.locator(".outcome")).to_contain_text("270")
        broken = page.locator('[data-kind="break"]').first
        expect(broken.locator(".outcome")).to_be_hidden()
        broken.get_by_role("button").first.click()
        expect(broken.locator(".outcome")).to_be_visible()
        expect(choose(page, "fair-test", "The same sentence, in a larger picture.")).to_contain_text("Not this one.")
        right = "Sentences that had no part in picking it, in both noun orders."
        expect(choose(page, "fair-test", right)).to_contain_text("Right.")


def test_no_kind_of_block_is_a_barrier(browser: Browser, tmp_path: Path) -> None:
    # Every real page is looked at in test_site_whole; this one has every kind of block once.
    made = lesson(EVERYTHING.partition("::: view")[0] + EVERYTHING.partition("## The idea")[2])
    write_site(tmp_path, [made], Calculator(kept=Kept(None)))
    assert barriers(browser, (tmp_path / "01-a-lesson.html").as_uri()) == []


def test_an_exercise_is_worked_in_the_browser(browser: Browser, site: Path) -> None:
    from playwright.sync_api import expect

    with opened(browser, page_of(site, 1), offline=True) as page:
        place = page.locator('[data-exercise="attend 1"]')
        for seed in (1, 2):
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

    with opened(browser, page_of(site, 1), offline=True) as page:
        page.get_by_role("button", name="Change the numbers").first.click()
        by_hand = page.locator("[data-hand]").first
        expect(by_hand).to_contain_text("output [0.51, 0.37]")
        by_hand.get_by_role("checkbox", name="softmax").uncheck()
        expect(by_hand).to_contain_text("output [1.34, 0.88]")
