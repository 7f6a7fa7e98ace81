"""How much memory is free here: what the system, the container and the GPU say."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from heedmap.errors import TooLarge

_USABLE = 0.9
"""The share of the free memory that may be planned with: the rest is for what nobody counts."""

_SYSTEM = Path("/")
"""Where `proc` and `sys` are found; tests put a folder of their own here."""


def free_memory(device: torch.device | str = "cpu") -> int | None:
    """Bytes that can still be had on a device; None where nothing says so.

    On a GPU, what its driver calls free and what torch holds unused. Elsewhere the least of what the system has
    available (Linux: `MemAvailable`; otherwise the free pages, or all pages where only those are known) and what the
    control groups of the process leave (containers, batch systems).

    Example:
        >>> free = free_memory()
        >>> free is None or free > 0
        True
    """
    device = torch.device(device)
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    known = [free for free in (_system_memory(), *_group_memory()) if free is not None]
    return min(known, default=None)


def require_memory(needed: float, device: torch.device | str, what: str, instead: str) -> None:
    """Refuse what cannot fit before it starts.

    Args:
        needed: bytes at the peak.
        device: where they are needed.
        what: what needs them, as the start of a sentence.
        instead: the part to ask for instead.

    Raises:
        TooLarge: more is needed than nine tenths of what is free.
    """
    free = free_memory(device)
    if free is not None and needed > free * _USABLE:
        raise TooLarge(f"{what} needs about {bytes_text(needed)}, and {bytes_text(free)} are free: {instead}")


def bytes_text(count: float) -> str:
    """A number of bytes as people say it.

    Example:
        >>> bytes_text(72_477_573_120), bytes_text(3 << 20), bytes_text(12)
        ('67.5 GiB', '3.0 MiB', '12 bytes')
    """
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:.0f} bytes"


def _system_memory() -> int | None:
    """What the system has available."""
    try:
        for line in (_SYSTEM / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (ValueError, OSError, AttributeError):  # a name that this system does not have
            continue
    return None


def _group_memory() -> list[int]:
    """What each control group that the process is in leaves, of those that have a limit."""
    try:
        lines = (_SYSTEM / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2: one hierarchy for everything
            root, limit, used, cache = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            root, limit, used, cache = (
                "sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )
        else:
            continue
        top = _SYSTEM / root
        group = top / path.lstrip("/")
        # Inside a container the path may be that of the outside, so every folder up to the top is asked.
        for folder in (group, *group.parents):
            left = _group_left(folder / limit, folder / used, folder / "memory.stat", cache)
            if left is not None:
                found.append(left)
            if folder == top:
                break
    return found


def _group_left(limit: Path, used: Path, statistics: Path, cache: str) -> int | None:
    """Limit less use of one control group; file cache that can be given up counts as free."""
    try:
        most = int(limit.read_text())  # "max" is no number: no limit
        taken = int(used.read_text())
        for line in statistics.read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == cache:
                taken -= int(count)
    except (OSError, ValueError):
        return None
    return max(most - taken, 0)
