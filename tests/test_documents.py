"""Documents beside the code: the tests that SECURITY.md names exist, and versions are the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heedmap._version import __version__

ROOT = Path(__file__).parents[1]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("path", "name"), NAMED, ids=["::".join(filter(None, one)) for one in NAMED])
def test_every_test_that_security_names_is_there(path: str, name: str) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    assert not name or re.search(rf"^def {name}\(", source, re.MULTILINE)


def test_every_part_of_security_names_a_test() -> None:
    parts = (ROOT / "SECURITY.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert [part.splitlines()[0] for part in parts if "`tests/" not in part] == []


def test_the_version_is_the_same_everywhere() -> None:
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
