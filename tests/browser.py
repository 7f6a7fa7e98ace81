"""Real Chromium for pages: started once, each page in a context of its own, anything it complains of is a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

expect.set_options(timeout=60_000)  # a shared machine pauses at random

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str:
    """Where Chromium is: `HEEDMAP_CHROMIUM`, or on the path."""
    named = os.environ.get("HEEDMAP_CHROMIUM")
    found = named or next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip("no Chromium here: install it (Debian: apt-get install chromium), or name it in HEEDMAP_CHROMIUM")
    return found


INSIDE = ("blob:", "data:")
"""Addresses of what a page holds itself: its worker, its pictures."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, address: str, *, allowed: str | None = None, alone: bool = False, **options: Any
) -> Iterator[Page]:
    """A page; what it threw or wrote as an error makes the test fail, but for errors that hold `allowed`.

    A page that must stand `alone` is opened with the network off, and fails for whatever it asks for beside itself.
    """
    complaints: list[str] = []

    def listen(kind: str, text: str) -> None:
        if kind == "error" and (allowed is None or allowed not in text):
            complaints.append(text)

    def asked(address_asked: str) -> None:
        if address_asked.partition("#")[0] != address.partition("#")[0] and not address_asked.startswith(INSIDE):
            complaints.append(f"asked for {address_asked[:200]}")

    settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "offline": alone} | options
    context = browser.new_context(**settings)
    page = context.new_page()
    if alone:
        context.on("request", lambda request: asked(request.url))
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: complaints.append(f"threw {error}"))
    page.on("console", lambda message: listen(message.type, message.text))
    page.goto(address)
    yield page
    context.close()
    assert not complaints, complaints
