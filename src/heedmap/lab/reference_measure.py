"""The log-odds of noun A against noun B after a question, and as fillings of the pronoun's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heedmap.lab.data import Pair, Question
from heedmap.lab.data.difference import difference
from heedmap.lab.data.places import filled, noun_place, phrases, place_of
from heedmap.lab.likelihood import Choice, log_probabilities, text_ids
from heedmap.reading.forward import predicts_next_token

if TYPE_CHECKING:
    from heedmap.lab.reference import ReferenceSettings
    from heedmap.lab.rows import Row
    from heedmap.reading.model import Model

ORDERS, VERSIONS = 2, 3
"""The texts as given and in the other noun order; version 1, version 2 and without the words that decide."""

WITHOUT_CLUE = 2
"""The place of the texts without the words that decide, among the versions."""

_PERSONS = {"he", "she", "him", "her", "his", "hers"}
_ARTICLE = "the "

Put = Callable[[list[np.ndarray]], None]
"""Told the log-probabilities of a choice's options."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One choice for the model, and where its answer goes."""

    choice: Choice
    put: Put


def measure(model: Model, units: Sequence[Pair | Question], settings: ReferenceSettings) -> Iterator[Row]:
    """One row a unit: `ask` [order, version, wording], `whole` and `part` [order, version], log-odds of A against B.

    NaN is what was not measured: an order that is not known, the second version of a question without twin, a model
    that predicts no next token.
    """
    rows = [_empty_row(unit, settings) for unit in units]
    if predicts_next_token(model.module):
        asked = [one for unit, row in zip(units, rows, strict=True) for one in _asked_of(model, unit, row, settings)]
        for one, found in zip(asked, log_probabilities(model, [one.choice for one in asked]), strict=True):
            one.put(found)
    yield from rows


def _empty_row(unit: Pair | Question, settings: ReferenceSettings) -> dict[str, Any]:
    """A row with nothing measured yet."""
    versions = _versions(unit)
    orders = [versions[0], *([_versions(other)[0]] if (other := _other_order(unit)) else [])]
    first = [_first_noun(question) for question in orders]
    return {
        "family": unit.family,
        "text": versions[0].text,
        "paired": isinstance(unit, Pair),
        "answers": np.array([*(question.answer for question in versions), -1][:2], np.int8),
        "first": np.array([*first, -1][:ORDERS], np.int8),
        "ask": np.full((ORDERS, VERSIONS, len(settings.wordings)), np.nan),
        "whole": np.full((ORDERS, VERSIONS), np.nan),
        "part": np.full((ORDERS, VERSIONS), np.nan),
    }


def _versions(unit: Pair | Question) -> tuple[Question, ...]:
    return unit.questions if isinstance(unit, Pair) else (unit,)


def _other_order(unit: Pair | Question) -> Pair | None:
    return unit.swapped() if isinstance(unit, Pair) else None


def _first_noun(question: Question) -> int:
    """Which noun stands first in a text, 0 or 1; -1 where one of them does not stand there word for word."""
    first, second = (noun_place(question.text, candidate) for candidate in question.candidates)
    return -1 if first is None or second is None or first == second else int(second < first)


def _asked_of(
    model: Model, unit: Pair | Question, row: dict[str, Any], settings: ReferenceSettings
) -> Iterator[_Asked]:
    """Everything that is asked about one unit: other wordings and the missing clue only in the order given."""
    for version, question in enumerate(_versions(unit)):
        yield from _fillings(model, question, row, (0, version), settings)
        for number, wording in enumerate(settings.wordings):
            yield from _question(model, question, row, (0, version, number), settings, wording)
    others: list[tuple[tuple[int, int], Question]] = []
    if settings.other_order and (other := _other_order(unit)):
        others += [((1, version), question) for version, question in enumerate(other.questions)]
    if settings.baseline and isinstance(unit, Pair) and (plain := without_clue(unit)):
        others.append(((0, WITHOUT_CLUE), plain))
    for place, question in others:
        yield from _fillings(model, question, row, place, settings)
        yield from _question(model, question, row, (*place, 0), settings, settings.wordings[0])


def without_clue(pair: Pair) -> Question | None:
    """The first version without the words that decide; None where the pronoun is one of them.

    Example:
        >>> pair = Pair("1", "f", ("The cat bit the dog as it ran.", "The cat bit the dog as it slept."), ("it", "it"),
        ...             ("the cat", "the dog"), (0, 1))
        >>> without_clue(pair).text
        'The cat bit the dog as it.'
    """
    text = pair.texts[0]
    (start, stop), _ = difference(*pair.texts)
    before, after = text[:start], text[stop:]
    if not before or not after[:1].isalnum():
        before, after = before.rstrip(), after if before else after.lstrip()
    plain = before + after
    same_word = pair.words[0].partition("#")[0] == pair.words[1].partition("#")[0]
    return replace(pair.questions[0], text=plain) if same_word and place_of(plain, pair.words[0]) else None


def _question(
    model: Model,
    question: Question,
    row: dict[str, Any],
    place: tuple[int, ...],
    settings: ReferenceSettings,
    wording: str,
) -> Iterator[_Asked]:
    """The odds of the two nouns after a question; none for a blank, which cannot be asked about."""
    if question.blank:
        return
    prompt, answers = prompt_and_answers(question, wording)
    both = [model.tokenize(f"{prompt} {answer}", special_tokens=settings.special_tokens) for answer in answers]
    choice, _ = choice_of([text_ids(tokens) for tokens in both])

    def put(found: list[np.ndarray]) -> None:
        row["ask"][place] = found[0].sum() - found[1].sum()

    yield _Asked(choice, put)


def prompt_and_answers(question: Question, wording: str) -> tuple[str, tuple[str, str]]:
    """What is asked after a text, and the two nouns that may follow.

    Example:
        >>> trophy = Question("1", "f", "The cup did not fit in the bag as it was big.", "it",
        ...                   ("the cup", "the bag"), 0, "1")
        >>> prompt_and_answers(trophy, "{What} does '{word}' refer to? Answer: the")
        ("The cup did not fit in the bag as it was big. What does 'it' refer to? Answer: the", ('cup', 'bag'))
    """
    word = question.word.partition("#")[0]
    what = "who" if word.lower() in _PERSONS else "what"
    asked = wording.format(word=word, what=what, What=what.capitalize())
    first, second = phrases(question.text, question.candidates)
    if first.startswith(_ARTICLE) and second.startswith(_ARTICLE) and asked.endswith(f" {_ARTICLE.strip()}"):
        first, second = first.removeprefix(_ARTICLE), second.removeprefix(_ARTICLE)
    else:
        asked = asked.removesuffix(f" {_ARTICLE.strip()}")
    return f"{question.text.strip()} {asked}", (first, second)


def _fillings(
    model: Model, question: Question, row: dict[str, Any], place: tuple[int, ...], settings: ReferenceSettings
) -> Iterator[_Asked]:
    """The odds of the sentence with noun A in the pronoun's place against that with noun B, and of the part after it.

    What both have in common before the noun has the same probability in both, and cancels.
    """
    texts = filled(question)
    both = [model.tokenize(one.text, special_tokens=settings.special_tokens) for one in texts]
    ids = [text_ids(tokens) for tokens in both]
    choice, shared = choice_of(ids)
    after = [
        np.array([token.end is not None and token.end > one.rest for token in tokens[shared : len(own)]])
        for one, tokens, own in zip(texts, both, ids, strict=True)
    ]

    def put(found: list[np.ndarray]) -> None:
        row["whole"][place] = found[0].sum() - found[1].sum()
        if all(inside.any() for inside in after):
            parts = [scores[inside].sum() for scores, inside in zip(found, after, strict=True)]
            row["part"][place] = parts[0] - parts[1]

    yield _Asked(choice, put)


def choice_of(ids: Sequence[list[int]]) -> tuple[Choice, int]:
    """Two sequences as their common beginning and what follows, at least one token of each."""
    first, second = ids
    shared = 0
    while shared < min(len(first), len(second)) - 1 and first[shared] == second[shared]:
        shared += 1
    return Choice(tuple(first[:shared]), (tuple(first[shared:]), tuple(second[shared:]))), shared
