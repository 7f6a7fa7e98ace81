"""Live numbers of what no map shows: how much each look of a real head carries.

Measured as in Kobayashi and others 2020: the weight times the length of the value after the head's output table.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

if TYPE_CHECKING:
    from heedmap.reading.value_norms import NormRow

_PLACE = "[layer=16] [head=3]"


@functools.cache
def carried(text: str, word: str, layer: int, head: int) -> NormRow:
    """What each token adds to a word in one head; see `heedmap.reading.value_norms.NormRow`."""
    return model_named(DEFAULT_MODEL).read(text, layers=layer).value_norms(word, layer, head)


def _asked(arguments: Arguments) -> NormRow:
    """The row that a call asks for."""
    text, word = arguments.word("a text"), arguments.word("a word")
    places = [(arguments.option("layer", "16") or ""), (arguments.option("head", "3") or "")]
    layer, head = (Arguments([one], {}).whole("a layer or head") for one in places)
    return carried(text, word, layer, head)


def _shares(row: NormRow) -> Array:
    """Of all that is carried, the share of each token."""
    sizes = np.where(row.allowed, row.products, 0.0)
    result: Array = sizes / sizes.sum()
    return result


def _place_of(row: NormRow, on: str) -> int:
    """The one token of a word that may be looked at."""
    tokens = list(row.tokens.find(on).tokens)
    if len(tokens) != 1 or not row.allowed[tokens[0]]:
        raise LessonError(f"expected a word of one token that {row.word!r} may look at, found {on!r}")
    return tokens[0]


@REGISTRY.add("carries", f"TEXT WORD ON {_PLACE} [digits=2]", "how much one look carries", model=True)
def _carries(arguments: Arguments) -> Figure:
    row = _asked(arguments)
    return rounded(float(row.products[_place_of(row, arguments.word("a word looked at"))]), arguments.digits(2))


@REGISTRY.add(
    "carries-share",
    f"TEXT WORD ON {_PLACE} [digits=3]",
    "the share of one look in all that a head carries",
    model=True,
)
def _carries_share(arguments: Arguments) -> Figure:
    row = _asked(arguments)
    return rounded(float(_shares(row)[_place_of(row, arguments.word("a word looked at"))]), arguments.digits(3))


@REGISTRY.add("carries-length", f"TEXT WORD ON {_PLACE} [digits=1]", "the length of what a word gives", model=True)
def _carries_length(arguments: Arguments) -> Figure:
    row = _asked(arguments)
    place = _place_of(row, arguments.word("a word looked at"))
    assert row.norms is not None  # of one head
    return rounded(float(row.norms[place]), arguments.digits(1))


@REGISTRY.add("carries-most", f"TEXT WORD {_PLACE}", "the token from which a head carries most", model=True)
def _carries_most(arguments: Arguments) -> Figure:
    row = _asked(arguments)
    return Figure(row.tokens.labels[row.largest(1)[0]])


@REGISTRY.add("carries-table", f"TEXT WORD {_PLACE}", "each look's weight, and what it carries", block=True, model=True)
def _carries_table(arguments: Arguments) -> Figure:
    row = _asked(arguments)
    assert row.norms is not None  # of one head
    rows = [["token", "weight", "length of what it gives", "weight × length", "as a share"]]
    for place in np.flatnonzero(row.allowed):
        sizes = (row.norms[place], row.products[place])
        rows.append(
            [
                row.tokens.labels[place],
                number(float(row.weights[place]), 3),
                *(number(float(one), 2) for one in sizes),
                number(float(_shares(row)[place]), 3),
            ]
        )
    return Figure("\n".join(columns(rows)))
