"""Brings all live computations together, and describes them for the documentation."""

from __future__ import annotations

from heedmap.lessons import (
    live_across,
    live_asked,
    live_carried,
    live_command,
    live_cost,
    live_example,
    live_grid,
    live_inside,
    live_lab,
    live_layer,
    live_look,
    live_luck,
    live_mixed,
    live_model,
    live_next,
    live_picked,
    live_removed,
    live_script,
    live_spread,
    live_stream,
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
    "Of one real head": live_inside,
    "Of rows, read rightly or wrongly, and of two texts": live_look,
    "Of what a real model adds, layer after layer": live_stream,
    "Of what it would write next": live_next,
    "Of which noun it says a pronoun means": live_asked,
    "Of luck": live_luck,
    "Of a head picked on one sentence": live_picked,
    "Of heads taken away": live_removed,
    "Of what a look carries": live_carried,
    "Of what a vector holds": live_mixed,
    "Of two sequences": live_across,
    "Of long texts": live_cost,
    "What the lab measured": live_lab,
    "What a command prints": live_command,
    "Of short programs": live_script,
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
