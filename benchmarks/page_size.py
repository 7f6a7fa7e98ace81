"""How large a page is, and how far its numbers are off; `python -m benchmarks.page_size --write` writes docs/page.md.

The page's program must be built (`make viewer`).
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from docs.marked import write_part

import heedmap
from benchmarks.subject import tokens_of
from heedmap.drawing.page.notes import at_most
from heedmap.drawing.page.page import make_page
from heedmap.drawing.page.view import View
from heedmap.reading.model import Model

DOCUMENT = Path(__file__).parents[1] / "docs" / "page.md"

LAYER = 16
CASES: tuple[tuple[int, list[int] | None, float | None], ...] = (
    (32, None, 1.5),
    (128, None, 8.0),
    (256, None, 20.0),
    (2048, [LAYER], 6.0),
    (8192, [LAYER], None),
)
"""Tokens, layers (None: all 30), and the megabytes that were promised."""


def measured(model: Model) -> str:
    """The table as Markdown."""
    lines = [
        "| tokens | layers | megabytes | at most | carried as | largest difference of a weight |",
        "|---:|---:|---:|---:|---|---:|",
    ]
    for count, layers, limit in CASES:
        reading = model.read_tokens(tokens_of(model, count), layers=layers, values=True)
        alone = replace(reading, reader=None)  # statistics of the layers that were kept are enough here
        made = make_page(alone, View(layer=LAYER, layers=layers or list(range(len(model.layers)))))
        size = len(made.html.encode()) / 1e6
        forms, worst = _forms(made.html)
        promised = "" if limit is None else f"{limit:g}"
        number = 30 if layers is None else len(layers)
        lines.append(f"| {count:,} | {number} | {size:.2f} | {promised} | {forms} | {at_most(worst)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _forms(html: str) -> tuple[str, float]:
    """What the file carries, and the largest difference that it states."""
    header = re.search(r'id="heedmap-header">(.*?)</script>', html, re.DOTALL)
    assert header is not None
    layers: list[dict[str, Any]] = json.loads(header[1])["readings"][0]["layers"]
    there = [layer for layer in layers if layer["carries"] != "nothing"]
    forms = {f"{layer['carries']} in {layer['precision']}" for layer in there}
    return "; ".join(sorted(forms, reverse=True)), max(layer["worst"] for layer in there)


def main() -> None:
    """Measure, print, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/page.md")
    given = parser.parse_args()
    table = measured(heedmap.load("smollm2"))
    if given.write:
        write_part(DOCUMENT, "measured", table)


if __name__ == "__main__":
    main()
