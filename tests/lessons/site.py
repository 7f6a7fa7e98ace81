"""What the tests of the exported site share: what must be so of every site, and how a page is asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from heedmap.lessons.course import load_course
from heedmap.lessons.site.write import file_name
from tests.axe import violations
from tests.browser import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

COURSE = load_course()


def dead_links(folder: Path) -> list[str]:
    """Links that lead nowhere: to files that are not there, or to places that no page has."""
    found = []
    for path in sorted(folder.glob("*.html")):
        page = path.read_text(encoding="utf-8")
        for target in re.findall(r'<a [^>]*href="([^"]*)"', page):
            name, _, anchor = target.partition("#")
            if target.startswith("https://"):
                continue
            other = folder / name if name else path
            if not other.is_file() or (anchor and f'id="{anchor}"' not in other.read_text(encoding="utf-8")):
                found.append(f"{path.name} links to {target}")
    return found


def what_is_loaded(folder: Path) -> list[str]:
    """What pages load beside themselves and the maps that stand in the same folder."""
    found = []
    for path in sorted(folder.glob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "default-src 'none'" not in page:
            found.append(f"{path.name} may load anything")
        found += [
            f"{path.name} shows {target}"
            for target in re.findall(r'<iframe [^>]*src="([^"]*)"', page)
            if not (folder / target).exists()
        ]
        own = page.partition('<script type="module"')[0]
        found += [f"{path.name}: {one}" for one in re.findall(r"""<(?:script|img|link)[^>]+(?:src|href)=""", own)]
    return found


def barriers(browser: Browser, address: str, scheme: str = "light", width: int = 1280) -> list[str]:
    """What axe-core finds wrong with a page, with its first worked example opened."""
    with opened(browser, address, color_scheme=scheme, bypass_csp=True) as page:
        page.set_viewport_size({"width": width, "height": 900})
        for button in page.get_by_role("button", name="Change the numbers").all()[:1]:
            button.click()
        return violations(page)


def page_of(folder: Path, number: int) -> str:
    """The address of a lesson's page."""
    return (folder / file_name(COURSE.find(str(number)))).as_uri()


def answer(page: Page, question: str, typed: str) -> Locator:
    """Type an answer to a checkpoint and check it; where the verdict is told."""
    block = page.locator(f'[data-question="{question}"]')
    block.get_by_label("Your answer").fill(typed)
    block.get_by_role("button", name="Check").click()
    return block.get_by_role("status")


def choose(page: Page, quiz: str, text: str) -> Locator:
    """Choose an answer of a quiz and check it; where the verdict is told."""
    block = page.locator(f'[data-question="{quiz}"]')
    block.get_by_label(text, exact=True).check()
    block.get_by_role("button", name="Check").click()
    return block.get_by_role("status")
