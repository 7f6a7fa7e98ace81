"""How likely a model finds one continuation of a text rather than another: log-probabilities of whole continuations."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.errors import UnsupportedModel
from heedmap.reading.editor import edited_text
from heedmap.reading.edits import NONE, Edit
from heedmap.reading.forward import evaluating, input_device, predicts_next_token
from heedmap.reading.memory import require_memory
from heedmap.reading.own_code import has_own_code
from heedmap.reading.padded import check_padding, pad, padding_id
from heedmap.reading.tap import tap
from heedmap.reading.two_stacks import refuse_without_target
from heedmap.text.from_ids import from_ids

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.text.tokens import Token

TOGETHER = 16
"""How many runs share a forward pass."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A beginning, and what may follow it.

    Attributes:
        prefix: the tokens before.
        options: the tokens of each continuation, at least one.
    """

    prefix: tuple[int, ...]
    options: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class _Run:
    """One sequence of tokens that runs.

    Attributes:
        choice: which choice it belongs to.
        option: which option it runs.
        ids: the prefix and the option.
        start: the first token that is scored.
        riders: other options, of one token, that are read off before the same `start`.
    """

    choice: int
    option: int
    ids: tuple[int, ...]
    start: int
    riders: tuple[int, ...] = ()


def text_ids(tokens: Sequence[Token]) -> list[int]:
    """The ids up to the last token of the text itself: without an end-of-text token that was added."""
    last = max((token.index for token in tokens if token.start is not None), default=-1)
    return [token.id for token in tokens[: last + 1]]


def log_probabilities(
    model: Model, choices: Sequence[Choice], edits: Sequence[Edit] | None = None
) -> list[list[np.ndarray]]:
    """The natural logarithm of each token's probability, for every continuation of every choice.

    Each token is given all before it. Continuations of one token share a forward pass with another of their choice;
    all others are run whole, so that a name of several tokens counts whole.

    Args:
        model: a causal language model.
        choices: beginnings with their continuations.
        edits: what is edited while each choice runs, beside the model's own edit; None edits nothing more.

    Returns:
        for each choice a [token] array for each option; its first number is NaN where nothing stands before.

    Raises:
        UnsupportedModel: the model predicts no next token, or reads padded texts otherwise than alone.
        TooLarge: the logits need more memory than is free.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> ids = [tuple(model.tokenize(text).ids) for text in ("The cat sat on the", " mat", " xylophone")]
        >>> mat, xylophone = log_probabilities(model, [Choice(ids[0], (ids[1], ids[2]))])[0]
        >>> len(mat), len(xylophone), bool(mat.sum() > xylophone.sum())
        (1, 2, True)
    """
    refuse_without_target(model)
    if not predicts_next_token(model.module):
        raise UnsupportedModel(f"{model.name} predicts no next token, so that it gives no odds: take a causal model")
    found = [[np.full(len(option), np.nan) for option in choice.options] for choice in choices]
    runs = sorted(
        (run for number, choice in enumerate(choices) for run in _runs(number, choice)), key=lambda run: len(run.ids)
    )
    together = 1 if has_own_code(model.module) else TOGETHER
    for first in range(0, len(runs), together):
        batch = runs[first : first + together]
        on = [model.edit + (edits[run.choice] if edits else NONE) for run in batch]
        for run, logits in zip(batch, _logits(model, batch, on), strict=True):
            odds = torch.log_softmax(logits.double(), -1).cpu()
            own = odds[torch.arange(len(odds)), torch.tensor(run.ids[run.start :])].numpy()
            scored = found[run.choice][run.option]
            scored[len(scored) - len(own) :] = own
            for rider in run.riders:
                found[run.choice][rider][0] = float(odds[0, choices[run.choice].options[rider][0]])
    return found


def _runs(number: int, choice: Choice) -> Iterator[_Run]:
    """The sequences that one choice needs: the longest option, and every other of more than one token."""
    options = choice.options
    longest = max(range(len(options)), key=lambda place: len(options[place]))
    rest = [place for place in range(len(options)) if place != longest]
    riders = tuple(place for place in rest if len(options[place]) == 1 and choice.prefix)
    for place in (longest, *(place for place in rest if place not in riders)):
        ids = choice.prefix + options[place]
        if len(ids) > 1:  # of a single token with nothing before it nothing is known
            yield _Run(number, place, ids, max(len(choice.prefix), 1), riders if place == longest else ())


def _logits(model: Model, runs: Sequence[_Run], edits: Sequence[Edit]) -> list[torch.Tensor]:
    """For each run the logits before each of its scored tokens, [token, vocabulary]."""
    module: Any = model.module
    batch = pad([run.ids for run in runs], padding_id(module), "right")
    if not bool(batch.present.all()):
        check_padding(module, "right")
    first = min(run.start for run in runs) - 1
    known = inspect.signature(type(module).forward).parameters
    options: dict[str, Any] = {"use_cache": False} if "use_cache" in known else {}
    places = torch.arange(first, batch.ids.shape[1] - 1)
    if "logits_to_keep" in known:
        options["logits_to_keep"] = places
    device = input_device(module)
    vocabulary = int(module.config.get_text_config().vocab_size)
    rows = len(places) if "logits_to_keep" in known else batch.ids.shape[1]
    require_memory(4.0 * len(runs) * rows * vocabulary, device, "the logits of a batch", "give shorter texts")
    with torch.no_grad(), _editing(model, runs, edits):
        result = module(
            input_ids=batch.ids.to(device), attention_mask=batch.present.to(device), return_dict=True, **options
        )
    shift = first if "logits_to_keep" in known else 0
    return [result.logits[row, run.start - 1 - shift : len(run.ids) - 1 - shift] for row, run in enumerate(runs)]


def _editing(model: Model, runs: Sequence[_Run], edits: Sequence[Edit]) -> contextlib.AbstractContextManager[Any]:
    """The model in eval mode, with the edits of each row where there are any."""
    if not any(edits):
        return evaluating(model.module)
    texts = [edited_text(edit, from_ids(model.tokenizer, run.ids)) for run, edit in zip(runs, edits, strict=True)]
    return tap(model.module, lambda _: None, editor=model.editor(texts))
