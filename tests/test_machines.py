"""The table of machines: what each sets is heeded, each has its turn, and a failure on one is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machines import MACHINES, TURNS, turn, why_not

ROOT = Path(__file__).parents[1]
HERE = [name for name in MACHINES if not why_not(name)]
PYTEST = ["-q", "-p", "no:cacheprovider", "-p", "xdist", "-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin"]


def run(*arguments: str, **environment: str) -> tuple[int, str]:
    """The table as a command; its exit code and what it printed."""
    command = [sys.executable, "-m", "tests.machines", *arguments]
    surroundings = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
    ended = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def test_every_commit_has_its_turn_and_all_come_up() -> None:
    assert turn("0") == "native"
    assert {turn(f"{number:040x}") for number in range(2**44, 2**44 + 9999, 7)} <= set(TURNS) & set(HERE)
    assert {turn(f"{number:012x}{0:028x}") for number in range(len(TURNS))} == set(TURNS) & set(HERE)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in HERE if "ATEN_CPU_CAPABILITY" in MACHINES[name]])
def test_torch_heeds_the_instructions_that_are_set(name: str) -> None:
    code = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    environment = {**os.environ, **MACHINES[name]}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.strip().lower() == MACHINES[name]["ATEN_CPU_CAPABILITY"]


@pytest.mark.slow
def test_a_failure_on_one_machine_is_a_failure_and_says_how_to_have_it_again(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os\nimport hypothesis\n"
        "def test_it(): assert os.environ.get('HEEDMAP_TEST_THREADS') != '4'\n"
        "def test_seed(): assert hypothesis.core.global_force_seed == 7\n"
    )
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)]
    code, out = run("each", *PYTEST, *options, SEED="7")
    assert code == 1
    rows = dict(line.split(maxsplit=1) for line in out.splitlines() if line.split(" ")[0] in MACHINES)
    assert {name for name in HERE if rows[name].startswith("passed")} == set(HERE) - {"threads-4"}
    assert rows["threads-4"].startswith("failed")
    assert all(rows[name].startswith("not here: ") for name in set(MACHINES) - set(HERE))
    assert "make test-machines SEED=7" in out
    assert "run threads-4 --hypothesis-seed=7" in out


def test_one_machine_is_pytest_with_its_settings(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import os\ndef test_it(): assert os.environ['HEEDMAP_TEST_THREADS'] == '2'\n")
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)]
    code, out = run("run", "threads-2", *PYTEST, *options)
    assert code == 0
    assert "1 passed" in out


def test_a_machine_that_cannot_be_tried_is_refused() -> None:
    assert run("run", "no-such-machine")[0] == 2
