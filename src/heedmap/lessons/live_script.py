"""Live programs: the short scripts that lessons explain, as they stand, and what they print when they are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from heedmap.arithmetic.names import listed
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure
from heedmap.lessons.live_model import DEFAULT_MODEL

FOLDER = Path(__file__).parent / "scripts"
SECONDS = 300
"""The most time that a script may take."""


def script_named(name: str) -> Path:
    """The file of a script.

    Raises:
        LessonError: there is none of that name.

    Example:
        >>> script_named("twenty_lines").name
        'twenty_lines.py'
    """
    known = sorted(path.stem for path in FOLDER.glob("*.py"))
    if name not in known:
        raise LessonError(f"no script {name!r}: expected one of {listed(known)}")
    return FOLDER / f"{name}.py"


def source(name: str) -> list[str]:
    """The lines of a script."""
    return script_named(name).read_text(encoding="utf-8").rstrip("\n").split("\n")


def output(name: str) -> str:
    """What a script prints, run in a process of its own with the folder of the default model.

    Raises:
        LessonError: it failed; its last line says how.
    """
    from heedmap.models.fetch import get_model
    from heedmap.models.progress import Progress

    folder = get_model(DEFAULT_MODEL, Progress(shown=False)).folder
    command = [sys.executable, "-W", "ignore", str(script_named(name)), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False)
    if done.returncode:
        raise LessonError(f"the script {name} failed: {(done.stderr.strip().splitlines() or [''])[-1]}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip("\n").split("\n"))


@REGISTRY.add("script", "NAME", "a short program, with its lines numbered", block=True)
def _script(arguments: Arguments) -> Figure:
    lines = source(arguments.word("a script"))
    return Figure("\n".join(f"{index:2}  {line}".rstrip() for index, line in enumerate(lines, 1)))


@REGISTRY.add("script-lines", "NAME", "how many lines it has")
def _script_lines(arguments: Arguments) -> Figure:
    count = len(source(arguments.word("a script")))
    return Figure(str(count), float(count))


@REGISTRY.add("script-output", "NAME", "what that program prints", block=True, model=True)
def _script_output(arguments: Arguments) -> Figure:
    return Figure(output(arguments.word("a script")))
