"""What `make gpu-check` measures: each check takes a device, so that the tests run them in small form on a CPU."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from tests.tiny import tiny_ids, tiny_model

from benchmarks.measure import interleaved
from benchmarks.subject import tokens_of

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.text.tokens import Tokens

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCES = {torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}
"""How far a weight may lie from eager attention's own: a few roundings of the dtype in which eager computes it."""

DEEP = 4.0
"""So many times more in a model of 30 layers in half precision, where both ways round what goes into each layer."""

SLOWEST = 1.5
"""How many times the plain forward pass reading may take."""

SPARE = 64 * 2**20
"""Bytes that a pass may need beside what its cost says: workspaces of the kernels."""

_PROMPT = 9


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what.
        holds: whether it does; None for what only a larger machine can show.
        said: the numbers.
    """

    name: str
    holds: bool | None
    said: str


def kernels(device: torch.device) -> list[Check]:
    """Which kernel reads each kind of call. The public way is as exact, but slower."""
    from heedmap.reading.kernel import kernel_name

    found = []
    for dtype in DTYPES:
        names = {kind: kernel_name(device.type, dtype, kind == "masked") for kind in ("plain", "masked")}
        said = ", ".join(f"{kind}: {name}" for kind, name in names.items())
        found.append(Check(f"kernel, {_short(dtype)}", True, said))
    return found


def agreement(family: str, device: torch.device, dtype: torch.dtype) -> Check:
    """Every weight and the output of a tiny family against eager attention and the untouched model, there."""
    module = tiny_model(family).to(device, dtype)
    eager = tiny_model(family, implementation="eager").to(device, dtype)
    return _agreement(family, module, eager, tiny_ids(_PROMPT).to(device), TOLERANCES[dtype])


def agreement_of_real_model(device: torch.device, dtype: torch.dtype, length: int) -> Check:
    """The same of smollm2, on a text."""
    model = default_model(device, dtype)
    eager = copy.deepcopy(model.module)
    eager.set_attn_implementation("eager")
    ids = torch.tensor([tokens_of(model, length).ids], device=device)
    tolerance = TOLERANCES[dtype] * (1.0 if dtype == torch.float32 else DEEP)
    return _agreement("smollm2", model.module, eager, ids, tolerance)


def _agreement(name: str, module: Any, eager: Any, ids: torch.Tensor, tolerance: float) -> Check:
    """Weights against eager's, rows against 1, outputs against those of the untouched model."""
    from heedmap.reading.tap import Heard, tap

    heard: list[Heard] = []
    with torch.no_grad():
        plain = _answer(module(input_ids=ids))
        with tap(module, heard.append):
            tapped = _answer(module(input_ids=ids))
        expected = eager(input_ids=ids, output_attentions=True).attentions
    largest = off = 0.0
    for one, weights in zip(heard, expected, strict=True):
        call = one.call.made_exact()
        found = call.weights(slice(None), slice(None))
        scores = call.scores(slice(None), slice(None))
        scale = max(float(scores[scores.isfinite()].abs().max()) / 10, 1.0)
        largest = max(largest, float((found - weights.to(found.dtype)).abs().max()) / scale)
        off = max(off, float((found.sum(-1) - 1).abs().max()))
    changed = float((plain - tapped).double().abs().max()) / max(float(plain.double().abs().max()), 1e-3)
    holds = largest <= tolerance and off <= 1e-5 and changed <= max(TOLERANCES[plain.dtype], 1e-4)
    said = f"weights off by {largest:.1e}, rows by {off:.1e}, output by {changed:.1e} of its largest number"
    return Check(f"{name} as eager, {_short(plain.dtype)}", holds, said)


def generation(device: torch.device, dtype: torch.dtype, new_tokens: int = 8) -> list[Check]:
    """The words of smollm2 are those of the untouched model, with the model's own and with a fixed cache."""
    from heedmap.reading.generate import generate

    model = default_model(device, dtype)
    prompt = tokens_of(model, _PROMPT)
    ids = torch.tensor([prompt.ids], device=device)
    found = []
    for cache in (None, "static"):
        options: dict[str, Any] = {} if cache is None else {"cache_implementation": cache}
        written = generate(model, prompt, new_tokens, **options)
        with torch.no_grad():
            expected = model.module.generate(
                ids, max_new_tokens=new_tokens, do_sample=False, disable_compile=True, **options
            )
        same = written.tokens.ids == expected[0].tolist()
        off = float(abs(written.rows().sum(-1) - 1).max())
        said = f"words {'are' if same else 'are NOT'} those of the untouched model, rows off by {off:.1e}"
        found.append(Check(f"generation, {cache or 'own'} cache, {_short(dtype)}", same and off <= 1e-5, said))
    return found


def speed(device: torch.device, dtype: torch.dtype, length: int, repeats: int = 9) -> Check:
    """Reading a text against the plain forward pass: medians of interleaved runs."""
    model = default_model(device, dtype)
    tokens = tokens_of(model, length)

    def finished(work: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            work()
            if device.type == "cuda":
                torch.cuda.synchronize(device)

        return run

    tasks = {"plain": lambda: _plain(model, tokens), "read": lambda: model.read_tokens(tokens)}
    seconds = interleaved({name: finished(task) for name, task in tasks.items()}, repeats)
    ratio = seconds["read"] / seconds["plain"]
    said = f"plain {seconds['plain'] * 1000:.1f} ms, read {seconds['read'] * 1000:.1f} ms: {ratio:.2f} times"
    return Check(f"speed, {length:,} tokens, {_short(dtype)}", ratio <= SLOWEST, said)


def memory(device: torch.device, dtype: torch.dtype, length: int) -> Check:
    """The GPU's peak memory of reading against the plain forward pass: what is added is what the cost says."""
    name = f"memory, {length:,} tokens, {_short(dtype)}"
    if device.type != "cuda":
        return Check(name, None, "only a GPU counts its memory")
    model = default_model(device, dtype)
    tokens = tokens_of(model, length)
    model.read_tokens(tokens)
    plain = _peak(lambda: _plain(model, tokens), device)
    read = _peak(lambda: model.read_tokens(tokens), device)
    cost = model.cost(length)
    added = read - plain
    said = f"plain {plain / 2**20:.0f} MiB, read {read / 2**20:.0f} MiB; cost says {cost.kept / 2**20:.0f} MiB are kept"
    return Check(name, added <= 1.25 * cost.kept + SPARE, said)


def default_model(device: torch.device, dtype: torch.dtype) -> Model:
    """The model `smollm2`, there."""
    import heedmap

    return heedmap.load("smollm2", dtype=_short(dtype), device=str(device))


def _plain(model: Model, tokens: Tokens) -> torch.Tensor:
    """The forward pass that reading is compared with."""
    from heedmap.reading.forward import run

    return run(model.module, torch.tensor([tokens.ids], device=model.module.device))


def _peak(work: Callable[[], object], device: torch.device) -> int:
    """The most bytes that a piece of work has on a GPU, beside what was there before."""
    torch.cuda.synchronize(device)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    kept = work()
    torch.cuda.synchronize(device)
    peak = torch.cuda.max_memory_allocated(device) - before
    del kept
    return peak


def _answer(output: Any) -> torch.Tensor:
    """Logits, or the last hidden states."""
    answer: torch.Tensor = output.logits if "logits" in output else output.last_hidden_state
    return answer


def _short(dtype: torch.dtype) -> str:
    """A dtype's name without torch's."""
    return str(dtype).removeprefix("torch.")
