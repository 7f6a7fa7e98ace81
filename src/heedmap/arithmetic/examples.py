"""The worked examples by name: a few words, small vectors, figures that can be checked with a pencil."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from heedmap.arithmetic.attention import Settings
from heedmap.arithmetic.inputs import Inputs
from heedmap.arithmetic.names import label, listed, nearest
from heedmap.arithmetic.trace import Trace
from heedmap.errors import NumbersError


@dataclass(frozen=True, eq=False)
class Example:
    """One worked example.

    Attributes:
        name: what it is called.
        sentence: the words it is about.
        shows: what it shows, in a line.
        inputs: the vectors it starts from.
        digits: digits after the point in its published figures.
    """

    name: str
    sentence: str
    shows: str
    inputs: Inputs
    digits: int

    def attend(self, **settings: Unpack[Settings]) -> Trace:
        """Work it, with the settings of `heedmap.arithmetic.attend`.

        Example:
            >>> example("cat").attend().output.round(2)
            array([[0.51, 0.37]])
        """
        return self.inputs.attend(**settings)

    def to_json(self) -> dict[str, Any]:
        """The example with all its numbers as plain lists, for JSON; `asking` is the place of each query's word.

        Example:
            >>> example("cat").to_json()["query"]
            [[1.0, 0.6]]
        """
        return {
            "name": self.name,
            "sentence": self.sentence,
            "shows": self.shows,
            "digits": self.digits,
            "tokens": list(self.inputs.tokens),
            "asking": list(self.inputs.asking),
            "query": self.inputs.query.tolist(),
            "key": self.inputs.key.tolist(),
            "value": self.inputs.value.tolist(),
        }


def example(name: str) -> Example:
    """The worked example of this name.

    Raises:
        NumbersError: there is none; the error lists them.

    Example:
        >>> example("bank-river").sentence
        'river the bank'
    """
    if name in EXAMPLES:
        return EXAMPLES[name]
    raise NumbersError(f'no example "{label(name)}": expected one of {listed(EXAMPLES)}{nearest(name, EXAMPLES)}')


def _cat() -> Inputs:
    """Only "it" asks."""
    return Inputs(
        tokens=("The", "cat", "sat", "it"),
        query=np.array([[1.0, 0.6]]),
        key=np.array([[0.1, 0.0], [1.0, 0.8], [0.2, 0.9], [0.6, 0.5]]),
        value=np.array([[0.1, 0.1], [1.0, 0.2], [0.3, 0.9], [0.2, 0.3]]),
        asking=(3,),
    )


def _bank(word: str, key: list[float], value: list[float]) -> Inputs:
    """Only "bank" asks; the word before it differs."""
    return Inputs(
        tokens=(word, "the", "bank"),
        query=np.array([[1.0, 1.0]]),
        key=np.array([key, [0.2, 0.2], [1.0, 1.0]]),
        value=np.array([value, [0.5, 0.5], [0.5, 0.5]]),
        asking=(2,),
    )


def _paris() -> Inputs:
    """Query, key and value are the same; only "is" asks."""
    vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    return Inputs(("capital", "France", "is"), vectors[2:], vectors, vectors, (2,))


def _paris_all() -> Inputs:
    """Query, key and value are the same; every word asks."""
    vectors = np.array([[1.0, 0.0, 0.2], [0.9, 0.1, 0.1], [0.2, 0.8, 0.0], [0.1, 0.1, 1.0]])
    return Inputs(("capital", "France", "is", "Paris"), vectors, vectors, vectors, (0, 1, 2, 3))


EXAMPLES: dict[str, Example] = {
    item.name: item
    for item in (
        Example("cat", "The cat sat it", 'whom "it" means: most of its weight falls on "cat"', _cat(), 2),
        Example(
            "bank-river",
            "river the bank",
            'the same word "bank" beside "river" ...',
            _bank("river", [2.0, 0.0], [1.0, 0.0]),
            4,
        ),
        Example(
            "bank-money",
            "money the bank",
            '... and beside "money": the same weights, another meaning',
            _bank("money", [0.0, 2.0], [0.0, 1.0]),
            4,
        ),
        Example(
            "paris",
            "The capital of France is",
            'one vector for all three roles: "is" looks mostly at itself',
            _paris(),
            3,
        ),
        Example("paris-all", "The capital of France is Paris", "every word asks at once", _paris_all(), 3),
    )
}
"""All worked examples, by name."""
