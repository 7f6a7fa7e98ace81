"""The page in a notebook: one widget a cell, whose values carry header and blocks; text where it cannot be shown."""

from __future__ import annotations

import functools
import sys
from typing import Any, Unpack

from heedmap.drawing.page.bundle import load_bundle
from heedmap.drawing.page.page import make_contents
from heedmap.drawing.page.view import View
from heedmap.errors import HeedmapError, MissingExtra
from heedmap.reading.on_a_page import OnAPage, PageOptions

SHOWN_MEGABYTES = 10.0
"""How much a reading sends to a notebook when it is only the last line of a cell."""


def make_widget(subject: OnAPage, **options: Unpack[PageOptions]) -> Any:
    """An anywidget with the page of a reading; see `OnAPage.widget`."""
    kind = _widget_class()
    contents = make_contents(subject, View(**options))
    sizes = [len(block) for block in contents.blocks]
    return kind(header=contents.header_text(), data=b"".join(contents.blocks), sizes=sizes)


def mimebundle(subject: OnAPage, **chosen: Any) -> Any:
    """What Jupyter shows: the page where a notebook asks and anywidget is there, and text in any case."""
    text = str(subject)
    if not _in_a_notebook():
        return {"text/plain": text}
    try:
        widget = make_widget(subject, max_mb=SHOWN_MEGABYTES)
    except HeedmapError as error:
        return {"text/plain": f"{text}\n({error})"}
    shown = widget._repr_mimebundle_(**chosen)
    data = shown[0] if isinstance(shown, tuple) else shown
    data["text/plain"] = text
    return shown


def in_marimo(subject: OnAPage) -> Any:
    """What marimo shows: the page where anywidget is there, else text."""
    try:
        return make_widget(subject, max_mb=SHOWN_MEGABYTES)
    except HeedmapError as error:
        return f"{subject}\n({error})"


def _in_a_notebook() -> bool:
    """Whether a kernel asks: a terminal's IPython would only print the text."""
    found = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return found is not None and hasattr(found(), "kernel")


@functools.cache
def _widget_class() -> Any:
    """The widget's class; made when it is first asked for, since its package is optional.

    Raises:
        MissingExtra: anywidget is not installed.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtra(
            'the page in a notebook needs anywidget: pip install "heedmap[notebook]"; reading.page("page.html") '
            "writes it as a file without"
        ) from None
    bundle = load_bundle()

    class Page(anywidget.AnyWidget):
        """One page; the program reads its values by these names."""

        _esm = bundle.script
        _css = bundle.style
        header = traitlets.Unicode().tag(sync=True)
        data = traitlets.Bytes().tag(sync=True)
        sizes = traitlets.List(traitlets.Int()).tag(sync=True)

    return Page
