"""What the source never does, and what a wheel carries: read from the code and from a wheel that is built."""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatch_build import FILES, is_fresh

import heedmap

ROOT = Path(__file__).parents[1]
SOURCE = Path(heedmap.__file__).parent
PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
EVALUATES = {"eval", "exec", "compile", "__import__"}
SHELLS = {("os", "system"), ("os", "popen"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput")}
LOADS = {("torch", "load"), ("yaml", "load"), ("tempfile", "mktemp")}

RUNS_THE_LEARNERS_CODE = {"lessons/code/harness.py"}
"""The one place where code of somebody else is run: the learner's own, in a process of its own."""


def findings(path: Path) -> list[str]:
    """What a file does that it must not."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [f"import {one.name}" for one in node.names if one.name.split(".")[0] in PICKLES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PICKLES:
            found.append(f"from {node.module}")
        elif isinstance(node, ast.Call):
            found += _of_call(node)
    return found


def _of_call(node: ast.Call) -> list[str]:
    """What a call does that it must not."""
    function = node.func
    found = []
    if isinstance(function, ast.Name) and function.id in EVALUATES:
        found.append(f"{function.id}()")
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        name = (function.value.id, function.attr)
        found += [".".join(name)] * (name in SHELLS | LOADS)
    for keyword in node.keywords:
        value = keyword.value
        is_true = isinstance(value, ast.Constant) and value.value is True
        if keyword.arg in ("shell", "trust_remote_code", "allow_pickle") and not _is_false(value):
            found.append(f"{keyword.arg}={ast.unparse(value)}")
        if keyword.arg == "weights_only" and not is_true:
            found.append("weights_only")
    return found


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def test_nothing_is_evaluated_unpickled_or_given_to_a_shell() -> None:
    found = {str(path.relative_to(SOURCE)): findings(path) for path in sorted(SOURCE.glob("**/*.py"))}
    assert len(found) > 300
    assert {name: what for name, what in found.items() if what and name not in RUNS_THE_LEARNERS_CODE} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from dill import loads",
        "eval('1')",
        "exec('a = 1')",
        "import os; os.system('ls')",
        "import subprocess; subprocess.run('ls', shell=True)",
        "import torch; torch.load('x')",
        "np.load('x', allow_pickle=True)",
        "AutoModel.from_pretrained('x', trust_remote_code=given)",
    ],
)
def test_the_search_sees_what_it_looks_for(code: str, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(code)
    assert len(findings(tmp_path / "code.py")) == 1


DATA = {".json", ".jsonl", ".md", ".html", ".j2", ".css", ".js", ".sha256", ".typed", ".svg", ".txt", ".npz", ".ttf"}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this checkout."""
    if not is_fresh(ROOT):
        pytest.skip("the page's program is missing here, or older than its sources: make viewer")
    folder = tmp_path_factory.mktemp("dist")
    code = "import sys, os; os.chdir(sys.argv[1]); from hatchling import build as b; "
    code += "b.build_wheel(sys.argv[2]); b.build_sdist(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(ROOT), str(folder)], check=True, capture_output=True)
    return folder


def test_the_wheel_carries_the_package_and_nothing_else(packed: Path) -> None:
    (wheel,) = packed.glob("*.whl")
    assert wheel.name == f"heedmap-{heedmap.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    information = f"heedmap-{heedmap.__version__}.dist-info"
    about = {
        f"{information}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    assert {name for name in names if not name.startswith("heedmap/")} == about
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode != 0:
        pytest.skip("this is no checkout: what is tracked is not known")
    bundle = {f"heedmap/drawing/page/bundle/{name}" for name in FILES}
    expected = {line.removeprefix("src/") for line in tracked.stdout.splitlines()} | bundle
    untracked = subprocess.run(
        ["git", "ls-files", "src", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    expected |= {line.removeprefix("src/") for line in untracked.stdout.splitlines()}
    assert names - about == expected


def test_the_sdist_can_be_built_from_and_holds_no_litter(packed: Path) -> None:
    (sdist,) = packed.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("pyproject.toml", "hatch_build.py", "LICENSE", "README.md", "Makefile", "src/heedmap/__init__.py"):
        assert needed in names
    assert {f"src/heedmap/drawing/page/bundle/{name}" for name in FILES} <= names
    litter = ("node_modules", "__pycache__", ".venv", ".pytest_cache", ".git/", ".mypy_cache", ".hypothesis", "demo/")
    assert [name for name in names if any(part in name for part in litter)] == []
