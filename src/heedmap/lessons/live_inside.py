"""Live numbers from inside one real head: a product, a score, and what the weight would be without the division."""

from __future__ import annotations

import numpy as np

from heedmap.arithmetic.names import listed
from heedmap.arithmetic.steps import softmax_rows
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named

WHAT = ("product", "score", "weight", "undivided")
"""What may be asked; `undivided` is the weight that softmax would give to the products as they are."""


@REGISTRY.add(
    "inside",
    f"TEXT WORD ON {'|'.join(WHAT)} layer=N head=N [model=smollm2] [digits=2]",
    "one number of the four steps in a real head; undivided is its weight without ÷ √d",
    model=True,
)
def _inside(arguments: Arguments) -> Figure:
    text, word, on = arguments.word("a text"), arguments.word("a word"), arguments.word("a word looked at")
    what, digits = arguments.word("what is asked"), arguments.digits(2)
    if what not in WHAT:
        raise LessonError(f"expected one of {listed(WHAT)}, found {what!r}")
    layer, head = (arguments.whole_option(name) for name in ("layer", "head"))
    model = model_named(arguments.option("model", DEFAULT_MODEL) or "")
    explanation = model.read(text, layers=layer).explain(word, layer, head)
    tokens = explanation.tokens.find(on).tokens
    if len(tokens) != 1 or tokens[0] not in explanation.keys:
        raise LessonError(f"expected a word of one token that {word!r} may look at, found {on!r}")
    trace = explanation.trace
    everything = np.ones(trace.products.shape, dtype=np.bool_)
    row = {
        "product": trace.products,
        "score": trace.scores,
        "weight": trace.weights,
        "undivided": softmax_rows(trace.products, everything).weights,
    }[what][0]
    return rounded(float(row[explanation.keys.index(tokens[0])]), digits)
