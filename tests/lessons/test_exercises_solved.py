"""Every kind of exercise, many times: solved here from what it prints alone, with NumPy and SciPy."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binom

from heedmap.lessons.exercises.checking import check_all
from heedmap.lessons.exercises.registry import GENERATORS
from tests.lessons.test_exercises import numbers_of

SEEDS = range(50)

Solved = list[Any]
"""An answer a step: numbers, or a word."""


def lists_of(text: str) -> list[Any]:
    """The vectors and arrays that are written in a text."""
    return [np.array(ast.literal_eval(one)) for one in re.findall(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]", text)]


def rows_of(text: str) -> list[list[str]]:
    """The cells of the table in a text, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def named_in(text: str) -> list[str]:
    """What stands between curly quotes."""
    return re.findall("“(.*?)”", text)


def after_colon(text: str) -> np.ndarray:
    """The numbers behind the last colon: of `word number` pairs."""
    return np.array(numbers_of(text.rpartition(":")[2]))


def masked(scores: np.ndarray, hidden: int) -> np.ndarray:
    """Scores of which the last few may not be looked at."""
    return np.where(np.arange(len(scores)) < len(scores) - hidden, scores, -np.inf)


def derivative(weights: Sequence[float], of: int, by: int) -> float:
    """How the one weight moves with the other's score, found by moving it a little."""
    scores, step = np.log(weights), 1e-5
    nudge = step * np.eye(len(scores))[by]
    return float((softmax(scores + nudge) - softmax(scores - nudge))[of] / (2 * step))


def dot(text: str, questions: Sequence[str]) -> Solved:
    left, right = lists_of(text)
    return [[(left * right).sum()]]


def scale(text: str, questions: Sequence[str]) -> Solved:
    dim, *products = numbers_of(text)
    scores = np.array(products) / dim**0.5
    return [scores, [np.exp(scores[0]) / np.exp(scores[1])] if len(questions) > 1 else None]


def of_scores(text: str, questions: Sequence[str]) -> Solved:
    scores = masked(np.array(numbers_of(text.partition(":")[2].partition("“")[0])), "comes later" in text)
    return [np.exp(scores), softmax(scores)]


def average(text: str, questions: Sequence[str]) -> Solved:
    cells = rows_of(text)
    values, shares = (np.array([numbers_of(row[column]) for row in cells]) for column in (1, 2))
    weights = shares[:, 0] / shares.sum()
    return [*([weights] if len(questions) > 1 else []), weights @ values]


def four_steps(text: str, questions: Sequence[str]) -> Solved:
    cells = rows_of(text)
    keys, values = (np.array([numbers_of(row[column]) for row in cells]) for column in (1, 2))
    products = keys @ lists_of(text.partition("|")[0])[0]
    scores = masked(products / 2**0.5, "comes later" in text)
    return [products, products / 2**0.5, np.exp(scores), softmax(scores), softmax(scores) @ values]


def matrix(text: str, questions: Sequence[str]) -> Solved:
    left, right = lists_of(text)
    return [np.einsum("ij,jk->ik" if "A @ B" in questions[0] else "ij,kj->ik", left, right).ravel()]


def projection(text: str, questions: Sequence[str]) -> Solved:
    vectors = lists_of(text)
    made = [np.einsum("i,ij->j", *vectors[:2]), *([np.einsum("i,ij->j", *vectors[2:])] if vectors[2:] else [])]
    one = slice(2, 4) if "Two heads" in text else slice(None)  # what is asked is head 1, the second one
    return [*made, *([[np.inner(made[0][one], made[1][one])]] if vectors[2:] else [])]


def axis(text: str, questions: Sequence[str]) -> Solved:
    cells = rows_of(text)
    (asks,) = named_in(questions[0])
    place = [row[0] for row in cells].index(asks)
    later = len(cells) - 1 - place if "later one" in text else 0
    return [softmax(masked(np.array([float(cell) for cell in cells[place][1:]]), later))]


def causal(text: str, questions: Sequence[str]) -> Solved:
    if "“" not in text:
        count, place = int(numbers_of(text)[0]), int(numbers_of(questions[0])[0])
        pairs = itertools.product(range(1, count + 1), repeat=2)
        seen = [asks for asks, looked_at in pairs if looked_at <= asks]
        return [[seen.count(place)], [len(seen)]]
    words = re.findall(r"(\w+) -?\d", text.rpartition(":")[2])
    scores = masked(after_colon(text), len(words) - 1 - words.index(named_in(text)[0]))
    return [np.exp(scores), softmax(scores)]


def heads(text: str, questions: Sequence[str]) -> Solved:
    count, groups = (int(one) for one in numbers_of(text.replace("key-value", "")))
    key_head = [head for head in range(groups) for _ in range(count // groups)]
    found: Solved = [[key_head.count(0)]]
    if len(questions) > 1:
        found.append([key_head[int(re.findall(r"query head (\d+)", questions[1])[0])]])
    if len(questions) > 2:
        found.append([sum(numbers_of(questions[2])[0] for _ in range(count))])
    return found


def slope(text: str, questions: Sequence[str]) -> Solved:
    if text.startswith("The weights"):
        weights = lists_of(text)[0]
        return [[derivative(weights, 0, 0)], [derivative(weights, 0, 1)]]
    scores, factor = lists_of(text)[0], numbers_of(text.partition("]")[2])[0]
    top = int(scores.argmax())
    assert [numbers_of(question)[0] for question in questions] == pytest.approx([scores[top], scores[top] * factor])
    return [[derivative(softmax(scores * times), top, top)] for times in (1, factor)]


def rows(text: str, questions: Sequence[str]) -> Solved:
    cells = rows_of(text)
    words = [row[0] for row in cells]
    looks, at = (words.index(word) for word in named_in(questions[0]))
    weights = [float(cell) for cell in cells[looks][1:] if cell]
    assert weights.count(max(weights)) == 1, "two words are looked at alike: which is the largest?"
    return [[weights[at]], words[int(np.argmax(weights))], [weights[at] / np.mean([1 / len(weights)])]]


def ordinary(text: str, questions: Sequence[str]) -> Solved:
    seen, first = numbers_of(text.partition("sees")[2])[:2]
    others = [(1 - first) / (seen - 1)] * int(seen - 1)
    assert sum(others) + first == pytest.approx(1)
    times = numbers_of(questions[1])[0] / others[0] if len(questions) > 1 else None
    return [[others[0]], [times]]


def odds(text: str, questions: Sequence[str]) -> Solved:
    temperature = numbers_of(questions[0])[0] if "Temperature" in questions[0] else 1
    shares = softmax(after_colon(text) / temperature)
    return [shares, [np.prod([shares[0], *numbers_of(questions[1])])] if len(questions) > 1 else None]


def dilute(text: str, questions: Sequence[str]) -> Solved:
    lead, _ = numbers_of(text)
    counts = [int(numbers_of(question)[0]) for question in questions]
    found: Solved = [[softmax([lead, *[0.0] * count])[0]] for count in counts[:2]]
    if len(questions) > 2:
        found.append([np.log(np.exp(lead) * counts[1] / counts[0])])
        assert softmax([found[2][0], *[0.0] * counts[1]])[0] == pytest.approx(found[0][0])
    return found


def cost(text: str, questions: Sequence[str]) -> Solved:
    tokens, layers, count, size = (int(one) for one in numbers_of(text))
    cells = tokens**2
    if "twice" in questions[1]:
        return [[cells], [(2 * tokens) ** 2 / cells]]
    dim = numbers_of(questions[2])[0] if len(questions) > 2 else 0
    kept = sum(tokens * dim * size for _ in ("keys", "values"))
    return [[cells], [layers * count * cells * size / 1e6], [layers * count * kept / 1e6]]


def chance(text: str, questions: Sequence[str]) -> Solved:
    count, percent = numbers_of(text)
    luck = binom(int(count), percent / 100)
    return [[luck.mean()], [luck.sf(0)], [percent / 100 / count]]


def pairs(text: str, questions: Sequence[str]) -> Solved:
    count, right, first = numbers_of(text)
    return [[right / count], [first / count], [(right - first) / count]]


def removal(text: str, questions: Sequence[str]) -> Solved:
    before, after, *others = numbers_of(text)
    control = np.mean([before - one for one in others]) if others else 0.0
    return [[before - after], [control], [before - after - control]]


SOLVERS: dict[str, Callable[[str, Sequence[str]], Solved]] = {
    "dot": dot,
    "scale": scale,
    "softmax": of_scores,
    "average": average,
    "attend": four_steps,
    "matrix": matrix,
    "projection": projection,
    "axis": axis,
    "causal": causal,
    "heads": heads,
    "slope": slope,
    "rows": rows,
    "ordinary": ordinary,
    "dilute": dilute,
    "cost": cost,
    "odds": odds,
    "chance": chance,
    "pairs": pairs,
    "removal": removal,
}


def test_every_kind_is_solved_here() -> None:
    assert set(SOLVERS) == set(GENERATORS)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", SOLVERS)
def test_what_follows_from_what_is_printed_is_right(name: str, level: int) -> None:
    texts = set()
    for seed in SEEDS:
        problem = GENERATORS[name].problem(level, seed)
        texts.add((problem.text, *[step.question for step in problem.steps]))
        solved = SOLVERS[name](problem.text, [step.question for step in problem.steps])[: len(problem.steps)]
        typed = [
            answer if isinstance(answer, str) else " ".join(f"{one:.{step.digits}f}" for one in answer)
            for answer, step in zip(solved, problem.steps, strict=True)
        ]
        verdicts = check_all(problem, typed)
        assert {verdict.outcome for verdict in verdicts} == {"right"}, (problem.text, typed, verdicts)
        assert all(step.hint for step in problem.steps)
    assert len(texts) > len(SEEDS) / 2, "another seed is another exercise"
