"""How much memory is free: the system's number, the container's limit and the GPU's, read from files made here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from heedmap.errors import TooLarge
from heedmap.reading import memory
from heedmap.reading.memory import bytes_text, free_memory, require_memory

GIB = 1 << 30


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with 10 GiB available and no control groups."""
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 999 kB\nMemAvailable:   {10 * GIB // 1024} kB\n")
    return tmp_path


def group(system: Path, folder: str, **files: object) -> None:
    place = system / "sys/fs/cgroup" / folder
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / name.replace("__", ".")).write_text(f"{content}\n")


def test_without_limits_it_is_what_the_system_has_available(system: Path) -> None:
    assert free_memory() == 10 * GIB


def test_a_limit_of_any_group_above_counts(system: Path) -> None:
    (system / "proc/self/cgroup").write_text("0::/job/step\n")
    group(system, "job/step", memory__max="max", memory__current=GIB, memory__stat="inactive_file 0")
    group(system, "job", memory__max=4 * GIB, memory__current=3 * GIB, memory__stat=f"anon 5\ninactive_file {GIB // 2}")
    assert free_memory() == 3 * GIB // 2  # the half GiB of file cache can be given up


def test_a_path_from_outside_the_container_still_finds_its_limit(system: Path) -> None:
    (system / "proc/self/cgroup").write_text("0::/docker/0123\n")
    group(system, "", memory__max=2 * GIB, memory__current=3 * GIB, memory__stat="inactive_file 0")
    assert free_memory() == 0


def test_the_older_groups_are_read_too(system: Path) -> None:
    (system / "proc/self/cgroup").write_text("5:cpu,cpuacct:/x\n4:memory:/job\n")
    group(
        system,
        "memory/job",
        memory__limit_in_bytes=5 * GIB,
        memory__usage_in_bytes=GIB,
        memory__stat="total_inactive_file 0",
    )
    assert free_memory() == 4 * GIB


def test_a_system_that_says_nothing_of_what_is_available_is_asked_for_its_pages(system: Path) -> None:
    (system / "proc/meminfo").unlink()
    free = free_memory()
    assert free is not None
    assert GIB // 8 < free < 1 << 45


def test_a_gpu_has_what_its_driver_and_torch_hold_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (5 * GIB, 80 * GIB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 3 * GIB)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 1 * GIB)
    assert free_memory("cuda:1") == 7 * GIB


def test_a_tenth_of_what_is_free_is_left_alone(system: Path) -> None:
    require_memory(9 * GIB, "cpu", "a map", "ask for a row")
    with pytest.raises(TooLarge, match=r"a map needs about 9\.2 GiB, and 10\.0 GiB are free: ask for a row"):
        require_memory(9.2 * GIB, "cpu", "a map", "ask for a row")


def test_where_nothing_is_known_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda _: None)
    require_memory(1e18, "cpu", "a map", "ask for a row")


def test_here_it_is_less_than_all_there_is() -> None:
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    free = free_memory()
    assert free is not None
    assert 0 < free < total


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536 << 30, "1,536.0 GiB")]
)
def test_bytes_are_named(count: int, text: str) -> None:
    assert bytes_text(count) == text
