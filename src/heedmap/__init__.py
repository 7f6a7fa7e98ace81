"""Heedmap reads, draws and tests the attention of transformer language models.

    import heedmap as hm
    model = hm.load("smollm2")
    reading = model.read("The trophy did not fit in the suitcase because it was too big.")
    print(reading.row("it", layer=16, head=3))

Importing it loads neither torch nor matplotlib: each name brings its own room when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heedmap._version import __version__ as __version__
from heedmap.errors import HeedmapError as HeedmapError

if TYPE_CHECKING:
    from heedmap.arithmetic import Trace as Trace
    from heedmap.arithmetic import attend as attend
    from heedmap.reading.loading import load as load
    from heedmap.reading.loading import wrap as wrap
    from heedmap.reading.map import Map as Map
    from heedmap.reading.model import Model as Model
    from heedmap.reading.reading import Reading as Reading
    from heedmap.reading.row import Row as Row
    from heedmap.reading.watch import watch as watch

_HOMES = {
    "Map": "heedmap.reading.map",
    "Model": "heedmap.reading.model",
    "Reading": "heedmap.reading.reading",
    "Row": "heedmap.reading.row",
    "Trace": "heedmap.arithmetic",
    "attend": "heedmap.arithmetic",
    "load": "heedmap.reading.loading",
    "watch": "heedmap.reading.watch",
    "wrap": "heedmap.reading.loading",
}

__all__ = ["HeedmapError", "Map", "Model", "Reading", "Row", "Trace", "__version__", "attend", "load", "watch", "wrap"]


def __getattr__(name: str) -> Any:
    """Bring a public name from its room the first time it is used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heedmap' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
