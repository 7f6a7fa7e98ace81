"""The whole course exported with the maps of its real models: what takes minutes, beside test_site and its walks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.site.write import file_name, write_site
from heedmap.reading.model import Model
from tests.browser import opened
from tests.lessons.making import lesson
from tests.lessons.site import COURSE, barriers, dead_links, what_is_loaded

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


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
    assert dead_links(site) == []


def test_pages_load_nothing(site: Path) -> None:
    assert what_is_loaded(site) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.parametrize("name", ["index.html", "words.html", *map(file_name, COURSE.lessons)])
def test_no_page_has_a_barrier(browser: Browser, site: Path, name: str, scheme: str, width: int) -> None:
    assert barriers(browser, (site / name).as_uri(), scheme, width) == []


def test_a_real_models_map_stands_in_the_lesson(
    browser: Browser, smollm2: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import expect

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
