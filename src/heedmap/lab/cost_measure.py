"""What `cost` measures of one prompt: time to the first token, time a further token, cache, memory, attention alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.errors import TextTooLong
from heedmap.lab.cost_predict import outweighs_from, predict
from heedmap.lab.cost_shape import Shape, shape_of
from heedmap.lab.random_tokens import ordinary_ids
from heedmap.lab.rows import Row
from heedmap.reading.forward import evaluating, input_device
from heedmap.reading.kernel import attend
from heedmap.reading.short_input import position_limit

if TYPE_CHECKING:
    from heedmap.reading.model import Model

_PROCESS = Path("/proc/self")


def measure(model: Model, length: int, seed: int, further: int) -> Row:
    """Read a prompt of random tokens, then write a few more; times are seconds, sizes are bytes.

    Returns:
        "first" (time to the first token), "next" (mean time of a further token), "cache", "peak" (memory above what
        was there before), "attention_seconds" (all layers' attention alone), and what was predicted of each.

    Raises:
        TextTooLong: the model has fewer positions.
        UnsupportedModel: its sizes cannot be read.
    """
    limit = position_limit(model.module)
    if limit is not None and length + further > limit:
        raise TextTooLong(
            f"{length} tokens and {further} more are more than the model's {limit} positions: give shorter --lengths"
        )
    shape = shape_of(model.module.config)
    drawn = np.random.default_rng([seed, length]).choice(ordinary_ids(model), length)
    ids = torch.tensor(drawn[None], device=input_device(model.module))
    with torch.no_grad(), evaluating(model.module):
        _read(model.module, ids[:, :2], None)  # the first pass of a process pays for threads and caches
        before = _reset_peak(ids.device)
        seconds, result = _timed(lambda: _read(model.module, ids, None), ids.device)
        cache = result.past_key_values if shape.causal else None
        bytes_kept = _cache_bytes(cache)
        written = [_next(model.module, ids, cache) for _ in range(further)] if cache is not None else [float("nan")]
        peak = _peak(ids.device, before)
    dtype = str(model.module.dtype).removeprefix("torch.")
    predicted = predict(shape, length, dtype=dtype)
    return {
        "length": length,
        "first": seconds,
        "next": float(np.mean(written)),
        "cache": bytes_kept,
        "peak": peak,
        "attention_seconds": _attention_seconds(shape, length, model.module.dtype, ids.device),
        "predicted_attention": predicted.attention,
        "predicted_rest": predicted.rest,
        "predicted_cache": predicted.cache,
        "predicted_crossing": float(outweighs_from(shape) or np.nan),
        "layers": len(shape.layers),
    }


def _read(module: Any, ids: torch.Tensor, cache: Any) -> Any:
    """One forward pass that keeps a cache, where the model can."""
    import inspect

    known = inspect.signature(type(module).forward).parameters
    options: dict[str, Any] = {}
    if "use_cache" in known:
        options["use_cache"] = True
    if cache is not None:  # releases of transformers differ in what they call it
        options["cache" if "cache" in known else "past_key_values"] = cache
    if "logits_to_keep" in known:
        options["logits_to_keep"] = 1
    return module(input_ids=ids, return_dict=True, **options)


def _next(module: Any, ids: torch.Tensor, cache: Any) -> float:
    """Seconds to write one more token; which one does not matter for the time."""
    return _timed(lambda: _read(module, ids[:, -1:], cache), ids.device)[0]


def _timed(work: Callable[[], Any], device: torch.device) -> tuple[float, Any]:
    """Seconds of some work, and what it gave."""
    start = time.perf_counter()
    result = work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start, result


def _attention_seconds(shape: Shape, length: int, dtype: torch.dtype, device: torch.device) -> float:
    """Seconds that the attention of all layers takes by itself, on random numbers, one kind of layer timed once."""
    total = 0.0
    kinds = {layer: shape.layers.count(layer) for layer in dict.fromkeys(shape.layers)}
    for layer, count in kinds.items():
        random = torch.Generator().manual_seed(0)
        query = torch.randn(1, layer.heads, length, layer.query_dim, generator=random).to(device, dtype)
        value = query[..., : layer.value_dim].contiguous()
        reach = length if layer.reach is None else min(layer.reach, length)
        # A window is timed as one block of so many queries and keys, which a text has once in every such length.
        blocks = max(length // reach, 1)
        part = slice(0, reach)
        run = (query[:, :, part], query[:, :, part], value[:, :, part])
        causal = shape.causal and reach == length
        attend(*run, scale=0.1, causal=causal)
        seconds, _ = _timed(lambda run=run, causal=causal: attend(*run, scale=0.1, causal=causal), device)  # type: ignore[misc]
        total += count * blocks * seconds
    return total


def _cache_bytes(cache: Any) -> float:
    """The bytes of all keys and values that a cache holds; NaN where there is none."""
    layers = getattr(cache, "layers", None)
    if not layers:
        return float("nan")
    tensors = [getattr(layer, name, None) for layer in layers for name in ("keys", "values")]
    return float(sum(tensor.nbytes for tensor in tensors if isinstance(tensor, torch.Tensor)))


def _reset_peak(device: torch.device) -> float:
    """Bytes in use now; the peak is counted from here on."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return float(torch.cuda.memory_allocated(device))
    try:
        (_PROCESS / "clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return _status("VmRSS")


def _peak(device: torch.device, before: float) -> float:
    """Bytes at the peak above what was in use before; NaN where the system does not say."""
    now = float(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else _status("VmHWM")
    return now - before


def _status(name: str) -> float:
    """A line of the process's status on Linux, in bytes."""
    try:
        lines = (_PROCESS / "status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith(name)), float("nan"))
