"""The order of the rooms, and that a light import stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import heedmap

SOURCE = Path(heedmap.__file__).parent
ROOT = Path(__file__).parents[1]
ROOMS = ["arithmetic", "models", "text", "reading", "drawing", "lab", "lessons", "server", "cli"]
BESIDE_THE_ROOMS = {
    "controls",
    "cut_text",
    "errors",
    "files",
    "given_files",
    "json_form",
    "json_text",
    "whole_numbers",
    "_version",
}
SHOWS_ITSELF = "drawing"
HEAVY = ["torch", "transformers", "matplotlib", "rich", "scipy", "numpy", "pyarrow", "tokenizers"]


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(imported heedmap module, whether it stands inside a function) for each import of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("heedmap."):
                yield name.removeprefix("heedmap."), id(node) in inside


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*/**/*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_use_only_the_rooms_before_them(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0]
    for name, inside_function in imports(path):
        used = name.split(".")[0]
        if used in BESIDE_THE_ROOMS:
            continue
        assert used in ROOMS, f"{path.name} imports {name}, which is no room"
        if used == SHOWS_ITSELF and inside_function and room == "reading":
            continue  # how an object shows itself: one line that hands it over
        assert ROOMS.index(used) <= ROOMS.index(room), f"{room}/{path.name} reaches into {used}, a room below it"


def loaded_by(code: str) -> list[str]:
    """The heavy packages in memory after some code ran in a fresh interpreter."""
    report = f"{code}\nimport sys; print('loaded:', *[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return result.stdout.splitlines()[-1].removeprefix("loaded:").split()


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import heedmap", []),
        ("from heedmap.cli.main import main; main(['--help'])", []),
        ("from heedmap.cli.main import main; main(['--version'])", []),
        ("from heedmap.cli.main import main; main(['read', '--help'])", []),
        ("from heedmap.cli.main import main; main(['compute', '--example', 'cat'])", ["numpy"]),
        ("import heedmap; heedmap.attend", ["numpy"]),
        ("import heedmap.text.tokens", ["numpy"]),
        ("import heedmap.lessons.figures", ["numpy"]),
    ],
)
def test_light_work_loads_nothing_heavy(code: str, allowed: list[str]) -> None:
    assert loaded_by(code) == allowed


def test_that_the_test_above_can_fail() -> None:
    assert "torch" in loaded_by("import heedmap; heedmap.load")


def test_the_public_names_are_there() -> None:
    assert sorted(heedmap.__all__) == dir(heedmap)
    for name in heedmap.__all__:
        assert getattr(heedmap, name) is not None
    with pytest.raises(AttributeError, match=r"has no attribute 'laod'; it has .*load"):
        heedmap.laod  # noqa: B018


def test_the_changelog_begins_with_this_version() -> None:
    changelog = ROOT / "CHANGELOG.md"
    newest = next(line for line in changelog.read_text(encoding="utf-8").splitlines() if line.startswith("## "))
    assert newest.split()[1] == heedmap.__version__


def test_every_file_says_first_what_it_is() -> None:
    for path in SOURCE.rglob("*.py"):
        first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        assert re.search(r"[.:?]$", first), f"{path}: its first line is one sentence"
