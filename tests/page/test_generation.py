"""Generation: each token that was written, with the row that chose it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.reading.generation import Generation
from tests.page.conftest import Written
from tests.page.looking import ROUNDED, eventually, go, looked_at, number_of, table, units

HALF = 2.5e-4
"""What a weight that is carried in float16 may be off by."""


@pytest.fixture(scope="module")
def page(browser: Browser, written: Written[Generation]) -> Iterator[Page]:
    with looked_at(browser, written.path, "#view=generation") as page:
        yield page


@pytest.mark.parametrize("step", [0, 3, 5])
def test_the_row_that_chose_a_token(page: Page, written: Written[Generation], step: int) -> None:
    row = written.subject.row(step, layer=16, head=3)
    labels = written.subject.tokens.labels
    go(page, f"view=generation&layer=16&head=3&step={step}&query={row.query[0]}&unit=tokens")
    said = f"row {row.query[0]}, at “{labels[row.query[0]]}”, chose token {row.chooses}, “{labels[row.chooses]}”"
    expect(page.locator(".sentence")).to_contain_text(said)

    def check() -> None:
        shown = [number_of(number) for _, number in units(page) if number is not None]
        np.testing.assert_allclose(shown, row.weights[row.allowed], rtol=0, atol=ROUNDED + HALF)

    eventually(page, check)


def test_the_list_of_steps(page: Page, written: Written[Generation]) -> None:
    labels = written.subject.tokens.labels
    go(page, "view=generation&layer=16&head=3&step=0&unit=tokens")

    def check() -> None:
        lines = table(page, ".steps-list table")
        assert len(lines) == 6
        for step, (row_number, at, chose, most) in enumerate(lines):
            row = written.subject.row(step, layer=16, head=3)
            assert int(row_number) == row.query[0] == row.chooses - 1
            assert (at, chose) == (f"“{labels[row.query[0]]}”", f"“{labels[row.chooses]}”")
            assert most.startswith(f"“{labels[int(row.weights.argmax())]}” {row.weights.max():.3f}"[:-1])

    eventually(page, check)


def test_stepping_forth_and_back(page: Page, written: Written[Generation]) -> None:
    go(page, "view=generation&layer=16&head=3&step=0")
    expect(page.locator(".sentence")).to_contain_text("Step 1 of 6")
    page.get_by_role("button", name="one step on").click()
    expect(page.locator(".sentence")).to_contain_text("Step 2 of 6")
    expect(page.get_by_role("button", name="one step back")).to_be_enabled()
    page.get_by_role("slider", name="step").fill("5")
    expect(page.locator(".sentence")).to_contain_text("Step 6 of 6")
    expect(page.get_by_role("button", name="one step on")).to_be_disabled()
    expect(page.locator(".written-now")).to_have_text(written.subject.tokens.labels[-1])
    assert "step=5" in page.url


def test_a_row_that_chose_nothing_is_absent(page: Page) -> None:
    """The rows of the prompt were not asked for: they are told as absent, not as zero."""
    go(page, "view=read&layer=16&head=3&query=1")
    expect(page.locator(".sentence")).to_contain_text("this row is absent, not zero")
    expect(page.locator(".word-number")).to_have_count(0)
