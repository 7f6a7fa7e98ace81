"""All targets by name."""

from __future__ import annotations

from tests.fuzz import commands, models, numbers, reports, tables, texts
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for room in (texts, numbers, tables, reports, models, commands) for target in room.TARGETS
}
