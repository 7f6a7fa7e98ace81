"""The worked table that `print(trace)` writes: compare, scale, exponentiate, weigh, blend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.layer_table import after_attention, before_attention
from heedmap.arithmetic.names import label
from heedmap.arithmetic.writing import (
    ABSENT,
    MOST_COLUMNS,
    MOST_ROWS,
    columns,
    given,
    matrix,
    number,
    products_sum,
    vector,
)

if TYPE_CHECKING:
    from heedmap.arithmetic.trace import Trace

MOST_TABLES = 6
"""With more rows to work than this, matrices are shown instead of one table each."""
MOST_KEYS = 40
MOST_BLENDS = 4
"""With more numbers in a value than this, the blend is worked for the first few only."""


def worked_table(trace: Trace, digits: int = 2) -> str:
    """The whole calculation as text.

    One table for each query and head, and where several ask also the matrix of their weights; with many queries
    or keys only the matrices. Figures are rounded for the page; the trace holds them in full.

    Args:
        trace: what to show.
        digits: digits after the point.

    Example:
        >>> from heedmap.arithmetic import attend
        >>> print(attend([1, 1], [[2, 0], [1, 1]], [[1, 0], [0.5, 0.5]], key_tokens=["river", "bank"]))
        "bank" asks with the query [1.0, 1.0]; √2 = 1.41
        <BLANKLINE>
               compare                   scale  exponentiate   weigh
               query · key                ÷ √2       e^score  ÷ 8.23
        river  1.0·2.0 + 1.0·0.0 = 2.00   1.41          4.11    0.50
        bank   1.0·1.0 + 1.0·1.0 = 2.00   1.41          4.11    0.50
        total                                           8.23    1.00
        <BLANKLINE>
        blend: the sum of weight · value
        0.50·1.0 + 0.50·0.5 = 0.75
        0.50·0.0 + 0.50·0.5 = 0.25
        output [0.75, 0.25]
    """
    heads, queries = trace.heads, len(trace.query_tokens)
    parts = [] if trace.layer is None else before_attention(trace, digits)
    worked = heads * queries <= MOST_TABLES and len(trace.key_tokens) <= MOST_KEYS
    for head in range(heads):
        one = trace.head(head)
        if heads > 1:
            parts.append(_head_title(trace, head))
        if worked:
            parts += [_one_query(one, query, digits) for query in range(queries)]
        if not worked or queries > 1:
            parts += _matrices(one, digits, every=not worked)
    if trace.layer is not None:
        parts += after_attention(trace, digits)
    return "\n\n".join(parts)


def _one_query(trace: Trace, query: int, digits: int) -> str:
    """One query's table and its blend."""
    name = label(trace.query_tokens[query])
    asking = trace.query[query]
    lines = [f'"{name}" asks with the query {vector(asking, digits)}{_root(trace, digits)}', ""]
    if not trace.allowed[query].any():
        return lines[0] + f'\n\n"{name}" may look at nothing: it has no weights and no output.'
    lines += columns(_rows(trace, query, digits), left=2)
    lines += _notes(trace, query, digits)
    lines += ["", "blend: the sum of weight · value", *_blend(trace, query, digits)]
    return "\n".join(lines)


def _rows(trace: Trace, query: int, digits: int) -> list[list[str]]:
    """The cells of one query's table: two header rows, a row for each key, the totals."""
    asking = [given(one, digits) for one in trace.query[query]]
    keys = trace.key
    product, score, weight = trace.products[query], trace.scores[query], trace.weights[query]
    total = number(weight.sum(), digits)
    steps: list[tuple[str, str, Array, str]] = [("scale", _scaling(trace), score, "")]
    if trace.exponentials is not None and trace.totals is not None:
        sum_text = number(trace.totals[query], digits)
        formula = _exponential(float(trace.shift[query]), digits)
        steps.append(("exponentiate", formula, trace.exponentials[query], sum_text))
        steps.append(("weigh", f"÷ {sum_text}", weight, total))
    else:
        steps.append(("weigh", "the score", weight, total))
    rows = [["", "compare", *(step[0] for step in steps)], ["", "query · key", *(step[1] for step in steps)]]
    for index, token in enumerate(trace.key_tokens):
        if not trace.allowed[query, index]:
            rows.append([label(token), ABSENT, *(ABSENT for _ in steps)])
            continue
        sum_text = products_sum(asking, [given(one, digits) for one in keys[index]])
        compared = f"{sum_text} = {number(product[index], digits)}"
        rows.append([label(token), compared, *(number(step[2][index], digits) for step in steps)])
    rows.append(["total", "", *(step[3] for step in steps)])
    return rows


def _blend(trace: Trace, query: int, digits: int) -> list[str]:
    """The sum of weight times value, worked for each number of the output."""
    allowed = trace.allowed[query]
    weights = [number(one, digits) for one in trace.weights[query][allowed]]
    values = trace.value[allowed]
    output = trace.output[query]
    lines = []
    for column in range(min(len(output), MOST_BLENDS)):
        sum_text = products_sum(weights, [given(one, digits) for one in values[:, column]])
        lines.append(f"{sum_text} = {number(output[column], digits)}")
    if len(output) > MOST_BLENDS:
        lines.append(f"… and so on for {len(output) - MOST_BLENDS} more")
    return [*lines, f"output {vector(output, digits, computed=True)}"]


def _notes(trace: Trace, query: int, digits: int) -> list[str]:
    """What a reader must know about this table: a shift, raw scores, keys that are forbidden."""
    notes = []
    shift = float(trace.shift[query])
    if shift:
        largest, problem = number(shift, digits), "large" if shift > 0 else "small"
        notes.append(f"e^{largest} is too {problem} to be safe on a machine: the largest score, {largest},")
        notes.append("is taken off every score first. The weights stay the same.")
    if trace.exponentials is None:
        total = float(trace.weights[query].sum())
        notes.append(f"Without softmax the weights sum to {number(total, digits)}; nothing makes that 1.")
    if not trace.allowed[query].all():
        notes.append(f"{ABSENT} stands where the query may not look.")
    return ["", *notes] if notes else []


def _matrices(trace: Trace, digits: int, *, every: bool) -> list[str]:
    """The weights of all queries as one matrix; with `every` also the scores and the outputs."""
    allowed = trace.allowed
    parts = []
    if every:
        scores = np.where(allowed, trace.scores, np.nan)
        title = f"scores (query · key {_scaling(trace)}; the rows ask, the columns are looked at)"
        parts.append("\n".join([title, *matrix(scores, digits, trace.query_tokens, trace.key_tokens)]))
    weights = np.where(allowed, trace.weights, np.nan)
    title = "weights (the rows ask, the columns are looked at)"
    parts.append("\n".join([title, *matrix(weights, digits, trace.query_tokens, trace.key_tokens)]))
    if every:
        output = matrix(trace.output, digits, trace.query_tokens)
        parts.append("\n".join(["output (each row the blend of the values by its weights)", *output]))
    queries, keys, width = len(trace.query_tokens), len(trace.key_tokens), trace.value.shape[-1]
    if queries > MOST_ROWS or keys > MOST_COLUMNS or (every and width > MOST_COLUMNS):
        parts.append(f"{queries} queries on {keys} keys with values of {width} numbers, shown by the edges.")
    return parts


def _head_title(trace: Trace, head: int) -> str:
    """Which head this is, and which key-value head it shares."""
    if trace.heads == trace.key_value_heads:
        return f"== head {head} =="
    sharing = trace.heads // trace.key_value_heads
    return f"== head {head}, on key-value head {trace.key_head(head)} ({sharing} query heads share it) =="


def _scaling(trace: Trace) -> str:
    """The division as a formula: '÷ √2', '× 0.30', 'not scaled', '÷ √2 × 8.0'."""
    dim = trace.query.shape[-1]
    if trace.scale == 1.0 / math.sqrt(dim):
        text = f"÷ √{dim}"
    elif trace.scale == 1.0:
        text = "not scaled"
    else:
        text = f"× {trace.scale:.4g}"
    return text if trace.multiply == 1 else f"{text} × {trace.multiply:.4g}"


def _root(trace: Trace, digits: int) -> str:
    """The value of √d, where it is what the products are divided by."""
    dim = trace.query.shape[-1]
    return f"; √{dim} = {number(math.sqrt(dim), digits)}" if _scaling(trace).startswith("÷") else ""


def _exponential(shift: float, digits: int) -> str:
    """The exponential as a formula, with what is taken off first."""
    if not shift:
        return "e^score"
    sign = "−" if shift > 0 else "+"
    return f"e^(score {sign} {number(abs(shift), digits)})"
