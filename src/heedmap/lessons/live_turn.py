"""Live numbers of place: vectors turned by an angle for each place, so that products know how far apart words are."""

from __future__ import annotations

import math

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number, vector
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded


def turned(pair: list[float], place: int, degrees: float) -> Array:
    """Two numbers turned like the hand of a clock, the other way round, by `degrees` for each place.

    Formula: Su and others 2021, RoFormer, equation 13, for a vector of two numbers.

    Example:
        >>> turned([1.0, 0.0], 3, 30).round(2) + 0.0
        array([0., 1.])
    """
    if len(pair) != 2:
        raise LessonError(f"expected 2 numbers to turn, found {len(pair)}")
    angle = math.radians(degrees) * place
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    result: Array = turn @ np.array(pair)
    return result


def _degrees(arguments: Arguments) -> float:
    """The option `degrees`, taken."""
    return Arguments([arguments.option("degrees", "30") or ""], {}).numbers("degrees")[0]


@REGISTRY.add("turn", "A,B PLACE [degrees=30] [digits=2]", "two numbers turned by so many degrees for each place")
def _turn(arguments: Arguments) -> Figure:
    degrees = _degrees(arguments)
    pair, place = arguments.numbers("two numbers"), arguments.whole("a place")
    return Figure(vector(turned(pair, place, degrees) + 0.0, arguments.digits(2), computed=True))


@REGISTRY.add(
    "turned-dot",
    "A,B C,D PLACE PLACE [degrees=30] [digits=2]",
    "the product of a query and a key, each turned by its place",
)
def _turned_dot(arguments: Arguments) -> Figure:
    degrees = _degrees(arguments)
    query, key = arguments.numbers("the query"), arguments.numbers("the key")
    asks, asked = arguments.whole("the query's place"), arguments.whole("the key's place")
    product = turned(query, asks, degrees) @ turned(key, asked, degrees)
    return rounded(float(product), arguments.digits(2))


@REGISTRY.add(
    "turned-table",
    "A,B C,D PLACE,PLACE;PLACE,PLACE [degrees=30]",
    "the same for several pairs of places",
    block=True,
)
def _turned_table(arguments: Arguments) -> Figure:
    degrees = _degrees(arguments)
    query, key = arguments.numbers("the query"), arguments.numbers("the key")
    rows = [["the query's place", "the key's place", "apart", "product"]]
    for pair in arguments.rows("pairs of places"):
        if len(pair) != 2 or any(place < 0 or place != int(place) for place in pair):
            raise LessonError(f"expected two places, whole numbers from 0, found {pair}")
        asks, asked = (int(place) for place in pair)
        product = turned(query, asks, degrees) @ turned(key, asked, degrees)
        rows.append([str(asks), str(asked), str(asks - asked), number(float(product), 2)])
    return Figure("\n".join(columns(rows, left=0)))
