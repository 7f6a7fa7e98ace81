"""Live numbers of a whole sentence at once: every weight of an example as a grid, under any mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heedmap.arithmetic import Trace, attend
from heedmap.arithmetic.checks import Mask
from heedmap.arithmetic.names import find_token, label, listed
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_example import asking_row, worked

MASKS = ("none", "causal", "strict", "upside-down", "late")
"""Who may look where: everywhere; backwards and at itself; backwards only; forwards; backwards, but after softmax."""

_MASK = f"[mask={'|'.join(MASKS)}]"


def masked(arguments: Arguments) -> tuple[Trace, int]:
    """The example under the mask that the options name, and its digits.

    Example:
        >>> masked(Arguments(["paris-all"], {"mask": "causal"}))[0].weights[0]
        array([1., 0., 0., 0.])
    """
    mask = arguments.option("mask", "none") or ""
    if mask not in MASKS:
        raise LessonError(f"option mask: expected one of {listed(MASKS)}, found {mask!r}")
    trace, digits = worked(arguments)
    rows, keys = trace.products.shape
    if rows != keys:
        raise LessonError(f"expected an example in which every word asks, found {rows} of {keys}")
    if mask == "none":
        return trace, digits
    allowed = _allowed(mask, keys)
    if mask == "late":  # softmax has shared out everything; what is wiped afterwards is missing
        return replace(trace, weights=np.where(allowed, trace.weights, 0.0), allowed=allowed), digits
    again = attend(
        trace.query,
        trace.key,
        trace.value,
        mask=allowed,
        scale=trace.scale,
        multiply=trace.multiply,
        query_tokens=trace.query_tokens,
        key_tokens=trace.key_tokens,
    )
    return again, digits


def _allowed(mask: str, count: int) -> Mask:
    """Rows ask, columns are looked at."""
    everything = np.ones((count, count), dtype=np.bool_)
    return {
        "causal": np.tril(everything),
        "late": np.tril(everything),
        "strict": np.tril(everything, -1),
        "upside-down": np.triu(everything),
    }[mask]


@REGISTRY.add(
    "grid",
    f"EXAMPLE [show=weights|scores] {_MASK} [labels=shifted] [digits=N] [CHANGE ...]",
    "everybody's weights (with their sum) or scores",
    block=True,
)
def _grid(arguments: Arguments) -> Figure:
    show, labels = arguments.option("show", "weights"), arguments.option("labels", "right")
    if show not in ("weights", "scores") or labels not in ("right", "shifted"):
        raise LessonError(f"expected show=weights or show=scores, and labels=shifted or none, found {show}, {labels}")
    trace, usual = masked(arguments)
    digits = arguments.digits(usual)
    names = [label(token) for token in trace.key_tokens]
    if labels == "shifted":
        names = [*names[1:], names[0]]
    numbers = np.where(trace.allowed, trace.weights if show == "weights" else trace.scores, np.nan)
    rows = [["asks ↓  looked at →", *names, *(["sum"] if show == "weights" else [])]]
    for token, line in zip(trace.query_tokens, numbers, strict=True):
        total = [number(float(np.nansum(line)), digits)] if show == "weights" else []
        rows.append([label(token), *(number(one, digits) for one in line), *total])
    return Figure("\n".join(columns(rows)))


@REGISTRY.add("grid-weight", f"EXAMPLE TOKEN asks=TOKEN {_MASK} [digits=N] [CHANGE ...]", "one weight of that grid")
def _grid_weight(arguments: Arguments) -> Figure:
    trace, usual = masked(arguments)
    key = find_token(trace.key_tokens, arguments.word("a token"))
    return rounded(float(trace.weights[asking_row(trace, arguments), key]), arguments.digits(usual))


@REGISTRY.add("grid-sum", f"EXAMPLE asks=TOKEN {_MASK} [digits=N] [CHANGE ...]", "what one row of it adds up to")
def _grid_sum(arguments: Arguments) -> Figure:
    trace, usual = masked(arguments)
    row = asking_row(trace, arguments)
    return rounded(float(np.nansum(trace.weights[row])), arguments.digits(usual))


@REGISTRY.add("cells", f"N {_MASK}", "how many pairs of N words may hold a weight")
def _cells(arguments: Arguments) -> Figure:
    count, mask = arguments.whole("how many words"), arguments.option("mask", "none") or ""
    if mask not in MASKS:
        raise LessonError(f"option mask: expected one of {listed(MASKS)}, found {mask!r}")
    pairs = {"none": count * count, "strict": count * (count - 1) // 2}.get(mask, count * (count + 1) // 2)
    return Figure(f"{pairs:,}", float(pairs))
