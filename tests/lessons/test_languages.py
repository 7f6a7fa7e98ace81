"""The arithmetic in Python, JavaScript, C and NumPy: each is compiled and run, and meets the published vectors."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedmap.arithmetic.vectors import load_vectors
from heedmap.errors import LessonError
from heedmap.lessons.languages import FUNCTIONS, LANGUAGES, Language

PUBLISHED = "weights 0.14 0.38 0.23 0.25\noutput  0.51 0.37\n"
VECTORS = load_vectors()
LEFT_OUT = {"layer", "cat-no-softmax", "paris-all-mask-no-softmax", "dead-row-no-softmax"}
"""Cases of what these programs do not do: learned tables, and a blend without softmax."""


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """How each program is started."""
    paths = {language.name: language.path for language in LANGUAGES}
    compiled = tmp_path_factory.mktemp("c") / "attention"
    compiler = shutil.which("cc")
    node = shutil.which("node")
    assert compiler, "a C compiler named cc is needed: apt-get install gcc"
    assert node, "node is needed: apt-get install nodejs"
    strict = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run([*strict, str(paths["C"]), "-lm", "-o", str(compiled)], check=True)
    return {
        "Python": [sys.executable, "-I", str(paths["Python"])],
        "NumPy": [sys.executable, "-I", str(paths["NumPy"])],
        "JavaScript": [node, str(paths["JavaScript"])],
        "C": [str(compiled)],
    }


def run(command: Sequence[str], *arguments: str, text: str = "") -> str:
    result = subprocess.run([*command, *arguments], input=text, capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr == ""
    return result.stdout


@pytest.mark.parametrize("name", [language.name for language in LANGUAGES])
def test_each_prints_the_published_output(name: str, commands: dict[str, list[str]]) -> None:
    assert run(commands[name]) == PUBLISHED


def heads(case: dict[str, Any]) -> Iterator[tuple[Any, Any, Any, Any, Any, Any]]:
    """Query, key, value, weights, output of each head, and which keys each query may look at."""
    inputs, trace = case["inputs"], case["trace"]
    query, key, value = (np.array(inputs[name], dtype=np.float64) for name in ("query", "key", "value"))
    has_heads = 3 in (query.ndim, key.ndim, value.ndim)
    query, key, value = (part if part.ndim == 3 else part[None] for part in (query, key, value))
    group = len(query) // len(key)
    for head in range(len(query)):
        weights = trace["weights"][head] if has_heads else trace["weights"]
        output = trace["output"][head] if has_heads else trace["output"]
        allowed = [[one is not None for one in row] for row in weights]
        yield query[head], key[head // group], value[head // group], weights, output, allowed


def calculation(query: Any, key: Any, value: Any, allowed: Any, scale: float) -> str:
    """One head as the programs read it."""
    sizes = f"{len(query)} {len(key)} {key.shape[1]} {value.shape[1]} {scale!r}"
    numbers = [*query.ravel(), *key.ravel(), *value.ravel(), *np.array(allowed, dtype=float).ravel()]
    return f"{sizes}\n{' '.join(repr(float(one)) for one in numbers)}\n"


@pytest.mark.parametrize("name", [language.name for language in LANGUAGES])
def test_each_meets_the_vectors(name: str, commands: dict[str, list[str]]) -> None:
    cases = [case for case in VECTORS["cases"] if case["name"] not in LEFT_OUT]
    asked, expected = [], []
    for case in cases:
        scale = case["trace"]["scale"] * case["trace"].get("multiply", 1.0)
        for query, key, value, weights, output, allowed in heads(case):
            asked.append(calculation(query, key, value, allowed, scale))
            for row in range(len(query)):
                alive = any(allowed[row])
                # A program gives 0 for what it may not look at, where the vectors say that there is nothing.
                hidden = 0.0 if alive else np.nan
                expected.append((case["name"], [hidden if one is None else one for one in weights[row]]))
                expected.append((case["name"], output[row] if alive else [np.nan] * value.shape[1]))
    lines = run(commands[name], "-", text="".join(asked)).splitlines()
    assert len(lines) == len(expected) >= 150
    for line, (case_name, right) in zip(lines, expected, strict=True):
        found = [float(one) for one in line.split()]
        right = [np.nan if one is None else one for one in right]
        np.testing.assert_allclose(found, right, rtol=0, atol=VECTORS["tolerance"], err_msg=case_name)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_single_functions_are_cut_out_whole(language: Language) -> None:
    whole = language.path.read_text(encoding="utf-8")
    parts = [language.function(name) for name in FUNCTIONS]
    for part in parts:
        assert part in whole
        assert part.startswith(language.comment)
        assert part.count("{") == part.count("}")
    assert len(set(parts)) == len(FUNCTIONS)


def test_an_unknown_function_names_the_others() -> None:
    with pytest.raises(LessonError, match="no function 'rotate': expected one of dot_product, softmax"):
        LANGUAGES[0].function("rotate")


def test_the_programs_stand_in_the_package() -> None:
    assert all(isinstance(language.path, Path) and language.path.exists() for language in LANGUAGES)
