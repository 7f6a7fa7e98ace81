"""A progress bar on stderr, for work that turns out to take more than two seconds, on a terminal alone."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heedmap.reading.progress import Progress

PATIENCE = 2.0
"""Seconds of work without a bar."""


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """What to hand on as `progress=`: a bar that shows itself once two seconds have gone; None where none is wanted.

    There is no bar where stderr is not a terminal, or is a dumb one. It is gone when the block ends.

    Example:
        >>> with progress_bar() as progress:      # stderr is no terminal here
        ...     print(progress)
        None
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        yield None
        return
    bar = _Bar()
    clock = threading.Timer(PATIENCE, bar.show)
    clock.daemon = True
    clock.start()
    try:
        yield bar.tell
    finally:
        clock.cancel()
        bar.close()


class _Bar:
    """The newest state of the work, drawn from the moment on in which `show` is called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: tuple[int, int, str] | None = None
        self._drawn: Any = None
        self._task: Any = None
        self._closed = False

    def tell(self, done: int, total: int, what: str) -> None:
        """Take in how far the work is; see `heedmap.reading.progress`."""
        with self._lock:
            self._state = (done, total, what)
            self._draw()

    def show(self) -> None:
        """Begin to draw."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from heedmap.drawing.terminal import console

        with self._lock:
            if self._closed:
                return
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
            self._drawn = Progress(*columns, TimeRemainingColumn(), console=console(stderr=True), transient=True)
            self._drawn.start()
            self._task = self._drawn.add_task("working", total=None)
            self._draw()

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()

    def _draw(self) -> None:
        """Bring the bar up to date, if there is one."""
        if self._drawn is not None and self._state is not None:
            done, total, what = self._state
            self._drawn.update(self._task, completed=done, total=total, description=what)
