"""axe-core over a page: what people who hear it, or use it without a mouse, would trip over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

SCRIPT = Path(__file__).parents[1] / "viewer" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong, a line each: rule, gravity and places; the page must be opened with `bypass_csp`."""
    if not SCRIPT.is_file():
        pytest.skip("axe-core is not here: `make viewer` fetches it")
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate("async () => (await axe.run(document)).violations")
    return [f"{one['id']} ({one['impact']}): {[node['html'][:200] for node in one['nodes']][:3]}" for one in found]
