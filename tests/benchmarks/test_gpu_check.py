"""`make gpu-check` in small form on the CPU: that its checks can hold, and that they can fail."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from benchmarks.gpu_checks import DTYPES, Check

from benchmarks import gpu_check, gpu_checks, gpu_placement
from tests.tiny import tiny_model

CPU = torch.device("cpu")


def test_the_kernels_are_named() -> None:
    found = gpu_checks.kernels(CPU)
    assert [one.name for one in found] == ["kernel, float32", "kernel, float16", "kernel, bfloat16"]
    assert found[0].said == "plain: fused (cpu), masked: fused (cpu)"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("family", ["llama", "gemma3_text", "bert"])
def test_weights_agree_with_eager(family: str, dtype: torch.dtype) -> None:
    check = gpu_checks.agreement(family, CPU, dtype)
    assert check.holds, check.said


def test_a_wrong_weight_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:

    def other(family: str, *, implementation: str = "sdpa") -> Any:
        module = tiny_model(family, implementation=implementation)
        if implementation == "eager":
            module.model.layers[1].self_attn.scaling *= 1.01
        return module

    monkeypatch.setattr(gpu_checks, "tiny_model", other)
    assert gpu_checks.agreement("llama", CPU, torch.float32).holds is False


def test_the_real_model_agrees_writes_and_is_timed() -> None:
    assert gpu_checks.agreement_of_real_model(CPU, torch.float32, 24).holds
    for check in gpu_checks.generation(CPU, torch.float32, new_tokens=3):
        assert check.holds, check.said
    timed = gpu_checks.speed(CPU, torch.float32, 24, repeats=1)
    assert "times" in timed.said
    assert gpu_checks.memory(CPU, torch.float32, 24).holds is None


def test_a_model_on_several_devices_reads_the_same() -> None:
    check = gpu_placement.device_map([CPU, CPU])
    assert check.holds, check.said


@pytest.mark.slow
def test_each_process_of_a_shared_out_model_names_its_heads() -> None:
    check = gpu_placement.tensor_parallel("cpu")
    assert check.holds, check.said
    assert "heads 0 to 1" in check.said
    assert "heads 2 to 3" in check.said


def test_without_a_gpu_one_line_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu_check.main() == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "there is no GPU that torch can use here: run this on a machine with CUDA\n"


@pytest.mark.parametrize(("holds", "code"), [(True, 0), (None, 0), (False, 3)])
def test_the_exit_code_says_whether_all_holds(
    holds: bool | None, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    monkeypatch.setattr(gpu_check, "checks", lambda device: [Check("one", True, "fine"), Check("two", holds, "so so")])
    assert gpu_check.main() == code
    assert {True: "yes", None: "-", False: "NO"}[holds] in capsys.readouterr().out.splitlines()[-1]


def test_a_check_that_cannot_be_carried_out_does_not_end_the_others(monkeypatch: pytest.MonkeyPatch) -> None:

    def fails() -> Check:
        raise RuntimeError("no kernel image is available\nfor execution on the device")

    two = [("one", fails), ("two", lambda: [Check("two", True, "fine")])]
    monkeypatch.setattr(gpu_check, "planned", lambda device, lengths: iter(two))
    first, second = gpu_check.checks(CPU)
    assert (first.name, first.holds) == ("one", False)
    assert first.said == "could not be carried out: RuntimeError: no kernel image is available"
    assert second.holds


def test_what_is_planned_covers_agreement_generation_speed_memory_and_placement() -> None:
    names = [name for name, _ in gpu_check.planned(CPU, [2048])]
    for what in (
        "kernels",
        "llama as eager",
        "smollm2 as eager",
        "generation",
        "speed, 2,048",
        "memory, 2,048",
        "device map",
    ):
        assert any(name.startswith(what) for name in names), what
    assert any("tensor parallel" in name for name in names)
