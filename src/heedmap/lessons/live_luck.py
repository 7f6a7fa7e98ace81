"""Live numbers of luck: what the best of many that know nothing looks like."""

from __future__ import annotations

import math

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded


def at_most(questions: int) -> Array:
    """The chance that a fair coin gets at most 0, 1, ... all of so many yes-or-no questions right.

    Formula: the binomial distribution, summed.

    Example:
        >>> at_most(2)
        array([0.25, 0.75, 1.  ])
    """
    chances = np.array([math.comb(questions, right) for right in range(questions + 1)]) / 2.0**questions
    result: Array = np.cumsum(chances)
    return result


def best_of(coins: int, questions: int) -> float:
    """How many the best of so many coins gets right, on average.

    Formula: the sum over r of the chance that the best has more than r.

    Example:
        >>> best_of(1, 10), round(best_of(2, 1), 2)
        (5.0, 0.75)
    """
    return float((1 - at_most(questions)[:-1] ** coins).sum())


@REGISTRY.add("luckiest", "COINS QUESTIONS [digits=1]", "how many the best of many fair coins gets right, on average")
def _luckiest(arguments: Arguments) -> Figure:
    coins, questions = arguments.whole("how many coins"), arguments.whole("how many questions")
    return rounded(best_of(coins, questions), arguments.digits(1))


@REGISTRY.add("perfect", "COINS QUESTIONS [digits=2]", "the chance that one coin at least gets everything right")
def _perfect(arguments: Arguments) -> Figure:
    coins, questions = arguments.whole("how many coins"), arguments.whole("how many questions")
    return rounded(1 - (1 - 0.5**questions) ** coins, arguments.digits(2))


@REGISTRY.add("luck-table", "COINS,COINS,... QUESTIONS", "the best of few coins and of many", block=True)
def _luck_table(arguments: Arguments) -> Figure:
    counts, questions = arguments.numbers("how many coins"), arguments.whole("how many questions")
    rows = [["coins", f"the best of them, of {questions}", "one is perfect"]]
    for count in counts:
        perfect = 1 - (1 - 0.5**questions) ** int(count)
        rows.append([f"{count:.0f}", number(best_of(int(count), questions), 1), number(perfect, 3)])
    return Figure("\n".join(columns(rows, left=0)))


@REGISTRY.add("passing", "HEADS CHANCE [digits=2]", "how likely one of many passes a test that each passes by CHANCE")
def _passing(arguments: Arguments) -> Figure:
    heads, chance = arguments.whole("how many heads"), arguments.numbers("a chance")[0]
    return rounded(1 - (1 - chance) ** heads, arguments.digits(2))
