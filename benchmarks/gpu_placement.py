"""Models that lie on several devices, or whose heads processes share: the same numbers, rightly named."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tests.tiny import tiny_ids, tiny_model
from torch import multiprocessing

from benchmarks.gpu_checks import Check

TOLERANCE = 2e-5
RANKS = 2


def device_map(devices: Sequence[torch.device]) -> Check:
    """A tiny model whose layers lie on several devices, against the same on one; results come back to the CPU."""
    from accelerate import dispatch_model

    from heedmap.reading.forward import input_device
    from heedmap.reading.layers import attention_layers
    from heedmap.reading.tap import Heard, tap

    name = "device map, " + " and ".join(str(device) for device in devices)
    module = tiny_model("llama")
    ids = tiny_ids(9)
    alone: list[Heard] = []
    with tap(module, alone.append), torch.no_grad():
        module(input_ids=ids)
    parts = [f"model.layers.{number}" for number in range(len(module.model.layers))]
    places: dict[str, Any] = {part: devices[index % len(devices)] for index, part in enumerate(parts)}
    outer = ("model.embed_tokens", "model.norm", "model.rotary_emb", "lm_head")
    places |= dict.fromkeys(outer, devices[0])
    spread = dispatch_model(tiny_model("llama"), places, main_device=devices[0], force_hooks=True)
    attention_layers(spread)
    heard: list[Heard] = []
    with tap(spread, heard.append), torch.no_grad():
        spread(input_ids=ids.to(input_device(spread)))
    off = max(
        float(
            (one.call.weights(slice(None), slice(None)).cpu() - other.call.weights(slice(None), slice(None)))
            .abs()
            .max()
        )
        for one, other in zip(heard, alone, strict=True)
    )
    found = sorted({str(one.call.query.device) for one in heard})
    return Check(name, off <= TOLERANCE, f"weights off by {off:.1e}; calls heard on {', '.join(found)}")


def tensor_parallel(device_type: str) -> Check:
    """A tiny model whose heads are shared out among two processes: each reads its own, and says which they are."""
    name = f"tensor parallel, {RANKS} processes on {device_type}"
    with tempfile.TemporaryDirectory() as folder:
        tiny_model("llama").save_pretrained(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        processes: Any = multiprocessing
        context = processes.spawn(_rank, args=(folder, device_type, port), nprocs=RANKS, join=False)
        try:
            while not context.join(timeout=120):
                pass
        except Exception as error:  # a worker's failure is the check's answer
            return Check(name, False, str(error).strip().splitlines()[-1])
        said = [Path(folder, f"rank{rank}").read_text(encoding="utf-8") for rank in range(RANKS)]
    return Check(name, all(text.startswith("as") for text in said), "; ".join(said))


def _rank(rank: int, folder: str, device_type: str, port: int) -> None:
    """What one process does: load its part, read it, and compare with the same heads of the whole model."""
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS)
    )
    from transformers import AutoModelForCausalLM

    from heedmap.reading.parallel import tensor_parallel_part
    from heedmap.reading.tap import Heard, tap

    if device_type == "cuda":
        torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl" if device_type == "cuda" else "gloo", rank=rank, world_size=RANKS)
    part: Any = AutoModelForCausalLM.from_pretrained(folder, tp_plan="auto", dtype=torch.float32).eval()
    whole: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = tiny_ids(9)
    found: list[list[Heard]] = []
    for module in (part, whole):
        heard: list[Heard] = []
        with tap(module, heard.append), torch.no_grad():
            module(input_ids=ids.to(next(module.parameters()).device))
        found.append(heard)
    label = tensor_parallel_part(part, found[0][0].call.heads)
    assert label is not None, "the model does not say that it is shared out"
    own = slice(label["first_head"], label["first_head"] + label["heads"])
    off = max(
        float(
            (
                one.call.weights(slice(None), slice(None)).cpu()
                - other.call.weights(slice(None), slice(None))[:, own].cpu()
            )
            .abs()
            .max()
        )
        for one, other in zip(*found, strict=True)
    )
    verdict = (
        "as the whole model's"
        if off <= TOLERANCE and label["heads"] < found[1][0].call.heads
        else "NOT the whole model's"
    )
    text = f"{verdict} heads {own.start} to {own.stop - 1} (off by {off:.1e})"
    Path(folder, f"rank{rank}").write_text(text, encoding="utf-8")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
