"""The room as a whole: what it loads, what it exports, examples that run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import heedmap.arithmetic

MODULES = [f"heedmap.arithmetic.{module.name}" for module in pkgutil.iter_modules(heedmap.arithmetic.__path__)]

LOADED = """
import sys
{code}
print(*sorted(sys.modules))
"""


def modules_after(code: str) -> set[str]:
    """The modules a fresh process has loaded after running some code."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(code=code)], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


HEAVY = {"torch", "transformers", "matplotlib", "rich", "scipy", "pandas", "click", "tokenizers"}


@pytest.mark.parametrize(
    "code",
    [
        "import heedmap.arithmetic",
        "import heedmap; print(heedmap.attend([1], [[1]], [[1]]))",
        "from heedmap.arithmetic.vectors import load_vectors; load_vectors()",
    ],
)
def test_numpy_alone_is_loaded(code: str) -> None:
    loaded = modules_after(code)
    assert "numpy" in loaded
    assert not loaded & HEAVY


def test_the_test_above_can_fail() -> None:
    assert "rich" in modules_after("import heedmap.arithmetic, rich")


def test_every_public_name_is_there() -> None:
    for name in heedmap.arithmetic.__all__:
        assert getattr(heedmap.arithmetic, name).__doc__, name
    public = {
        name
        for name, value in vars(heedmap.arithmetic).items()
        if not name.startswith("_") and type(value).__name__ != "module"
    }
    assert public == set(heedmap.arithmetic.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_the_documentation_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "arithmetic.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 5
