"""`make gpu-check`: on a machine with a GPU, what holds there. Exit code 0 when all does, 3 when something does not."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import torch
import transformers
from tests.tiny import FAMILIES

from benchmarks import gpu_checks, gpu_placement
from benchmarks.gpu_checks import DTYPES, Check
from benchmarks.measure import markdown_table

LENGTHS = (2048, 8192)
NOTHING_TO_CHECK, DOES_NOT_HOLD = 1, 3


Planned = tuple[str, Callable[[], Check | list[Check]]]
"""What will be checked, in words, and the checks."""


def checks(device: torch.device, lengths: Iterable[int] = LENGTHS) -> Iterator[Check]:
    """All checks, one after the other; one that cannot be carried out does not hold, and the rest go on."""
    for name, run in planned(device, lengths):
        try:
            found = run()
        except Exception as error:  # on a machine that was not at hand anything may fail
            reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
            found = Check(name, False, f"could not be carried out: {reason}")
        yield from found if isinstance(found, list) else [found]


def planned(device: torch.device, lengths: Iterable[int]) -> Iterator[Planned]:
    """What there is to check on the GPUs of this machine."""
    yield "kernels", lambda: gpu_checks.kernels(device)
    for dtype in DTYPES:
        for family in FAMILIES:
            yield f"{family} as eager, {dtype}", partial(gpu_checks.agreement, family, device, dtype)
        yield f"smollm2 as eager, {dtype}", partial(gpu_checks.agreement_of_real_model, device, dtype, 256)
        yield f"generation, {dtype}", partial(gpu_checks.generation, device, dtype)
    for length in lengths:
        for dtype in DTYPES:
            yield f"speed, {length:,} tokens, {dtype}", partial(gpu_checks.speed, device, dtype, length)
            yield f"memory, {length:,} tokens, {dtype}", partial(gpu_checks.memory, device, dtype, length)
    count = torch.cuda.device_count()
    yield "device map with the CPU", lambda: gpu_placement.device_map([device, torch.device("cpu")])
    if count < 2:
        missing = Check("device map over GPUs, tensor parallel", None, f"{count} GPU here: they need two")
        yield missing.name, lambda: missing
        return
    devices = [torch.device("cuda", number) for number in range(count)]
    yield "device map", lambda: gpu_placement.device_map(devices)
    yield "tensor parallel", lambda: gpu_placement.tensor_parallel("cuda")


def report(found: Iterable[Check]) -> str:
    """The checks as a table.

    Example:
        >>> print(report([Check("speed", True, "1.0 times"), Check("memory", None, "no GPU")]))
        | check  | holds | measured  |
        |--------|-------|-----------|
        | speed  | yes   | 1.0 times |
        | memory | -     | no GPU    |
    """
    words = {True: "yes", False: "NO", None: "-"}
    return markdown_table(["check", "holds", "measured"], [[one.name, words[one.holds], one.said] for one in found])


def main() -> int:
    """Print what holds on the first GPU."""
    if not torch.cuda.is_available():
        print("there is no GPU that torch can use here: run this on a machine with CUDA", file=sys.stderr)
        return NOTHING_TO_CHECK
    device = torch.device("cuda", 0)
    print(
        f"{torch.cuda.get_device_name(device)} x {torch.cuda.device_count()}, Python {platform.python_version()}, "
        f"torch {torch.__version__}, transformers {transformers.__version__}\n"
    )
    found = []
    for check in checks(device):
        found.append(check)
        print(f"{check.name}: {check.said}", file=sys.stderr)
    print(report(found))
    return DOES_NOT_HOLD if any(check.holds is False for check in found) else 0


if __name__ == "__main__":
    sys.exit(main())
