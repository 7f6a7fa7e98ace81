"""All targets by name."""

from __future__ import annotations

from tests.fuzz import commands, edits, folders, headers, models, numbers, pictures, readings, reports, tables, texts
from tests.fuzz.target import Target

ROOMS = (texts, numbers, tables, reports, readings, headers, edits, models, folders, pictures, commands)
TARGETS: dict[str, Target] = {target.name: target for room in ROOMS for target in room.TARGETS}
