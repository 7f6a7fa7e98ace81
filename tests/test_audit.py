"""What the audit says: holes, none, and that nobody could be asked."""

from __future__ import annotations

from typing import Any

from tests.audit import NOBODY_ASKED, judge

SOUND: dict[str, Any] = {"name": "click", "version": "8.2", "vulns": []}
HOLED: dict[str, Any] = {"name": "old", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["1.1", "2.0"]}]}
SKIPPED: dict[str, Any] = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}


def test_holes_fail_and_are_named() -> None:
    assert judge({"dependencies": [SOUND, HOLED]}) == (
        1,
        ["old 1: CVE-1, mended in 1.1, 2.0", "2 packages were audited: 1 known holes"],
    )


def test_what_is_not_known_to_the_index_is_named() -> None:
    code, lines = judge({"dependencies": [SOUND, SKIPPED]})
    assert (code, lines[0]) == (0, "not known to the index, so not audited: torch")


def test_nobody_asked_is_not_nothing_known() -> None:
    assert judge({"dependencies": [SKIPPED]})[0] == NOBODY_ASKED
