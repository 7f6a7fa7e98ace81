"""Live numbers of real models inside sentences: one weight, the odds of a token, an ordinary share.

Tables and pictures of models are shown with `command` (see `live_command`).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded

if TYPE_CHECKING:
    from heedmap.reading.model import Model

MODELS = ("smollm2", "minilm")
"""The models that lessons may run."""

DEFAULT_MODEL = MODELS[0]

BLANK = "␣"
"""How labels show a blank before a token."""

HOLDERS = ("attention", "feed-forward", "words", "all")
"""Where a model's learned numbers may be; `words` is the table of words."""

BANDS = {"about a fifth": 0.2, "about a half": 0.5, "nearly all": 1.0}
"""Shares in words."""

_PLACE = "[layer=16] [head=3] [model=smollm2] [digits=3]"


@functools.cache
def load_once(name: str, **options: Any) -> Model:
    """A model, loaded once a process; the options are those of `heedmap.load`.

    Raises:
        ModelError: it cannot be loaded.
    """
    from heedmap.reading.loading import load

    return load(name, **options)


def model_named(name: str) -> Model:
    """A model that lessons use.

    Raises:
        LessonError: lessons do not use that one.
        ModelError: it cannot be loaded.
    """
    if name not in MODELS:
        raise LessonError(f"no model {name!r} in lessons: expected one of {', '.join(MODELS)}")
    return load_once(name, revision=None, dtype="auto", device="auto", allow_random=False)


def _model(arguments: Arguments) -> Model:
    """The model that the options name."""
    return model_named(arguments.option("model", DEFAULT_MODEL) or "")


@REGISTRY.add("looks", f"TEXT WORD ON {_PLACE}", "the weight from one word on another in a real head", model=True)
def _looks(arguments: Arguments) -> Figure:
    text, word, on = arguments.word("a text"), arguments.word("a word"), arguments.word("a word looked at")
    layer, head = (arguments.whole_option(name) if name in arguments.options else None for name in ("layer", "head"))
    model = _model(arguments)
    reading = model.read(text, layers=model.layers[len(model.layers) // 2].number if layer is None else layer)
    row = reading.row(word, layer, head)
    return rounded(row.share(on), arguments.digits(3))


@REGISTRY.add(
    "odds",
    "TEXT TOKEN [model=smollm2] [digits=3]",
    "the odds of one next token, with or without a blank before it",
    model=True,
)
def _odds(arguments: Arguments) -> Figure:
    text, token = arguments.word("a text"), arguments.word("a token")
    model = _model(arguments)
    for candidate in model.read(text, layers=0).next(top=50).candidates:
        if candidate.text.removeprefix(BLANK) == token:
            return rounded(candidate.probability, arguments.digits(3))
    raise LessonError(f"{token!r} is not among the 50 likeliest")


@REGISTRY.add("tokens", "TEXT [model=smollm2]", "the tokens a text becomes", model=True)
def _tokens(arguments: Arguments) -> Figure:
    tokens = _model(arguments).tokenize(arguments.word("a text"))
    return Figure(" | ".join(tokens.labels))


@REGISTRY.add("token-count", "TEXT [model=smollm2]", "how many tokens a text becomes", model=True)
def _token_count(arguments: Arguments) -> Figure:
    count = len(_model(arguments).tokenize(arguments.word("a text")))
    return Figure(str(count), float(count))


@REGISTRY.add("model-size", "WHAT [model=smollm2]", "layers, heads, key-value-heads, width or head-width", model=True)
def _size(arguments: Arguments) -> Figure:
    what = arguments.word("what to count")
    model = _model(arguments)
    first = model.layers[0]
    width = int(model.module.config.hidden_size)
    sizes = {
        "layers": len(model.layers),
        "heads": first.heads,
        "key-value-heads": first.key_value_heads,
        "width": width,
        "head-width": int(getattr(model.module.config, "head_dim", None) or width // first.heads),
    }
    if what not in sizes:
        raise LessonError(f"expected one of {', '.join(sizes)}, found {what!r}")
    return Figure(str(sizes[what]), float(sizes[what]))


@functools.cache
def holders() -> dict[str, int]:
    """How many of the default model's numbers (learned, each counted once) are where."""
    module: Any = model_named(DEFAULT_MODEL).module

    def count(part: Any) -> int:
        return sum(one.numel() for one in part.parameters())

    layers = module.model.layers
    return {
        "attention": sum(count(layer.self_attn) for layer in layers),
        "feed-forward": sum(count(layer.mlp) for layer in layers),
        "words": count(module.get_input_embeddings()),
        "all": count(module),
    }


@REGISTRY.add(
    "holds", f"{'|'.join(HOLDERS)} [digits=1]", "millions of a model's learned numbers that are there", model=True
)
def _holds(arguments: Arguments) -> Figure:
    return rounded(holders()[_holder(arguments)] / 1e6, arguments.digits(1))


@REGISTRY.add("holds-table", "[digits=1]", "where a model's learned numbers are", block=True, model=True)
def _holds_table(arguments: Arguments) -> Figure:
    found, digits = holders(), arguments.digits(1)
    rows = [["where", "millions of numbers", "share"]]
    rows += [[name, number(found[name] / 1e6, digits), number(found[name] / found["all"], 2)] for name in HOLDERS]
    return Figure("\n".join(columns(rows)))


@REGISTRY.add("holds-band", "|".join(HOLDERS), f"which share of them, in words: {'; '.join(BANDS)}", model=True)
def _holds_band(arguments: Arguments) -> Figure:
    share = holders()[_holder(arguments)] / holders()["all"]
    return Figure(min(BANDS, key=lambda words: abs(BANDS[words] - share)))


def _holder(arguments: Arguments) -> str:
    """Where the numbers are that a call asks for."""
    name = arguments.word("where")
    if name not in holders():
        raise LessonError(f"expected one of {', '.join(holders())}, found {name!r}")
    return name
