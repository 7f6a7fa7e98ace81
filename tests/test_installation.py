"""What comes with the package and what need not: imports, versions, and messages that promise nothing."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import heedmap

SOURCE = Path(heedmap.__file__).parent
UNDECLARED = ["IPython", "torchvision", "ipywidgets", "pandas", "sklearn"]
"""What notebooks and tutorials have around, and what this package therefore must not lean on unnoticed."""

BROUGHT_ALONG = {"tokenizers", "jinja2"}
"""What a declared package needs itself, always: transformers its tokenizers, torch jinja2."""

OTHER_NAMES = {"PIL": "pillow", "markdown_it": "markdown_it_py"}
"""Packages that are imported by another name than the one they are declared by."""

PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS: list[str] = sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"])


def imported_packages() -> set[str]:
    """The first names of everything that the source imports, at the top of files and inside functions."""
    found = set()
    for path in SOURCE.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"heedmap"}


def test_everything_that_is_imported_is_declared() -> None:
    """A package that happens to be around on the author's machine is missing on the user's."""
    declared = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower().replace("-", "_") for line in REQUIREMENTS}
    assert {OTHER_NAMES.get(name, name) for name in imported_packages()} - BROUGHT_ALONG <= declared


def test_reading_needs_nothing_that_is_not_declared() -> None:
    """With notebooks' packages out of reach, the package and its command line still come up."""
    blocked = "\n".join(f"sys.modules[{name!r}] = None" for name in UNDECLARED)
    code = f"import sys\n{blocked}\nimport heedmap\nheedmap.load, heedmap.wrap, heedmap.watch, heedmap.attend\n"
    code += "from heedmap.cli.main import main\nraise SystemExit(main(['--version']))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert heedmap.__version__ in result.stdout


def test_one_import_is_enough() -> None:
    """No part has to be imported by hand before it is there."""
    code = "import heedmap\nfor name in heedmap.__all__:\n    getattr(heedmap, name)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_no_model_class_is_ours() -> None:
    """Any model of transformers is read as it is: none is copied and patched."""
    for path in SOURCE.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).split(".")[-1] for base in node.bases}
                assert not bases & {"PreTrainedModel", "Module", "PreTrainedConfig"}, f"{path.name}: {node.name}"


@pytest.mark.parametrize("path", sorted(SOURCE.glob("**/*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_messages_name_what_to_do_and_promise_no_version(path: Path) -> None:
    """A message that names a version to come is wrong as soon as it is late."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            text = ast.unparse(node.exc)
            assert not re.search(r"(from|in|since|until) v(ersion)? ?\d|will be (removed|added)|deprecated", text), text


def test_the_versions_that_are_asked_for_are_those_that_run_here() -> None:
    here = {one.metadata["Name"].lower() for one in importlib.metadata.distributions()}
    for requirement in REQUIREMENTS:
        found = re.match(r"([A-Za-z0-9_-]+)>=([0-9.]+)$", requirement)
        if found is not None and found[1].lower() in here:  # extras need not be
            have, least = (
                tuple(int(part) for part in re.findall(r"\d+", text)[:2])
                for text in (importlib.metadata.version(found[1]), found[2])
            )
            assert have >= least, requirement
