"""How a reading shows itself: as a page that opens in any browser, and as a cell of a notebook."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from heedmap.reading.progress import Progress

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading


class PageOptions(TypedDict, total=False):
    """What a page shows first, and what it carries; see `OnAPage.page`."""

    word: str | None
    layer: int | None
    head: int | None
    layers: int | Collection[int] | None
    steps: int | Collection[int] | None
    precision: str
    max_mb: float | None
    compare: Reading | None
    picture: Any


class OnAPage:
    """What can be looked through on a page: a reading, the stacks of an encoder-decoder, a generation."""

    __slots__ = ()

    def page(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        progress: Progress | None = None,
        **options: Unpack[PageOptions],
    ) -> str:
        """One HTML file that opens anywhere with no network: the words, the maps of all heads, the four steps.

        Args:
            path: where the file is written; None only returns it.
            progress: told how far it is.
            **options:
                word: the word whose row is shown first, see `Tokens.find`.
                layer: shown first, from 0; None is the middle one.
                head: shown first, from 0; None is the mean over heads.
                layers: the layers that the file carries; None carries all that were kept, as far as its size allows.
                steps: the layers whose queries, keys and values are carried too; None takes the one shown first.
                precision: "float16" (weights are off by at most 5e-4, or by 5e-3 where they are computed from queries
                    and keys), or "float32".
                max_mb: megabytes that the file may have: what does not fit is left out, and said. None allows 20, and
                    any size where `layers` are given.
                compare: another reading, shown beside this one with what differs; of the same tokenizer.
                picture: the picture, as a file name or a Pillow image, where the tokens are its patches.

        Returns:
            the HTML.

        Raises:
            WordNotFound, AmbiguousWord: the word is not there, or several times.
            OutOfRange: no such layer or head.
            ReadingError: another precision.
            TooLarge: `max_mb` does not even hold the layer shown first.
            FileError: the file cannot be written, or the page's program was not built (in a checkout: `make viewer`).
        """
        from heedmap.drawing.page.page import make_page
        from heedmap.drawing.page.view import View

        made = make_page(self, View(**options), progress=progress)
        if path is not None:
            made.write(path)
        return made.html

    def widget(self, **options: Unpack[PageOptions]) -> Any:
        """The same page as a widget for notebooks (Jupyter, VS Code, Colab, marimo); options as in `page`.

        Raises:
            MissingExtra: anywidget is not installed; the message says how it is.
        """
        from heedmap.drawing.page.notebook import make_widget

        return make_widget(self, **options)

    def _repr_mimebundle_(self, **chosen: Any) -> Any:
        """What Jupyter, VS Code and Colab show for the last line of a cell."""
        from heedmap.drawing.page.notebook import mimebundle

        return mimebundle(self, **chosen)

    def _display_(self) -> Any:
        """What marimo shows for the last line of a cell."""
        from heedmap.drawing.page.notebook import in_marimo

        return in_marimo(self)
