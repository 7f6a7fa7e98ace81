"""Tries one target in a process of its own, under limits, and prints what became of it as JSON in its last line.

python -m tests.fuzz.worker TARGET COUNT SEED [JOURNAL]

Each case is written to the journal before it is tried: where the process dies, that is the case it died of.
Memory is limited to what is there when the target is prepared and so much more (RLIMIT_AS): beyond it an allocation
fails, and no other process is ended for it. A case that takes too much processor time is interrupted by the system's
own timer, and what never comes back to Python is killed by whoever started this.
"""

from __future__ import annotations

import gc
import json
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from heedmap.errors import HeedmapError
from tests.fuzz.registry import TARGETS
from tests.fuzz.target import Target

CALLED_A_BUG = "unexpected error"


class TooSlow(BaseException):
    """A case took too much processor time; no `except Exception` may swallow that."""


class Tally:
    """What became of the cases."""

    def __init__(self, check: Callable[[Any], None], seconds: float, journal: Path | None = None) -> None:
        self.check, self.seconds, self.journal = check, seconds, journal
        self.tried = self.answered = 0
        self.refused: Counter[str] = Counter()
        self.slowest = 0.0

    def one(self, case: Any) -> None:
        """Try one case."""
        self.tried += 1
        if self.journal is not None:
            self.journal.write_text(json.dumps({"tried": self.tried, "case": repr(case)}), encoding="utf-8")
        if self.tried % 100 == 0:
            gc.collect()  # models in cycles are small to Python, and large to the limit on memory
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)
        try:
            self.check(case)
            self.answered += 1
        except HeedmapError as error:
            _check_message(error)
            self.refused[type(error).__name__] += 1
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            self.slowest = max(self.slowest, time.process_time() - begun)


def _check_message(error: HeedmapError) -> None:
    """A refusal says something, can be printed, and is no wall of text."""
    said = str(error)
    said.encode("utf-8", "backslashreplace")
    assert said.strip(), f"{type(error).__name__} says nothing"
    assert CALLED_A_BUG not in said
    assert len(said) < 3000, f"{type(error).__name__} says {len(said)} characters: {said[:200]}"


def virtual_memory() -> int:
    """Bytes of address space that this process has now."""
    size = re.search(r"VmSize:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert size is not None
    return int(size[1]) * 1024


def peak_memory() -> int:
    """The most bytes of memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _too_slow(*_: object) -> None:
    raise TooSlow("the case took too long")


def arithmetic() -> str:
    """The instructions that torch's own kernels use here: "avx512", "avx2", "default" ..."""
    import torch

    return torch.backends.cpu.get_cpu_capability().lower()


def try_target(target: Target, count: int, start: int, journal: Path | None = None) -> dict[str, Any]:
    """Try so many cases; the first that fails, made as small as can be, is told with its error."""
    cases, check = target.prepare()
    before = peak_memory()
    limit = virtual_memory() + target.memory
    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, unlimited[1]))
    signal.signal(signal.SIGVTALRM, _too_slow)
    tally = Tally(check, target.seconds, journal)
    how = settings(
        max_examples=count,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )

    @how
    @seed(start)
    @given(cases)
    def try_each(case: Any) -> None:
        tally.one(case)

    failed = None
    try:
        try_each()
    except (Exception, TooSlow) as error:
        notes = "\n".join(getattr(error, "__notes__", []))
        failed = {
            "error": f"{type(error).__name__}: {error}"[:2000],
            "case": notes[:4000],
            "where": "".join(traceback.format_exception(error)[-12:]),
        }
    resource.setrlimit(resource.RLIMIT_AS, unlimited)
    return {
        "target": target.name,
        "arithmetic": arithmetic(),
        "tried": tally.tried,
        "answered": tally.answered,
        "refused": dict(tally.refused.most_common()),
        "slowest": tally.slowest,
        "grown": max(0, peak_memory() - before),
        "failed": failed,
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    name, count, start, *rest = sys.argv[1:]
    print(json.dumps(try_target(TARGETS[name], int(count), int(start), Path(rest[0]) if rest else None)))  # noqa: T201
