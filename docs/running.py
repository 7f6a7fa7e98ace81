"""Runs what the documents show: commands, Python files and notebooks, in a folder that holds the files they name."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
SNIPPETS = ROOT / "docs" / "snippets"
EXAMPLES = ROOT / "examples"
INPUTS = SNIPPETS / "inputs"
"""Files that snippets and examples read: they lie in the working directory while these run."""

MY_MODEL = "my-model"
"""The folder of a model there, as a fine-tuned one would lie."""

_HEAD = re.compile(r" \| head -(\d+)$")
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
_ERRORS_TOO = " 2>&1"
_EXIT_CODE = "echo $?"


@dataclass(frozen=True)
class Ran:
    """What a command did: its exit code, and what it printed on a line of 80 columns without colour."""

    code: int
    out: str


@contextlib.contextmanager
def models_stay_loaded() -> Iterator[None]:
    """In the block, a model of the catalogue is loaded once and kept from one command or file to the next."""
    import heedmap
    from heedmap.reading import loading

    load: Any = loading.load
    if isinstance(load, _Keeping):
        yield
        return
    with patch.object(loading, "load", _Keeping(load)), patch.object(heedmap, "load", _Keeping(load)):
        yield


class _Keeping:
    """`heedmap.load` with a memory for the models that snippets use, as they are loaded without options."""

    def __init__(self, load: Any) -> None:
        self.load = load

    def __call__(self, name: Any, **options: Any) -> Any:
        asked = {key: value for key, value in options.items() if value not in (None, False, "auto")}
        return self.load(name, **options) if asked or name not in KEPT else _load_once(name)


KEPT = ("smollm2", "minilm", f"./{MY_MODEL}")


@functools.cache
def _load_once(name: str) -> Any:
    """One of the models that are kept; `my-model` is the same in every working folder."""
    from heedmap.models.load import load_model
    from heedmap.reading.model import Model

    return Model(load_model(name))


@contextlib.contextmanager
def working_folder(more: Iterable[Path] = ()) -> Iterator[Path]:
    """A folder to run in: the inputs, the JSON schemas, `my-model`, as a fine-tuned model would lie there, and more."""
    from heedmap.models.places import cache_folder

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
        (folder / MY_MODEL).symlink_to(cache_folder() / "models" / "smollm2")
        (folder / "schemas").symlink_to(ROOT / "docs" / "schemas")
        for path in more:
            (folder / path.name).symlink_to(path)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def run_command(line: str) -> Ran:
    """Run one `heedmap` command; it may end in `2>&1` and in `| head -N`.

    Raises:
        ValueError: it is another program.
    """
    from heedmap.cli.main import main

    shown, limit = _HEAD.subn("", line)
    program, *arguments = shlex.split(shown.removesuffix(_ERRORS_TOO))
    if program != "heedmap":
        raise ValueError(f"only heedmap commands are run in documents, not {line!r}")
    page = io.StringIO()
    errors = page if shown.endswith(_ERRORS_TOO) else io.StringIO()
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    with (
        patch.dict(os.environ, plain),
        contextlib.redirect_stdout(page),
        contextlib.redirect_stderr(errors),
        models_stay_loaded(),
    ):
        code = main(arguments)
    lines = [one.rstrip() for one in page.getvalue().splitlines()]
    wanted = int(line.rsplit("-", 1)[1]) if limit else len(lines)
    lines = [*lines[:wanted], *(["..."] if len(lines) > wanted else [])]
    return Ran(code, "".join(f"{one}\n" for one in lines))


def transcript(text: str) -> str:
    """Commands (`$ heedmap ...`), each with what it prints now; `$ echo $?` shows the exit code of the one before.

    A command goes on in the next line where a line ends in a backslash.

    Raises:
        RuntimeError: a command failed, and its exit code is not shown.
    """
    shown = []
    commands = _COMMAND.findall(text)
    code = 0
    for line, following in zip(commands, [*commands[1:], ""], strict=True):
        if line == _EXIT_CODE:
            shown.append(f"$ {line}\n{code}\n")
            continue
        ran = run_command(line.replace("\\\n", " "))
        code = ran.code
        if code != 0 and following != _EXIT_CODE:
            raise RuntimeError(f"exit code {code}: {line}\n{ran.out}")
        shown.append(f"$ {line}\n{ran.out}")
    return "".join(shown)


def run_python(source: str, name: str) -> str:
    """What a Python program prints, run as `__main__` in this process."""
    page = io.StringIO()
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "MPLBACKEND": "agg"}
    with (
        patch.dict(os.environ, plain),
        contextlib.redirect_stdout(page),
        contextlib.redirect_stderr(io.StringIO()),
        models_stay_loaded(),
        patch.object(sys, "argv", [name]),
    ):
        exec(compile(source, name, "exec"), {"__name__": "__main__"})
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def run_notebook(path: Path) -> tuple[Any, list[str]]:
    """A notebook, and what each of its code cells prints, run in this process one after the other.

    What IPython alone would show (the value of a last line) is not: cells print.
    """
    book = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            page = io.StringIO()
            with contextlib.redirect_stdout(page), patch.dict(os.environ, {"COLUMNS": "80"}), models_stay_loaded():
                exec(compile(source, path.name, "exec"), names)
            printed.append(page.getvalue())
    return book, printed
