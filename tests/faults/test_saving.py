"""A reading that is saved: killed in the middle, on a full disk, where nothing may be written, interrupted."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedmap
from heedmap.drawing.export import save_map
from heedmap.errors import FileError
from heedmap.reading.reading import Reading
from tests.faults.processes import litter, read_only, small_disk, start
from tests.models.making import tiny_tokenizer
from tests.tiny import tiny_model

TEXTS = ("the cat", "the cat sat on the mat")

SAVES = """
import sys
from tests.faults.test_saving import readings
one, other = readings()
print("ready", flush=True)
while True:
    one.save(sys.argv[1])
    other.save(sys.argv[1])
"""


def readings() -> list[Reading]:
    """Two readings that differ in their texts."""
    model = heedmap.wrap(tiny_model("llama", vocab_size=len(tiny_tokenizer())), tiny_tokenizer())
    return [model.read(text, values=True) for text in TEXTS]


@pytest.fixture(scope="module")
def two() -> list[Reading]:
    return readings()


def _end_while_saving(path: Path, seconds: float, how: signal.Signals) -> str:
    """The text of the reading that is there after its saving was ended."""
    process: Any = start(str(path), code=SAVES)
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    process.send_signal(how)
    process.communicate(timeout=60)
    return Reading.open(path).text


def test_killed_while_saving_there_is_one_or_the_other(tmp_path: Path) -> None:
    moment = random.SystemRandom().uniform(0.1, 0.4)
    assert _end_while_saving(tmp_path / "file", moment, signal.SIGKILL) in TEXTS


@pytest.mark.slow
def test_interrupted_while_saving_nothing_is_left_beside(tmp_path: Path) -> None:
    moment = random.SystemRandom().uniform(0.1, 0.4)
    assert _end_while_saving(tmp_path / "file", moment, signal.SIGINT) in TEXTS
    assert litter(tmp_path) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thirty_kills_while_saving(tmp_path: Path) -> None:
    random_moments = random.SystemRandom()
    for _ in range(30):
        assert _end_while_saving(tmp_path / "file", random_moments.uniform(0.05, 0.3), signal.SIGKILL) in TEXTS


def test_a_full_disk_keeps_the_old_reading(tmp_path: Path, two: list[Reading]) -> None:
    with small_disk(tmp_path / "disk", "512k") as disk:
        path = disk / "reading.safetensors"
        two[0].save(path)
        (disk / "filling").write_bytes(b"x" * (512 * 1024 - path.stat().st_size - 8192))
        with pytest.raises(FileError, match=r"cannot write .*reading\.safetensors: .*No space left on device"):
            two[1].save(path)
        with pytest.raises(FileError, match=r"cannot write .*map\.csv: No space left on device"):
            save_map(disk / "map.csv", np.ones((99, 99)), np.ones((99, 99), dtype=bool), ["a"] * 99, ["a"] * 99)
        assert Reading.open(path).text == TEXTS[0]
        assert litter(disk) == []
        (disk / "filling").unlink()
        two[1].save(path)
        assert Reading.open(path).text == TEXTS[1]


def test_where_nothing_may_be_written(tmp_path: Path, two: list[Reading]) -> None:
    two[0].save(tmp_path / "reading.safetensors")
    with read_only(tmp_path):
        with pytest.raises(FileError, match=r"cannot write .*: (Read-only file system|it is write-protected)"):
            two[1].save(tmp_path / "reading.safetensors")
        assert Reading.open(tmp_path / "reading.safetensors").text == TEXTS[0]
