"""Brings all live computations together, and describes them for the documentation."""

from __future__ import annotations

from heedmap.lessons import (
    live_command,
    live_example,
    live_grid,
    live_layer,
    live_model,
    live_spread,
    live_tools,
    live_turn,
)
from heedmap.lessons.live import REGISTRY, Computation

_GROUPS = {
    "Of the worked examples": live_example,
    "Of whole sentences": live_grid,
    "Of the small tools": live_tools,
    "Of random products": live_spread,
    "Of one small layer": live_layer,
    "Of places": live_turn,
    "Of real models, inside sentences": live_model,
    "What a command prints": live_command,
}


def computations_page() -> str:
    """Tables of every computation, in Markdown."""
    parts = []
    for title, module in _GROUPS.items():
        rows = [item for item in REGISTRY.known.values() if item.work.__module__ == module.__name__]
        parts.append("\n".join([f"### {title}", "", "| computation | gives |", "|---|---|", *map(_row, rows)]))
        if module is live_example:
            changes = ", ".join(f"`{change}`" for change in live_example.CHANGES)
            parts.append(f"CHANGE is any of {changes}. Where several words ask, `asks=TOKEN` says whose row is meant.")
    return "\n\n".join(parts)


def _row(item: Computation) -> str:
    """One line of the table."""
    usage = item.usage.replace("|", "\\|")
    return f"| `{item.name} {usage}` | {item.says}{' (lines)' if item.block else ''} |"
