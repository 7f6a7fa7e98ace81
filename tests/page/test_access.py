"""For everybody: axe-core over every view, light and dark; narrow screens; print; the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from heedmap.reading.reading import Reading
from tests.axe import violations
from tests.page.conftest import Written
from tests.page.looking import eventually, go, looked_at

SCHEMES = ["light", "dark"]

PLACES = [
    ("trophy", "view=read&layer=16&head=3&query=10"),
    ("trophy", "view=heads&layer=16&head=3"),
    ("trophy", "view=hand"),
    ("trophy", "view=about"),
    ("compared", "view=compare&layer=16&head=3&query=13"),
    ("written", "view=generation&layer=16&head=3&step=3"),
]
"""Every view, on a page that has what it shows."""

OTHERS = [
    ("trophy", "view=read&layer=16&head=mean&query=8&unit=tokens&scale=log"),
    ("kinds", "view=read&layer=6&head=1&query=7"),
    ("kinds", "view=read&layer=7&head=1"),
    ("both_ways", "view=read&layer=3&head=5&query=8"),
    ("two_stacks", "view=read&reading=cross&layer=1&head=0"),
    ("patches", "view=read&layer=0&head=1"),
    ("picture_in_text", "view=read&layer=0&head=1"),
]
"""What else a page may show: absent layers, nan, stacks, pictures."""


@pytest.fixture(scope="module")
def pages(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Pages]:
    made = Pages(browser, request)
    yield made
    made.close()


class Pages:
    """Pages by their name, each opened once and kept."""

    def __init__(self, browser: Browser, request: pytest.FixtureRequest) -> None:
        self.browser = browser
        self.request = request
        self.open: dict[str, tuple[Any, Page]] = {}

    def at(self, name: str, place: str, scheme: str = "light") -> Page:
        """A page at a place, with its numbers there."""
        if name not in self.open:
            written: Written[Any] = self.request.getfixturevalue(name)
            manager = looked_at(self.browser, written.path, bypass_csp=True)
            self.open[name] = (manager, manager.__enter__())
        page = self.open[name][1]
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        go(page, place)
        expect(page.locator(".heedmap")).to_have_attribute("data-theme", scheme)
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        return page

    def close(self) -> None:
        for manager, _ in self.open.values():
            manager.__exit__(None, None, None)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("name", "place"), PLACES)
def test_axe_finds_nothing_in_any_view(pages: Pages, name: str, place: str, scheme: str) -> None:
    assert violations(pages.at(name, place, scheme)) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("name", "place"), OTHERS)
def test_axe_finds_nothing_in_what_is_rarer(pages: Pages, name: str, place: str, scheme: str) -> None:
    assert violations(pages.at(name, place, scheme)) == []


@pytest.mark.parametrize("width", [390, 320])
@pytest.mark.parametrize(("name", "place"), [*PLACES, OTHERS[4], OTHERS[5]])
def test_nothing_is_wider_than_a_narrow_screen(pages: Pages, name: str, place: str, width: int) -> None:
    page = pages.at(name, place)
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(150)  # the map takes its new width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def luminance_of_paper(page: Page) -> float:
    """How light the page's own paper is, from 0 to 1."""
    colour: str = page.locator(".heedmap").evaluate("one => getComputedStyle(one).backgroundColor")
    return sum(int(channel) for channel in re.findall(r"\d+", colour)[:3]) / 765


def test_print_shows_what_is_read_and_leaves_out_what_is_pressed(pages: Pages) -> None:
    page = pages.at("trophy", PLACES[0][1], "dark")
    page.emulate_media(media="print")
    expect(page.locator(".words")).to_be_visible()
    expect(page.locator(".tabs")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    page.emulate_media(media="screen")


MOVING = """all => all.filter((one) => {
  const { transitionDuration, animationName } = getComputedStyle(one);
  return animationName !== 'none' || transitionDuration.split(', ').some((each) => parseFloat(each) > 0.01);
}).map((one) => one.className)"""


def test_motion_is_left_out_when_it_is_unwelcome(browser: Browser, trophy: Written[Reading]) -> None:
    with looked_at(browser, trophy.path, reduced_motion="reduce") as page:
        moving = page.locator(".heedmap *").evaluate_all(MOVING)
        assert moving == []


def focused(page: Page) -> str:
    """What has the focus, by its role and name; it must be seen to have it."""
    name, seen = page.evaluate(
        """() => {
          const one = document.activeElement;
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
          const seen = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
          const name = one.getAttribute('aria-label') ?? one.textContent;
          return [`${one.getAttribute('role') ?? one.tagName.toLowerCase()} ${name}`.slice(0, 60), seen];
        }"""
    )
    assert seen, f"the focus on {name!r} is not seen"
    return str(name)


def test_the_whole_page_is_walked_by_the_keyboard(browser: Browser, trophy: Written[Reading]) -> None:
    """Tab comes to every part in its order, one stop for each list, grid and map, and leaves again."""
    with looked_at(browser, trophy.path, "#view=read&layer=16&head=3&query=10") as page:
        eventually(page, lambda: expect(page.locator(".steps-check")).to_be_visible())
        stops = []
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            stops.append(focused(page))
        for kind in (
            "tab Read",
            "select layer",
            "select head",
            "switch",
            "option",
            "gridcell",
            "application Map",
            "summary",
        ):
            assert any(stop.startswith(kind) for stop in stops), (kind, stops)
        for once in ("tab ", "option ", "gridcell ", "application "):
            assert sum(stop.startswith(once) for stop in stops) == 1, (once, stops)


def test_words_and_views_by_arrow_keys(browser: Browser, trophy: Written[Reading]) -> None:
    with looked_at(browser, trophy.path, "#view=read&layer=16&head=3&query=10") as page:
        page.locator("[role=option][aria-selected=true]").focus()
        for key, word in (("ArrowLeft", "because"), ("Home", "The"), ("ArrowRight", "trophy"), ("End", ".")):
            page.keyboard.press(key)
            expect(page.locator("[role=option][aria-selected=true] .word-text")).to_have_text(word)
            expect(page.locator(".sentence b")).to_contain_text(word)
            assert focused(page).startswith("option")
        page.get_by_role("tab", name="Read").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".view-compare")).to_be_visible()
        assert focused(page).startswith("tab Compare")


def test_the_map_and_the_heads_by_arrow_keys(browser: Browser, trophy: Written[Reading]) -> None:
    with looked_at(browser, trophy.path, "#view=read&layer=16&head=3&query=10&key=1") as page:
        page.locator(".map-stage").focus()
        line = page.locator(".map-line")
        for key, cell in (("ArrowDown", (11, 1)), ("ArrowLeft", (11, 0)), ("End", (11, 14)), ("Control+Home", (0, 14))):
            page.keyboard.press(key)
            expect(line).to_contain_text(f"(token {cell[0]})")
            expect(line).to_contain_text(f"(token {cell[1]})")
        page.keyboard.press("+")
        expect(page.get_by_role("button", name="whole map")).to_be_enabled()
        page.keyboard.press("0")
        expect(page.get_by_role("button", name="whole map")).to_be_disabled()
        page.get_by_role("gridcell", name="layer 16, head 3:").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        expect(page.locator("[role=gridcell][aria-selected=true]")).to_have_attribute("data-layer", "17")
        assert "layer=17&head=4" in page.url
        assert focused(page).startswith("gridcell")


def test_a_link_leads_back_to_the_same_view(browser: Browser, trophy: Written[Reading]) -> None:
    """The state is in the address: opened anew, the page shows the same."""
    with looked_at(browser, trophy.path) as page:
        page.get_by_role("option", name="was").click()
        page.locator("select[aria-label=layer]").select_option("18")
        page.get_by_role("button", name="logarithmic").click()
        page.get_by_role("switch").click()
        expect(page.locator(".sentence")).to_contain_text("was")
        address, place = page.url, page.url.partition("#")[2]
        assert {"layer=18", "scale=log", "apart=no"} <= set(place.split("&"))
    with looked_at(browser, trophy.path, f"#{place}") as page:
        expect(page.locator(".sentence b")).to_contain_text("was")
        expect(page.locator("select[aria-label=layer]")).to_have_value("18")
        expect(page.get_by_role("button", name="logarithmic")).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")
        assert page.url == address
