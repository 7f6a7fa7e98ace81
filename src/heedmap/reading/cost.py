"""What a run will cost before it starts: tokens, arithmetic, memory and time, estimated from the model's sizes."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from heedmap.reading.forward import predicts_next_token
from heedmap.reading.kernel import attend
from heedmap.reading.listening import AttentionLayer
from heedmap.reading.memory import bytes_text, free_memory, require_memory

LONG_SECONDS = 60.0
"""From here on a run's cost is told before it starts."""

LARGE_SHARE = 0.25
"""From this share of the free memory on it is told, too."""

_SLOWEST = 1e9
"""Operations a second that every machine reaches: what is short even at this rate need not be timed."""


_RUNS = 5
"""How often the small products are run that the machine's rates are taken from."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The estimated cost of one forward pass that is read.

    The arithmetic is right to a few percent. On smollm2 at 1,024 and 2,048 tokens, on a machine that other work kept
    busy, the memory was up to half more than estimated, and the time 0.3 to 1.5 times the estimate.

    Attributes:
        tokens: how many tokens run.
        layers: how many layers are kept.
        table_operations: multiplications and additions with the learned tables.
        attention_operations: multiplications and additions between tokens, of the pass and of further attention calls.
        kept: bytes that the reading keeps.
        working: bytes that the pass needs while it runs, at its peak.
        device: where it runs.
        dtype: the dtype it runs in.
    """

    tokens: int
    layers: int
    table_operations: float
    attention_operations: float
    kept: float
    working: float
    device: torch.device
    dtype: torch.dtype

    @property
    def operations(self) -> float:
        """All multiplications and additions."""
        return self.table_operations + self.attention_operations

    @property
    def memory(self) -> float:
        """Bytes at the peak, beside the model itself."""
        return self.kept + self.working

    @property
    def seconds(self) -> float:
        """How long it will take, by the rates of this machine, which are measured once, in a few milliseconds."""
        tables, attention = _rates(self.device.type, self.dtype)
        return self.table_operations / tables + self.attention_operations / attention

    @property
    def is_worth_telling(self) -> bool:
        """Whether it takes over a minute, or over a quarter of the free memory."""
        free = free_memory(self.device)
        if free is not None and self.memory > LARGE_SHARE * free:
            return True
        return self.operations > LONG_SECONDS * _SLOWEST and self.seconds > LONG_SECONDS

    def require(self) -> None:
        """Refuse a run that cannot fit.

        Raises:
            TooLarge: it needs more memory than is free; the subset to ask for is named.
        """
        fewer = "keep fewer layers (layers=...), or read a shorter text"
        only_shorter = "read a shorter text, or take a smaller dtype"
        what = f"reading {self.tokens:,} tokens and keeping {layers_text(self.layers)}"
        require_memory(self.memory, self.device, what, fewer if self.kept > self.working else only_shorter)

    def __str__(self) -> str:
        free = free_memory(self.device)
        beside = "" if free is None else f"; {bytes_text(free)} are free"
        memory = (
            f"{bytes_text(self.memory)} of memory ({bytes_text(self.kept)} to keep {layers_text(self.layers)}{beside})"
        )
        work = f"about {operations_text(self.operations)} operations, {time_text(self.seconds)}"
        return f"{self.tokens:,} tokens: {work} and {memory}"


def estimate(
    module: nn.Module,
    layers: Collection[AttentionLayer],
    tokens: int,
    *,
    kept: Collection[int] = (),
    values: bool = False,
    attention_calls: int = 1,
) -> Cost:
    """The cost of reading one text.

    Args:
        module: a transformers model.
        layers: all its layers.
        tokens: how many tokens run.
        kept: the numbers of the layers that the reading keeps.
        values: whether it keeps values and outputs too.
        attention_calls: attention calls a layer: 1 for the pass itself, and one for each statistic that needs its own.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> cost = estimate(model.module, model.layers, 4096)
        >>> round(cost.operations / 1e12, 2)
        1.45
    """
    configuration: Any = module.config.get_text_config()  # type: ignore[operator, union-attr]
    dtype = next(module.parameters()).dtype
    device = next(module.parameters()).device
    size = torch.finfo(dtype).bits // 8
    hidden = int(configuration.hidden_size)
    dim = int(getattr(configuration, "head_dim", None) or hidden // next(iter(layers)).heads)
    causal = predicts_next_token(module)
    pairs = sum(_pairs(configuration, causal, layer.number, tokens) * layer.heads for layer in layers)
    kept_numbers = 0
    for layer in layers:
        if layer.number in kept:
            shared = layer.key_value_heads * dim
            own = layer.heads * dim
            kept_numbers += own + shared + ((shared + own) if values else 0)
    sums = sum(4 * layer.heads for layer in layers if layer.number in kept)
    return Cost(
        tokens=tokens,
        layers=len(set(kept)),
        table_operations=2.0 * tokens * _table_numbers(module, configuration) + _head_operations(module, tokens),
        attention_operations=attention_calls * 4.0 * dim * pairs,
        kept=float(tokens * (kept_numbers * size + sums)),
        working=float(tokens * _working_numbers(module, configuration) * size),
        device=device,
        dtype=dtype,
    )


def _pairs(configuration: Any, causal: bool, index: int, tokens: int) -> float:
    """How many cells of a head's map are computed: half of them in a causal layer, a band in a windowed one."""
    kinds = getattr(configuration, "layer_types", None)
    window = getattr(configuration, "sliding_window", None)
    windowed = window is not None and (kinds is None or "sliding" in str(kinds[index : index + 1]))
    reach = min(tokens, int(window)) if windowed and window is not None else tokens
    return tokens * reach - reach * reach / 2 if causal else float(tokens * reach)


def _embeddings(module: nn.Module) -> set[int]:
    """The tables that are looked up or used for the last token only: word vectors and the head."""
    tables = {id(part.weight) for part in module.modules() if isinstance(part, nn.Embedding)}
    head = module.get_output_embeddings()  # type: ignore[operator]
    if head is not None:
        tables.add(id(head.weight))
    return tables


def _table_numbers(module: nn.Module, configuration: Any) -> float:
    """Numbers of the learned tables that every token is multiplied with."""
    elsewhere = _embeddings(module)
    experts = getattr(configuration, "num_local_experts", None) or getattr(configuration, "num_experts", None) or 1
    used = getattr(configuration, "num_experts_per_tok", None) or experts
    total = 0.0
    for name, parameter in module.named_parameters():
        if parameter.ndim >= 2 and id(parameter) not in elsewhere:
            total += parameter.numel() * (used / experts if ".experts." in name else 1.0)
    return total


def _head_operations(module: nn.Module, tokens: int) -> float:
    """The head's own multiplications: for the last token only, where the model can be asked for that."""
    head: Any = module.get_output_embeddings()  # type: ignore[operator]
    return 0.0 if head is None else 2.0 * head.weight.numel() * _logit_rows(module, tokens)


def _logit_rows(module: nn.Module, tokens: int) -> int:
    """How many rows of logits the pass makes."""
    return 1 if "logits_to_keep" in inspect.signature(type(module).forward).parameters else tokens


def _working_numbers(module: nn.Module, configuration: Any) -> float:
    """Numbers a token that stand in memory at the peak: in the feed-forward part, or where logits are made.

    Of the first: the stream, the normalised stream, and three times its widened form (both halves of the gate and
    their product). Of the second: a row of logits in the model's dtype.
    """
    hidden = int(configuration.hidden_size)
    widened = getattr(configuration, "intermediate_size", None) or getattr(configuration, "n_inner", None) or 4 * hidden
    peak = 4.0 * hidden + 3.0 * int(widened)
    head: Any = module.get_output_embeddings()  # type: ignore[operator]
    if head is not None and _logit_rows(module, 2) > 1:
        peak = max(peak, 2.0 * hidden + head.weight.shape[0])
    return peak


@functools.cache
def _rates(device_type: str, dtype: torch.dtype) -> tuple[float, float]:
    """Operations a second of this machine: in products of tables, and in attention."""
    device = torch.device(device_type)
    random = torch.Generator().manual_seed(0)
    left = torch.randn(256, 768, generator=random).to(device, dtype)
    right = torch.randn(768, 1536, generator=random).to(device, dtype)
    query = torch.randn(1, 8, 512, 64, generator=random).to(device, dtype)
    products = _seconds(lambda: left @ right, device)
    attention = _seconds(lambda: attend(query, query, query, scale=0.125, causal=True), device)
    return 2 * left.numel() * right.shape[1] / products, 4 * 8 * 64 * (512 * 512 / 2) / attention


def _seconds(work: Callable[[], object], device: torch.device) -> float:
    """Seconds of one run, as the mean over a few: on a busy machine the fastest would promise too much."""
    work()  # the first run pays for threads and caches
    start = time.perf_counter()
    for _ in range(_RUNS):
        work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (time.perf_counter() - start) / _RUNS


def layers_text(count: int) -> str:
    """A number of layers in words.

    Example:
        >>> layers_text(1), layers_text(30)
        ('1 layer', '30 layers')
    """
    return "1 layer" if count == 1 else f"{count} layers"


def operations_text(count: float) -> str:
    """A number of operations with its thousands named.

    Example:
        >>> operations_text(1.44e12), operations_text(3e6)
        ('1.4 tera', '3.0 mega')
    """
    for size, name in ((1e15, "peta"), (1e12, "tera"), (1e9, "giga")):
        if count >= size:
            return f"{count / size:,.1f} {name}"
    return f"{count / 1e6:.1f} mega"


def time_text(seconds: float) -> str:
    """A duration as people say it.

    Example:
        >>> time_text(0.4), time_text(75), time_text(9000)
        ('1 second', '1.2 minutes', '2.5 hours')
    """
    if seconds < 1.5:
        return "1 second"
    if seconds < 60:
        return f"{seconds:.0f} seconds"
    if seconds < 3600:
        return f"{seconds / 60:.1f} minutes"
    return f"{seconds / 3600:.1f} hours"
