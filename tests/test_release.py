"""A release: wheel and sdist come out alike twice, and the wheel does its work where there is no checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import pytest
from hatch_build import BUNDLE, is_fresh
from packaging.version import Version

import heedmap
from heedmap.models.catalogue import find_entry
from heedmap.models.fetch import find_copy
from tests.test_extras import EXTRAS, said_when

ROOT = Path(__file__).parents[1]
BUILD = "from hatchling import build as b; b.build_wheel('dist'); b.build_sdist('dist')"
EPOCH = "1700000000"
TROPHY = "The trophy did not fit in the suitcase because it was too big."

pytestmark = pytest.mark.slow


def build(source: Path, target: Path) -> dict[str, str]:
    """Build both from a copy of the checkout in a folder of its own; name and hash of each file."""
    ignored = shutil.ignore_patterns(
        ".git", ".venv*", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "demo", "dist", "site"
    )
    shutil.copytree(source, target, ignore=ignored)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    subprocess.run([sys.executable, "-c", BUILD], cwd=target, env=environment, check=True, capture_output=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (target / "dist").iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a build."""
    if not is_fresh(ROOT):
        pytest.skip("the page's program is missing here, or older than its sources: make viewer")
    folder = tmp_path_factory.mktemp("one") / "heedmap"
    build(ROOT, folder)
    return folder


def test_two_builds_in_two_folders_are_the_same(built: Path, tmp_path: Path) -> None:
    first = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (built / "dist").iterdir()}
    second = build(ROOT, tmp_path / "in another folder with a longer name")
    assert sorted(name.rpartition(".")[2] for name in first) == ["gz", "whl"]
    assert first == second


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (sdist,) = (built / "dist").glob("*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path)
    (unpacked,) = tmp_path.iterdir()
    assert (unpacked / BUNDLE / "page.js").is_file()
    again = build(unpacked, tmp_path / "again")
    (wheel,) = (built / "dist").glob("*.whl")
    assert again[wheel.name] == hashlib.sha256(wheel.read_bytes()).hexdigest()


TOUR = (
    ("--version",),
    ("compute", "--example", "cat"),
    ("models",),
    ("read", TROPHY, "--word", "it", "--layer", "16", "--head", "3"),
    ("explain", TROPHY, "--word", "it", "--layer", "5", "--head", "4"),
    ("map", TROPHY, "--layer", "16", "--head", "3", "-o", "map.png"),
    ("view", TROPHY, "--word", "it", "--layer", "16", "--head", "3", "-o", "view.html"),
    ("stats", TROPHY),
    ("spans", TROPHY, "--split", "sentences"),
    ("cost", "smollm2"),
    ("learn",),
    ("learn", "words", "softmax"),
)
"""What the README shows, in short."""


def lent(folder: Path, wheel: Path) -> Path:
    """The Python of a clean environment: Heedmap comes from its wheel, what it requires is lent by the one here.

    Torch alone is a gigabyte to install again; the Heedmap that is installed here is not seen.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    shelf = folder / "lent"
    shelf.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "heedmap" not in path.name.lower() and not path.name.endswith(".pth"):
            (shelf / path.name).symlink_to(path)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    (site / "lent.pth").write_text(f"{shelf}\n", encoding="utf-8")
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*command, str(wheel)], check=True)
    return python


def installed(folder: Path, wheel: Path) -> Path:
    """The Python of a clean environment into which pip put the wheel and all that it requires, as at a user's.

    Torch comes first, as in the Makefile: the version that is here, or what TORCH says to pip.
    """
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip_install(python, *os.environ.get("TORCH", f"torch=={Version(version('torch')).public}").split())
    pip_install(python, str(wheel))
    return python


def pip_install(python: Path, *what: str) -> None:
    """Let an environment's own pip install something."""
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *what], env=outside(), check=True)


def outside() -> dict[str, str]:
    """The environment's variables without those that lead back here."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}


def tour(python: Path, away: Path) -> None:
    """Run what the README shows with the Heedmap of another environment, in a folder without the repository."""
    away.mkdir()

    def run(command: str, *arguments: str) -> str:
        ended = subprocess.run(
            [str(python.with_name(command)), *arguments], capture_output=True, text=True, cwd=away, env=outside()
        )
        assert ended.returncode == 0, (arguments, ended.stderr)
        return ended.stdout

    found = run("python", "-c", "import heedmap; print(heedmap.__file__)")
    assert Path(found).is_relative_to(python.parents[1] / "lib"), found
    printed = {arguments: run("heedmap", *arguments) for arguments in TOUR}
    assert heedmap.__version__ in printed["--version",]
    assert "it" in printed[TOUR[3]]
    assert (away / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "<script" in (away / "view.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel, where the model of the tour is there too."""
    entry = find_entry("smollm2")
    if entry is None or find_copy(entry) is None:
        pytest.skip("fetch it first: heedmap models get smollm2")
    (found,) = (built / "dist").glob("*.whl")
    return found


@pytest.mark.timeout(1200)
def test_the_wheel_does_the_tour_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    tour(lent(tmp_path / "clean", wheel), tmp_path / "away")


@pytest.mark.timeout(3000)  # some gigabytes to fetch where torch is a build for GPUs
def test_pip_brings_all_that_the_tour_wants_and_then_the_extras(wheel: Path, tmp_path: Path) -> None:
    python = installed(tmp_path / "clean", wheel)
    tour(python, tmp_path / "away")
    for name, said in said_when(present=True, python=python, folder=tmp_path).items():
        assert said.startswith("MissingExtra: "), (name, said)
    pip_install(python, f"{wheel}[{','.join(EXTRAS)}]")
    assert set(said_when(present=True, python=python, folder=tmp_path).values()) == {"nothing"}
