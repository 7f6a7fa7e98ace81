"""Where a run can happen: here, or on a Ray cluster."""

from __future__ import annotations

from heedmap.errors import OutOfRange
from heedmap.lab.run import Engine, run_here


def engine_named(name: str) -> Engine:
    """The engine of a name.

    Raises:
        OutOfRange: there is none.
        MissingExtra: its package is not installed.
    """
    if name == "here":
        return run_here
    if name == "ray":
        from heedmap.lab.ray_engine import run_on_ray

        return run_on_ray
    raise OutOfRange(f"there is no engine {name!r}: there are here and ray")
