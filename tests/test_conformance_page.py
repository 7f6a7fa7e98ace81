"""docs/conformance.md says what the tables of families say, and what it says was measured holds."""

from __future__ import annotations

import re

from docs.conformance import measured, page

from tests.families import FAMILIES, OWN_CODE
from tests.test_docs import ROOT
from tests.watched_families import WATCHED

COMMITTED = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
VERSIONS = re.compile(r"transformers [\d.]+, torch [\d.]+")
BOUND = re.compile(r"≤ 1e-(\d)")


def test_the_page_is_made_from_the_tables_that_are_tested() -> None:
    # Numbers differ from machine to machine, and with the versions: the rest must be the same.
    made = page(lambda name: "≤ 1e-0")
    plain = [VERSIONS.sub("", BOUND.sub("", text)) for text in (made, COMMITTED)]
    assert plain[0] == plain[1], "stale: run `make docs`"


def test_every_family_differs_by_less_than_a_hundred_thousandth() -> None:
    bounds = [int(exponent) for exponent in BOUND.findall(COMMITTED)]
    assert len(bounds) == len(FAMILIES) + len(OWN_CODE) + len(WATCHED), "stale: run `make docs`"
    assert min(bounds) >= 5


def test_what_is_printed_is_what_is_measured() -> None:
    found = BOUND.fullmatch(measured("vit"))
    assert found is not None
    assert int(found.group(1)) >= 5
