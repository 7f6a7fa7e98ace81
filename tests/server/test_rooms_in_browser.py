"""The application in real Chromium: by hand, a real reading, the lab stopped and gone on with, the worker killed."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.reading.model import Model
from tests.axe import violations
from tests.browser import opened
from tests.conftest import TROPHY
from tests.server.conftest import Asker

REFUSED = "Failed to load resource"
"""What the browser writes of each answer that is a refusal."""


@pytest.fixture
def address(asker: Asker) -> str:
    return f"http://127.0.0.1:{asker.port}"


def read(page: Page, text: str) -> None:
    page.get_by_label("Text").fill(text)
    page.get_by_role("button", name="Read", exact=True).click()


def test_by_hand_every_number_is_open(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/hand") as page:
        output = page.get_by_text("output [0.51, 0.37]").first
        expect(output).to_be_visible()
        page.locator("input[type=checkbox]").nth(1).uncheck()
        expect(output).not_to_be_visible()
        assert "#hand=" in page.url
        again = page.url
        page.goto("about:blank")
        page.goto(again)
        expect(page.locator("input[type=checkbox]").nth(1)).not_to_be_checked()


def test_a_reading_shows_the_numbers_of_python_and_is_let_go_with_the_page(
    browser: Browser, address: str, smollm2: Model, asker: Asker
) -> None:
    asked: list[str] = []
    row = smollm2.read(TROPHY).row("it", layer=16, head=3)
    with opened(browser, f"{address}/read") as page:
        page.on("request", lambda request: asked.extend(re.findall(r"/api/readings/[^/]+", request.url)))
        read(page, TROPHY)
        expect(page.locator(".view-read")).to_be_visible()
        page.goto(re.sub(r"#.*", "", page.url) + "#view=read&layer=16&head=3&query=10")
        for word, weight in (("trophy", row.weights[1]), ("The", row.weights[0])):
            item = page.get_by_text(f"{weight:.3f}").first
            expect(item).to_be_visible()
            assert word in page.locator(".view-read").inner_text()
        expect(page.get_by_text("33.75").first).to_be_visible()  # q · k of "it" and "trophy", from the server's vectors
        page.goto("about:blank")  # the browser itself stays: a process that ends sends nothing any more
        deadline = time.monotonic() + 30
        while asker.ask("GET", f"{asked[-1]}/row?layer=1&query=1").status != 410:
            assert time.monotonic() < deadline, "the page was left, and its reading is still held"
            page.wait_for_timeout(100)


def test_the_page_says_when_the_worker_ended_and_recovers(browser: Browser, address: str, asker: Asker) -> None:
    with opened(browser, f"{address}/read", allowed=REFUSED) as page:
        read(page, "The cat sat on the mat.")
        expect(page.locator(".view-read")).to_be_visible()
        expect(page.locator(".work")).to_have_count(0)
        os.kill(asker.ask("GET", "/api/status").json["worker"], signal.SIGKILL)
        page.get_by_role("option", name="sat").first.click()
        expect(page.get_by_text("Reading the text again").first).to_be_visible()
        expect(page.get_by_text("Reading the text again")).to_have_count(0)
        expect(page.locator(".view-read")).to_contain_text("sat")


def test_what_cannot_be_read_leaves_the_page_before_as_it_was(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/read", allowed=REFUSED) as page:
        read(page, "The cat sat on the mat.")
        expect(page.locator(".view-read")).to_be_visible()
        expect(page.locator(".work")).to_have_count(0)
        read(page, "a " * 9000)
        expect(page.get_by_role("note").first).to_contain_text("8192")
        page.get_by_role("option", name="sat").first.click()  # its numbers are asked for, and still there
        expect(page.locator(".sentence")).to_contain_text("“sat”")
        expect(page.locator(".sentence")).to_contain_text("adds up to 1.000")


@pytest.mark.slow  # 8,192 tokens
def test_a_text_that_is_too_long_is_cut_where_that_is_asked_for_and_stopped(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/read") as page:
        page.get_by_label("cut what is too long").check()
        read(page, "a " * 9000)
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".work")).to_have_count(0)
        expect(page.locator(".view-read")).to_have_count(0)
        page.get_by_role("button", name="Read", exact=True).click()
        expect(page.locator(".view-read")).to_be_visible(timeout=300_000)
        expect(page.locator(".heedmap.application")).to_contain_text(re.compile("8,?192 tokens"))


@pytest.mark.slow  # 4,200 tokens
def test_the_statistics_of_a_long_text_are_computed_when_somebody_wants_them(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/read") as page:
        read(page, "a " * 4200)
        page.get_by_role("tab", name="Heads").click(timeout=200_000)
        wanted = page.get_by_role("button", name="Compute what each head does on average")
        wanted.click()
        page.get_by_role("button", name="Stop").click()
        wanted.click()
        expect(page.get_by_role("combobox", name="statistic")).to_be_visible(timeout=250_000)


@pytest.mark.parametrize("when", ["at once", pytest.param("in the middle", marks=pytest.mark.slow)])
def test_the_lab_is_stopped_and_goes_on(browser: Browser, address: str, when: str) -> None:
    with opened(browser, f"{address}/lab") as page:
        page.get_by_role("combobox", name="Experiment").select_option("causal")
        page.get_by_label("Only the first items").fill("2" if when == "at once" else "6")
        page.get_by_role("button", name="Start").click()
        run = page.locator(".run").first
        expect(run).to_contain_text("running")
        if when == "in the middle":
            expect(run.locator("progress[value]")).to_be_visible()
        run.get_by_role("button", name="Stop").click()
        expect(run).to_contain_text("stopped")
        expect(run).not_to_contain_text("ended from outside")
        page.reload()  # another page finds the run as it was left
        run = page.locator(".run").first
        run.get_by_role("button", name="Go on").click()
        expect(run).to_contain_text("finished", timeout=120_000)
        with page.expect_popup() as popup:
            run.get_by_role("link", name="Open the report").click()
        expect(popup.value.locator("body")).to_contain_text("causal")
        name = run.locator("small").inner_text()
        run.get_by_role("button", name="Delete").click()
        run.get_by_role("button", name="Keep it").click()
        run.get_by_role("button", name="Delete").click()
        run.get_by_role("button", name="Delete all it measured").click()
        expect(page.get_by_text(name)).to_have_count(0)
        page.reload()
        expect(page.get_by_role("heading", name="Runs")).to_be_visible()
        expect(page.get_by_text(name)).to_have_count(0)


def test_a_lesson_is_read_and_answered(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/learn") as page:
        page.get_by_role("link", name="1 One word looks back").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("One word looks back")
        expect(page.locator("form, fieldset").first).to_be_visible()
        page.get_by_role("link", name="The course").click()
        expect(page).to_have_url(f"{address}/learn")


LESSON = "learn/01-one-word-looks-back.html"
FAST = [("hand", "light"), ("read", "dark"), ("lab", "light"), ("learn", "light"), (LESSON, "dark")]
"""Each room once; in its other light it is among the slow."""


@pytest.mark.parametrize(
    ("room", "scheme"),
    [
        pytest.param(room, scheme, marks=() if (room, scheme) in FAST else pytest.mark.slow)
        for room, _ in FAST
        for scheme in ("light", "dark")
    ],
)
def test_axe_finds_nothing(browser: Browser, address: str, room: str, scheme: str) -> None:
    with opened(browser, f"{address}/{room}", bypass_csp=True, color_scheme=scheme) as page:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        if room == "read":
            read(page, TROPHY)
            expect(page.locator(".view-read")).to_be_visible()
            expect(page.locator(".work")).to_have_count(0)
        assert violations(page) == []
