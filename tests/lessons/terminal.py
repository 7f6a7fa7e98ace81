"""A pseudo-terminal for tests: starts a command as at a keyboard, waits for text, types lines."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")


def _at_a_keyboard() -> None:
    """In the child: the terminal is its own, and Ctrl-C ends it even where the tests run in the background."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class Terminal:
    """A running `heedmap` command on a terminal of its own."""

    def __init__(self, arguments: list[str], surroundings: Mapping[str, str], columns: int = 80) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "heedmap", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm", **surroundings},
            start_new_session=True,
            preexec_fn=_at_a_keyboard,
        )
        os.close(slave)
        self.seen = ""
        self.position = 0

    def wait(self, text: str, seconds: float = 60.0) -> str:
        """Read until a text appears; what came since the last wait, that text included."""
        end = time.monotonic() + seconds
        while (found := self.plain.find(text, self.position)) < 0:
            assert time.monotonic() < end, f"{text!r} did not come; so far:\n{self.plain[self.position :]}"
            assert self._read(), f"the command ended before {text!r}; so far:\n{self.plain[self.position :]}"
        came = self.plain[self.position : found + len(text)]
        self.position = found + len(text)
        return came

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        os.write(self.master, f"{line}\n".encode())

    def key(self, character: str) -> None:
        """Press a key such as Ctrl-D, without Enter."""
        os.write(self.master, character.encode())

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C as a person does: again, when nothing happens for a while; the exit code, and what came.

        Between showing a prompt and waiting for its line there is a moment in which Python notes an interrupt and
        does not look at it before the next key.
        """
        self.key("\x03")
        try:
            return self.end(10)
        except AssertionError:
            self.key("\x03")
            return self.end()

    def end(self, seconds: float = 60.0) -> tuple[int, str]:
        """Read to the end; the exit code, and what came."""
        end = time.monotonic() + seconds
        while self._read():
            assert time.monotonic() < end, f"it did not end; so far:\n{self.plain[self.position :]}"
        return self.process.wait(10), self.plain[self.position :]

    @property
    def plain(self) -> str:
        """All that was shown, without colours."""
        return _CONTROL.sub("", self.seen)

    def _read(self) -> bool:
        """Read what there is within a second; whether more may come."""
        ready, _, _ = select.select([self.master], [], [], 1.0)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def close(self) -> None:
        """End the command, if it still runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


@contextlib.contextmanager
def terminal(arguments: list[str], surroundings: Mapping[str, str], columns: int = 80) -> Iterator[Terminal]:
    """A command on a terminal, ended with the block."""
    running = Terminal(arguments, surroundings, columns)
    try:
        yield running
    finally:
        running.close()
