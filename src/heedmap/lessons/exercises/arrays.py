"""Exercises on arrays: @ and .T, learned tables, softmax along the right axis, who may see whom, heads, slopes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedmap.arithmetic import matrix_product, softmax
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.steps import causal_mask, softmax_rows
from heedmap.lessons.exercises.four_steps import SENTENCES, softmax_steps
from heedmap.lessons.exercises.mistakes import wrong
from heedmap.lessons.exercises.problem import Draw, Generator, Step, listed, plain, table


def _grid(draw: Draw, rows: int, columns: int, low: int = -2, high: int = 5) -> Array:
    """Whole numbers, no two rows alike."""
    return np.array(draw.different(lambda: draw.wholes(columns, low, high), rows))


def _shown(grid: Array) -> str:
    """An array as Python writes it."""
    return "[" + ", ".join(listed(row.tolist()) for row in grid) + "]"


def _cells(grid: Array) -> tuple[str, ...]:
    """What each number of an array is called, row by row."""
    return tuple(f"row {i}, column {j}" for i in range(grid.shape[0]) for j in range(grid.shape[1]))


def _matrix(draw: Draw, level: int) -> tuple[str, list[Step]]:
    left, right = _grid(draw, 2, 2, 0 if level == 1 else -2), _grid(draw, 2, 2, 0 if level == 1 else -2)
    if level == 3:
        left, right = _grid(draw, 2, 3), _grid(draw, 2, 3)
    turned = right if level == 1 else right.T
    result = matrix_product(left, turned).result
    what = "A @ B" if level == 1 else "Q @ K.T"
    mistakes = [wrong("transposed-result", lambda done: result.T.ravel().tolist())]
    if level == 1:
        mistakes.append(wrong("table-turned", lambda done: (left @ right.T).ravel().tolist()))
    if level == 2:
        mistakes.append(wrong("not-transposed", lambda done: (left @ right).ravel().tolist()))
    if left.shape == right.shape == result.shape:
        mistakes.append(wrong("cell-by-cell", lambda done: (left * right).ravel().tolist()))
    step = Step(
        "the product",
        f"What is {what}? Write its four numbers row by row.",
        lambda done: result.ravel().tolist(),
        "Row 0 with column 0, row 0 with column 1, row 1 with column 0, row 1 with column 1."
        if level == 1
        else "K.T turns the rows of K into columns: so each row of Q meets each row of K.",
        labels=_cells(result),
        mistakes=tuple(mistakes),
    )
    one, other = ("A", "B") if level == 1 else ("Q", "K")
    return f"{one} = {_shown(left)} and {other} = {_shown(right)}.", [step]


def _projection(draw: Draw, level: int) -> tuple[str, list[Step]]:
    width = 2 if level < 3 else 4
    x, query_table = draw.wholes(2, -2, 4), _grid(draw, 2, width, -2, 3)
    steps = [_projection_step("the query", "x @ W_q", x, query_table)]
    text = f"A word's vector x = {listed(x)} and the learned table W_q = {_shown(query_table)}."
    if level == 1:
        return text, steps
    key_table = _grid(draw, 2, width, -2, 3)
    other = draw.wholes(2, -2, 4)
    text += f" Another word's vector is y = {listed(other)}, and the table of keys W_k = {_shown(key_table)}."
    steps.append(_projection_step("the key", "y @ W_k", other, key_table))
    parts = slice(0, None) if level == 2 else slice(2, 4)
    if level == 3:
        text += " Two heads share the four numbers, two each."
    where = "" if level == 2 else " of head 1 (the second head)"
    half = slice(0, 2)
    mistakes = (
        []
        if level == 2
        else [
            wrong("from-one", lambda done: [float(np.dot(done[0][half], done[1][half]))]),
            wrong("key-heads-joined", lambda done: [float(np.dot(done[0], done[1]))]),
        ]
    )
    steps.append(
        Step(
            "the product",
            f"What is query · key{where}?",
            lambda done: [float(np.dot(done[0][parts], done[1][parts]))],
            "Number times number, then add.",
            mistakes=(
                *mistakes,
                wrong("added-instead", lambda done: [float(sum(done[0][parts]) + sum(done[1][parts]))]),
            ),
        )
    )
    return text, steps


def _projection_step(name: str, formula: str, x: Sequence[float], learned: Array) -> Step:
    """A vector times a table."""
    width = learned.shape[1]
    mistakes = []
    if width == len(x):
        mistakes.append(wrong("table-turned", lambda done: (learned @ np.array(x)).tolist()))
    return Step(
        name,
        f"What is {formula}?",
        lambda done: matrix_product([list(x)], learned).result[0].tolist(),
        "The vector with the table's first column gives the first number, and so on.",
        labels=tuple(f"number {index + 1}" for index in range(width)),
        mistakes=tuple(mistakes),
    )


def _axis(draw: Draw, level: int) -> tuple[str, list[Step]]:
    count = 2 if level == 1 else 3
    names = draw.choice(SENTENCES)[:count]
    scores = np.array(draw.different(lambda: [draw.tenths(-1, 2) for _ in range(count)], count))
    row = draw.whole(0, count - 1) if level < 3 else count - 2
    allowed = np.ones((count, count), dtype=np.bool_) if level < 3 else causal_mask(range(count), count)
    head = ("asks \\ looked at", *names)
    text = "Scores:\n\n" + table(head, [(name, *map(plain, line)) for name, line in zip(names, scores, strict=True)])
    if level == 3:
        text += "\n\nNo word may look at a later one: write 0 there."
    weights = softmax_rows(scores, allowed).weights[row].tolist()
    exponentials = np.exp(scores)
    mistakes = [
        wrong("wrong-axis", lambda done: softmax(scores[:, row]).weights.tolist()),
        wrong("wrong-axis", lambda done: (exponentials / exponentials.sum(axis=0))[row].tolist()),
        wrong("whole-table", lambda done: (exponentials / exponentials.sum())[row].tolist()),
        wrong("forgot-total", lambda done: exponentials[row].tolist()),
        wrong("even-average", lambda done: [1 / count] * count),
    ]
    if level == 3:
        mistakes.insert(0, wrong("looked-ahead", lambda done: softmax(scores[row]).weights.tolist()))
    step = Step(
        "the weights",
        f"What are the weights of “{names[row]}”, the one that asks?",
        lambda done: weights,
        "Its row: e to the power of each score, divided by the row's total.",
        labels=names,
        mistakes=tuple(mistakes),
    )
    return text, [step]


def _causal(draw: Draw, level: int) -> tuple[str, list[Step]]:
    if level == 1:
        count, place = draw.whole(4, 12), 0
        place = draw.whole(2, count - 1)
        seen = Step(
            "what it sees",
            f"How many words may word number {place} look at? (The first is number 1; it may look at itself.)",
            lambda done: [float(place)],
            "All before it, and itself.",
            mistakes=(
                wrong("not-itself", lambda done: [place - 1.0]),
                wrong("looked-ahead", lambda done: [float(count)]),
            ),
        )
        cells = Step(
            "the cells",
            "How many cells of the whole map may hold a weight?",
            lambda done: [count * (count + 1) / 2],
            "1 for the first word, 2 for the second, 3 for the third ... add them up.",
            mistakes=(
                wrong("looked-ahead", lambda done: [float(count * count)]),
                wrong("not-itself", lambda done: [count * (count - 1) / 2]),
            ),
        )
        return f"A sentence of {count} words, read backwards only.", [seen, cells]
    names = draw.choice(SENTENCES)
    place = 1 if level == 2 else 2
    scores = [one[0] for one in draw.different(lambda: [draw.tenths(-1, 2)], 4)]
    if level == 3:
        scores[-1] = max(scores) + 1
    given = ", ".join(f"{name} {plain(one)}" for name, one in zip(names, scores, strict=True))
    text = f"“{names[place]}” asks, and may look at itself and backwards only. Its scores with all four words: {given}."
    allowed = [index <= place for index in range(4)]
    return text, softmax_steps(lambda done: scores, names, allowed)


def _heads(draw: Draw, level: int) -> tuple[str, list[Step]]:
    shared, groups = draw.whole(2, 8), draw.whole(2, 8)
    heads, dim = shared * groups, draw.choice((16, 32, 64, 128))
    head = draw.whole(1, heads - 2)
    share = Step(
        "how many share",
        "How many query heads share one key-value head?",
        lambda done: [float(shared)],
        "Query heads divided by key-value heads.",
        mistakes=(wrong("upside-down", lambda done: [groups / heads]),),
    )
    which = Step(
        "which one",
        f"Which key-value head does query head {head} use? (Both are counted from 0.)",
        lambda done: [float(head // shared)],
        f"The first {shared} query heads use key-value head 0, the next {shared} use 1, and so on.",
        mistakes=(
            wrong("modulo", lambda done: [float(head % groups)]),
            wrong("from-one", lambda done: [float(head // shared + 1)]),
        ),
    )
    joined = Step(
        "the joined width",
        f"Each head's output has {dim} numbers. How many are there when the heads are joined?",
        lambda done: [float(heads * dim)],
        "Every query head has an output of its own.",
        mistakes=(wrong("key-heads-joined", lambda done: [float(groups * dim)]),),
    )
    text = f"A layer has {heads} query heads on {groups} key-value heads."
    return text, [share] if level == 1 else [share, which] if level == 2 else [share, which, joined]


def _slope(draw: Draw, level: int) -> tuple[str, list[Step]]:
    parts = [draw.whole(1, 8) for _ in range(3)]
    weights = [round(one / sum(parts), 2) for one in parts[:2]]
    weights.append(round(1 - sum(weights), 2))
    own = Step(
        "with its own score",
        "How fast does weight 0 move when score 0 rises? (w_i (δ_ij − w_j))",
        lambda done: [weights[0] * (1 - weights[0])],
        "i and j are the same, so δ is 1.",
        digits=3,
        mistakes=(wrong("squared", lambda done: [weights[0] ** 2]),),
    )
    other = Step(
        "with another's score",
        "And how fast does weight 0 move when score 1 rises?",
        lambda done: [-weights[0] * weights[1]],
        "i and j differ, so δ is 0.",
        digits=3,
        mistakes=(
            wrong("no-minus", lambda done: [weights[0] * weights[1]]),
            wrong("delta-everywhere", lambda done: [weights[0] * (1 - weights[1])]),
        ),
    )
    text = f"The weights of a row, counted from 0: {listed(weights)}."
    if level < 3:
        return text, [own] if level == 1 else [own, other]
    scores = [one[0] for one in draw.different(lambda: [draw.tenths(0, 1.5)], 2)]
    factor = draw.whole(2, 4)
    largest = max(scores)
    slopes = []
    for name, says, times in (("before", "The larger score is", 1), ("after", "Now it is", factor)):
        top = float(softmax([one * times for one in scores]).weights.max())
        slopes.append(
            Step(
                f"the slope {name}",
                f"{says} {plain(largest * times)}. How fast does its weight move with it?",
                lambda done, top=top: [top * (1 - top)],  # type: ignore[misc]
                "First its weight, then w (1 − w).",
                digits=3,
                mistakes=(
                    wrong("squared", lambda done, top=top: [top**2]),  # type: ignore[misc]
                ),
            )
        )
    return f"The scores {listed(scores)}; then all scores become {factor} times as large.", slopes


GENERATORS = (
    Generator("matrix", "@ and .T", ("A @ B", "Q @ K.T, two numbers wide", "Q @ K.T, three wide"), _matrix),
    Generator(
        "projection", "vectors by learned tables", ("a query", "query · key", "for one of two heads"), _projection
    ),
    Generator("axis", "softmax along the row that asks", ("two words", "three", "three, backwards only"), _axis),
    Generator(
        "causal", "only backwards", ("counting", "the second of four words", "the third, a loud one hidden"), _causal
    ),
    Generator("heads", "many heads, few keys", ("how many share", "which one", "and how wide they are joined"), _heads),
    Generator(
        "slope", "how a weight moves", ("with its own score", "and another's", "before and after sharpening"), _slope
    ),
)
