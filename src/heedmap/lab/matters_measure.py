"""What `matters` measures of a pair: the answer's log-odds with every head and without each, weights, direct parts."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from heedmap.errors import DataError, OutOfRange, UnsupportedModel
from heedmap.lab.data import Question, sentences
from heedmap.lab.data.places import noun_place, place_of
from heedmap.lab.likelihood import Choice, log_probabilities, text_ids
from heedmap.lab.over_heads import Numbers
from heedmap.lab.reference_measure import choice_of, prompt_and_answers
from heedmap.lab.rows import Row
from heedmap.reading.direct import as_array, direct_contributions, first_difference
from heedmap.reading.edits import Edit, HeadMeans, forbid, head_means, remove
from heedmap.text.from_ids import from_ids
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.lab.matters import MattersSettings, Task
    from heedmap.reading.model import Model
    from heedmap.reading.reading import Reading

_means: weakref.WeakKeyDictionary[Any, dict[str, HeadMeans]] = weakref.WeakKeyDictionary()
"""The means over the built-in sentences, by module: they are the same for every pair."""

WHERE = ("word", "last")
"""Who looks: the pronoun, and the last token, which gives the answer."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One version of a pair as the model is asked about it.

    Attributes:
        choice: the prompt, and both nouns as answers.
        tokens: the prompt's tokens.
        sign: 1 where noun A is right, -1 where noun B is.
        word: indices of the pronoun's tokens.
        nouns: indices of the tokens of noun A and of noun B; empty where a noun does not stand there word for word.
    """

    choice: Choice
    tokens: Tokens
    sign: int
    word: tuple[int, ...]
    nouns: tuple[tuple[int, ...], tuple[int, ...]]


def measure(model: Model, task: Task, settings: MattersSettings) -> Row:
    """One row a pair; the heads of all layers stand in one axis, versions in the first.

    Returns:
        "odds" [version], the log-odds of the right noun with every head; "effect" [version, head], how much of them is
        lost without a head, NaN where it was not taken away (heads of other layers are in version 1 alone);
        "layer_effect" [version], without the whole layer; "word" and "last" [version, head, 2], the weight from the
        pronoun and from the last token on the right and on the other noun; "direct" [version, head], what a head adds
        directly to them; "layer", "head", "middle".
    """
    number = chosen_layer(model, settings)
    asked = [_asked(model, question, settings) for question in task.pair.questions]
    readings = [model.read_tokens(one.tokens, values=settings.by == "text") for one in asked]
    layers = np.array([layer.number for layer in model.layers for _ in range(layer.heads)], np.int32)
    heads = np.array([head for layer in model.layers for head in range(layer.heads)], np.int32)
    effect = np.full((2, len(layers)), np.nan)
    odds, whole = np.full(2, np.nan), np.full(2, np.nan)
    for version, one in enumerate(asked):
        # All heads of the model are taken away in the first version alone: it takes a run for each of them.
        everywhere = task.all_heads and version == 0
        places = np.arange(len(layers)) if everywhere else np.flatnonzero(layers == number)
        other = readings[1 - version]
        edits = [_edit(model, one, int(layers[p]), int(heads[p]), other, settings) for p in places]
        together = sum((edit for edit, p in zip(edits, places, strict=True) if layers[p] == number), Edit())
        found = [one.sign * value for value in _log_odds(model, one.choice, [Edit(), together, *edits])]
        odds[version], whole[version] = found[0], found[0] - found[1]
        effect[version, places] = found[0] - np.array(found[2:])
    direct, why = _direct(model, asked, len(layers))
    return {
        "family": task.pair.family,
        "text": task.pair.texts[0],
        "layer": layers,
        "head": heads,
        "middle": number,
        "all_heads": task.all_heads,
        "odds": odds,
        "effect": effect,
        "layer_effect": whole,
        "direct": direct,
        "no_direct": why,
        **{
            where: np.stack([_weights(reading, one, where) for reading, one in zip(readings, asked, strict=True)])
            for where in WHERE
        },
    }


def chosen_layer(model: Model, settings: MattersSettings) -> int:
    """The layer asked for, or the middle one.

    Raises:
        OutOfRange: the model has no such layer, or the layer no such head.
    """
    number = model.layers[len(model.layers) // 2].number if settings.layer is None else settings.layer
    model.wanted(number)
    heads = next(layer.heads for layer in model.layers if layer.number == number)
    if settings.head is not None and settings.head >= heads:
        raise OutOfRange(f"head {settings.head} is out of range: layer {number} has {heads} heads, 0 to {heads - 1}")
    return number


def _asked(model: Model, question: Question, settings: MattersSettings) -> _Asked:
    """The prompt of one version, and where its words stand.

    Raises:
        DataError: the pronoun does not stand in the text.
    """
    prompt, answers = prompt_and_answers(question, settings.wording)
    both = [model.tokenize(f"{prompt} {answer}", special_tokens=settings.special_tokens) for answer in answers]
    choice, shared = choice_of([text_ids(tokens) for tokens in both])
    span = place_of(question.text.strip(), question.word)
    if span is None:
        raise DataError(f"{question.word!r} does not stand once in {question.text!r}")
    nouns = [noun_place(question.text.strip(), candidate) for candidate in question.candidates]
    first, second = (() if noun is None else both[0].covering(*noun) for noun in nouns)
    tokens = Tokens(both[0].text, both[0][:shared])
    return _Asked(choice, tokens, 1 - 2 * question.answer, both[0].covering(*span), (first, second))


def _edit(model: Model, one: _Asked, layer: int, head: int, other: Reading, settings: MattersSettings) -> Edit:
    """What is done to one head."""
    if settings.edit == "forbid":
        nouns = sorted({*one.nouns[0], *one.nouns[1]} - set(one.word))
        return forbid(one.word, nouns, layers=layer, heads=head) if nouns else Edit()
    if settings.by == "zero":
        return remove(layer, head, zero=True)
    if settings.by == "text":
        if len(other.tokens) != len(one.tokens):
            raise DataError(
                f"the two versions have {len(one.tokens)} and {len(other.tokens)} tokens with the question: one cannot "
                "stand in for the other token by token (take another --by)"
            )
        return remove(layer, head, like=other, at=range(len(one.tokens)))  # what is answered has no counterpart
    return remove(layer, head, means_of(model, settings.means))


def means_of(model: Model, path: str | None) -> HeadMeans:
    """The means from a file, or over the built-in sentences, measured once a model and what is edited in it."""
    if path is not None:
        return HeadMeans.open(Path(path))
    measured = _means.setdefault(model.module, {})
    edited = str(model.edit)
    if edited not in measured:
        measured[edited] = head_means(model, [sentence.text for sentence in sentences()])
    return measured[edited]


def _log_odds(model: Model, choice: Choice, edits: Sequence[Edit]) -> list[float]:
    """The log-odds of the first option against the second under each edit."""
    found = log_probabilities(model, [choice] * len(edits), edits)
    return [float(first.sum() - second.sum()) for first, second in found]


def _weights(reading: Reading, one: _Asked, where: str) -> Numbers:
    """The weight of every head on the right and on the other noun, [head, 2]; NaN where a noun is not there."""
    rows = list(one.word) if where == "word" else [len(one.tokens) - 1]
    right_first = one.nouns if one.sign > 0 else one.nouns[::-1]
    found = []
    for layer in reading.layers:
        call = reading.call(layer.number)
        of_rows = [call.weights(slice(row, row + 1), slice(None))[0, :, 0] for row in rows]
        mean = torch.stack(of_rows).mean(0).double().cpu().numpy()
        found.append(
            np.stack([mean[:, list(noun)].sum(-1) if noun else np.full(len(mean), np.nan) for noun in right_first], -1)
        )
    return np.concatenate(found)


def _direct(model: Model, asked: Sequence[_Asked], heads: int) -> tuple[Numbers, str | None]:
    """What every head adds directly to the right noun's logit less the other's, [version, head], or why not."""
    found = np.full((2, heads), np.nan)
    try:
        for version, one in enumerate(asked):
            prompt = from_ids(model.tokenizer, one.choice.prefix)
            direct = direct_contributions(model, prompt, *first_difference(one.choice.options))
            found[version] = one.sign * as_array(direct)
    except UnsupportedModel as error:
        return found, str(error)
    return found, None
