"""By hand, the examples are Python's and every number can be edited; About says what the page carries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.arithmetic.attention import attend
from heedmap.arithmetic.examples import EXAMPLES, Example
from heedmap.arithmetic.trace import Trace
from heedmap.reading.reading import Reading
from tests.drawing.page.decoding import header_and_blocks
from tests.page.conftest import Written
from tests.page.looking import eventually, go, looked_at, number_of, table


@pytest.fixture(scope="module")
def page(browser: Browser, trophy: Written[Reading]) -> Iterator[Page]:
    with looked_at(browser, trophy.path, "#view=hand") as page:
        yield page


def take(page: Page, example: str) -> None:
    page.get_by_role("group", name="Examples").get_by_role("button", name=example, exact=True).click()


def shows(page: Page, trace: Trace, digits: int) -> None:
    """The table of steps and the output are those of the last query of this trace."""
    half = 0.5 * 10.0**-digits + 1e-9
    lines = table(page, ".hand-steps .steps-table")
    products, scores, weights = trace.products[-1], trace.scores[-1], trace.weights[-1]
    may = trace.allowed[-1]
    for column, expected in ((1, products), (2, np.where(may, scores, np.nan)), (-2, np.where(may, weights, np.nan))):
        shown = [number_of(line[column]) for line in lines]
        np.testing.assert_allclose(shown, expected, rtol=0, atol=half)
    output = page.locator(".hand-output").inner_text().partition("[")[2].split(",")
    np.testing.assert_allclose([number_of(one) for one in output], trace.output[-1], rtol=0, atol=half)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_each_worked_example(page: Page, example: Example) -> None:
    go(page, "view=hand")
    take(page, example.name)
    eventually(page, lambda: shows(page, example.attend(), example.digits))


def test_every_number_can_be_edited(page: Page) -> None:
    """Each field is one number of the arithmetic: what follows from it is what Python makes of it."""
    inputs = EXAMPLES["cat"].inputs
    go(page, "view=hand")
    take(page, "cat")
    roles = {"query": inputs.query.copy(), "key": inputs.key.copy(), "value": inputs.value.copy()}
    fields = page.locator(".hand-numbers input")
    expect(fields).to_have_count(sum(numbers.size for numbers in roles.values()))
    for role, row, word, number in (("query", 0, "it", 2.0), ("key", 1, "cat", -1.0), ("value", 3, "it", 4.0)):
        page.get_by_label(f"{role} of {word}, number 1").fill(str(number))
        page.keyboard.press("Tab")
        roles[role][row, 0] = number
        expected = attend(roles["query"], roles["key"], roles["value"])
        eventually(page, lambda expected=expected: shows(page, expected, 2))  # type: ignore[misc]
    page.get_by_role("button", name="Reset").click()
    eventually(page, lambda: shows(page, EXAMPLES["cat"].attend(), 2))


def test_what_is_switched_off_breaks_as_in_python(page: Page) -> None:
    example = EXAMPLES["paris-all"]
    go(page, "view=hand")
    take(page, "paris-all")
    page.get_by_label("divide by √3").uncheck()
    eventually(page, lambda: shows(page, example.attend(scale=1.0), 3))
    page.get_by_label("mask").select_option("causal")
    eventually(page, lambda: shows(page, example.attend(scale=1.0, causal=True), 3))
    page.get_by_label("softmax").uncheck()
    expect(page.locator(".hand")).to_contain_text("softmax (left out)")
    expect(page.locator(".hand")).to_contain_text("not to 1")
    page.get_by_role("button", name="Reset").click()


def test_the_page_says_what_it_carries(page: Page, trophy: Written[Reading]) -> None:
    go(page, "view=about")
    header, _ = header_and_blocks(trophy.path.read_text(encoding="utf-8"))
    reading = header["readings"][0]
    about = page.locator(".about")
    for note in reading["notes"]:
        expect(about.locator(".about-notes")).to_contain_text(note)
    expect(about.locator(".facts").first).to_contain_text(str(reading["model"]["sha256"]))
    lines = about.locator("table tbody tr")
    layer = lines.filter(has=page.locator("th", has_text="16"))
    expect(layer).to_contain_text("unfold")
    worst = next(one["worst"] for one in reading["layers"] if one["number"] == 16)
    assert number_of(layer.locator("td.figures").inner_text()) == pytest.approx(worst, rel=0.05)
    expect(about).to_contain_text(f"Written by Heedmap {header['version']}, as heedmap/page/1")
