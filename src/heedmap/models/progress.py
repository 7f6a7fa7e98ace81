"""What is said on stderr while something is fetched or converted: one line, and a bar on a terminal."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heedmap.cut_text import cut_text

_LONGEST_LINE = 300


def first_line(error: BaseException) -> str:
    r"""The first line of an exception's text, cut where it is long, or its class where it has none.

    Example:
        >>> first_line(ValueError("no such type\nsee the manual")), first_line(TimeoutError())
        ('no such type', 'TimeoutError')
    """
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return cut_text(line, _LONGEST_LINE)


def sizes_under(folder: Path) -> list[int]:
    """The sizes of the files under a folder in which another process may be writing; links are not followed."""
    sizes = []
    for place, _, names in os.walk(folder):  # which passes over folders that have just gone
        for name in names:
            try:
                sizes.append(Path(place, name).lstat().st_size)
            except OSError:  # moved or removed just now
                continue
    return sizes


class Progress:
    """Notes and bars on stderr, or silence.

    Args:
        shown: False keeps quiet.

    Example:
        >>> Progress(shown=False).say("fetching")
    """

    def __init__(self, shown: bool) -> None:
        self.shown = shown

    def say(self, message: str) -> None:
        """One line on stderr."""
        if self.shown:
            print(f"heedmap: {message}", file=sys.stderr, flush=True)  # noqa: T201 - this is the printing place

    @contextmanager
    def bar(self, label: str, total: int | None, measure: Callable[[], int] = lambda: 0) -> Iterator[None]:
        """A bar that lives as long as the block, on a terminal; elsewhere nothing.

        Args:
            label: what is going on.
            total: bytes to come, or None for a bar that only shows that work goes on.
            measure: bytes done so far; asked ten times a second from another thread.
        """
        if not (self.shown and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"):
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        sizes = [DownloadColumn()] if total else []
        columns = [TextColumn("heedmap: {task.description}"), BarColumn(), *sizes, TimeElapsedColumn()]
        done = threading.Event()
        with Bars(*columns, console=Console(file=sys.stderr), transient=True) as bars:
            task = bars.add_task(label, total=total)

            def follow() -> None:
                while not done.wait(0.1):
                    if total:
                        bars.update(task, completed=min(measure(), total))

            follower = threading.Thread(target=follow, daemon=True)
            follower.start()
            try:
                yield
            finally:
                done.set()
                follower.join()
