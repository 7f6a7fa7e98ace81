"""Where a word and the nouns it may mean stand in a text, and texts made by putting one in the place of another."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heedmap.lab.data.types import Question
from heedmap.text.labels import Span
from heedmap.text.words import TextIndex

_NUMBERED = re.compile(r"(.+)#(\d{1,18})", re.DOTALL)
_DETERMINER = re.compile(r"(the|a|an)\s+", re.IGNORECASE)
_OPENING = re.compile(r"(the|a|an|this|that|his|her|their|its|my|your|our)\b", re.IGNORECASE)
_DETERMINER_BEFORE = re.compile(r"\b(the|a|an)\s+$", re.IGNORECASE)
_POSSESSIVES = {"his", "their", "its", "my", "your", "our"}
_AFTER_OBJECT = re.compile(
    r"\s+(?:a|about|after|again|all|alone|an|and|any|anyways|anywhere|as|at|away|because|before|but|by|during|every|"
    r"for|from|home|how|if|in|into|it|less|many|more|of|often|on|or|out|over|right|since|so|some|someone|something|that|"
    r"the|then|there|this|through|to|tomorrow|too|under|until|up|upon|very|was|well|what|when|where|which|while|who|why|"
    r"with|without|yesterday)\b",
    re.IGNORECASE,
)
"""What follows "her" where it is the object and no possessive: "asked her about", but "asked her brother"."""


def name_at(text: str, span: Span) -> str:
    """The name by which `Tokens.find` finds a word at one place.

    Example:
        >>> name_at("It is late, and it rains; it pours.", (26, 28))
        'it#2'
    """
    word = text[slice(*span)]
    places = TextIndex(text).find(word)
    return word if len(places) < 2 or span not in places else f"{word}#{places.index(span) + 1}"


def place_of(text: str, word: str) -> Span | None:
    """Where a word stands that is named as for `Tokens.find`; None where it does not, or several times.

    Example:
        >>> place_of("It is late, and it rains; it pours.", "it#2"), place_of("It is late.", "they")
        ((26, 28), None)
    """
    places = _places(text, word)
    if places:
        return places[0] if len(places) == 1 else None
    if numbered := _NUMBERED.fullmatch(word):
        places, number = _places(text, numbered[1]), int(numbered[2])
        return places[number - 1] if 1 <= number <= len(places) else None
    return None


def _places(text: str, word: str) -> list[Span]:
    """Every place of a word: as written, or else in other case."""
    index = TextIndex(text)
    return index.find(word) or index.find(word, ignore_case=True)


def noun_of(candidate: str) -> str:
    """A candidate without its article.

    Example:
        >>> noun_of("The city councilmen"), noun_of("Anna")
        ('city councilmen', 'Anna')
    """
    return _DETERMINER.sub("", candidate.strip(), count=1)


def noun_place(text: str, candidate: str) -> Span | None:
    """Where a candidate stands in a text, its article left out; its first place where it stands several times.

    Example:
        >>> noun_place("The trophy is too big for the suitcase.", "the suitcase")
        (30, 38)
    """
    places = _places(text, noun_of(candidate))
    return places[0] if places else None


@dataclass(frozen=True, slots=True)
class Filled:
    """A text in which a candidate stands in the word's place.

    Attributes:
        text: the whole text.
        rest: the character at which the part after the candidate begins.
    """

    text: str
    rest: int


def filled(question: Question) -> tuple[Filled, Filled]:
    """The text twice, with noun A and with noun B in the word's place.

    The nouns are `phrases`; in the place of a possessive they get "'s"; the first letter follows that of the word.

    Raises:
        ValueError: the word does not stand in the text.

    Example:
        >>> cats = Question("1", "f", "The cat saw a dog. It ran.", "It", ("cat", "dog"), 0, "1")
        >>> filled(cats)[1].text
        'The cat saw a dog. The dog ran.'
    """
    span = place_of(question.text, question.word)
    if span is None:
        raise ValueError(f"{question.word!r} does not stand once in {question.text!r}")
    if question.blank:
        first, second = (_put(question.text, span, candidate) for candidate in question.candidates)
    else:
        first, second = (_fill(question.text, span, noun) for noun in phrases(question.text, question.candidates))
    return first, second


def _put(text: str, span: Span, noun: str) -> Filled:
    """A noun in the place of a range, as it is."""
    before = text[: span[0]] + noun
    return Filled(before + text[span[1] :], len(before))


def _fill(text: str, span: Span, noun: str) -> Filled:
    """One noun in the word's place, fitted to it."""
    word = text[slice(*span)]
    if is_possessive(word, text[span[1] :]) and not noun.endswith(("'s", "’s")):
        noun += "'" if noun.endswith("s") and word.lower() == "their" else "'s"
    if word[:1].isupper() and len(word) > 1:
        noun = noun[:1].upper() + noun[1:]
    return _put(text, span, noun)


def is_possessive(word: str, after: str) -> bool:
    """Whether a pronoun says whose something is, by itself or, for "her", by the word after it.

    Example:
        >>> is_possessive("his", " book"), is_possessive("her", " book"), is_possessive("her", " about it")
        (True, True, False)
    """
    if word.lower() != "her":
        return word.lower() in _POSSESSIVES
    return re.match(r"\s+\w", after) is not None and _AFTER_OBJECT.match(after) is None


def phrases(text: str, candidates: tuple[str, str]) -> tuple[str, str]:
    """Two candidates as they stand within a sentence: articles and "his" in small letters.

    Where both come without article, and both have one in the text, both get "the".

    Example:
        >>> phrases("A cat saw the dog.", ("cat", "dog")), phrases("Ann saw my dog.", ("Ann", "My dog"))
        (('the cat', 'the dog'), ('Ann', 'my dog'))
    """
    if all(_lacks_article(text, candidate) for candidate in candidates):
        return f"the {candidates[0]}", f"the {candidates[1]}"
    first, second = (_OPENING.sub(lambda found: found[0].lower(), candidate) for candidate in candidates)
    return first, second


def _lacks_article(text: str, candidate: str) -> bool:
    """Whether a candidate comes without the article that it has in the text."""
    place = None if _OPENING.match(candidate) else noun_place(text, candidate)
    return place is not None and _DETERMINER_BEFORE.search(text[: place[0]]) is not None


def exchanged(text: str, candidates: tuple[str, str]) -> str | None:
    """The text with the two nouns in each other's place; None where they do not both stand there, once and apart.

    Example:
        >>> exchanged("The trophy is too big for the suitcase.", ("the trophy", "the suitcase"))
        'The suitcase is too big for the trophy.'
    """
    nouns = [noun_of(candidate) for candidate in candidates]
    found = [_places(text, noun) for noun in nouns]
    if any(len(places) != 1 for places in found):
        return None
    (first, first_noun), (second, second_noun) = sorted(zip((found[0][0], found[1][0]), nouns[::-1], strict=True))
    if first[1] > second[0]:
        return None
    return f"{text[: first[0]]}{first_noun}{text[first[1] : second[0]]}{second_noun}{text[second[1] :]}"
