"""What `heads` found, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedmap.lab.bootstrap import METHOD
from heedmap.lab.experiment import Figure
from heedmap.lab.words import in_brackets, value_words

if TYPE_CHECKING:
    from heedmap.lab.heads_conclude import Search
    from heedmap.lab.heads_effects import Effects

_FEWEST = 6


def sentence_of(verdict: str, noun: Search, effects: Effects) -> str:
    """The verdict in plain words."""
    pairs = len(effects.noun)
    if verdict == "cannot tell":
        if pairs < _FEWEST:
            return f"{pairs} pairs can be used: under {_FEWEST}, chance could give any result, so nothing can be told."
        return "All pairs are of one family: a head could not be chosen on some families and tested on others."
    assert noun.best is not None, "with pairs there is a best head"
    assert noun.first is not None, "with families there are halves"
    chosen = effects.name(noun.first.head)
    if verdict == "found":
        return (
            f"In {chosen} the word looks at A rather than B, wherever they stand: by {value_words(noun.first.effect)} "
            f"of its row on {noun.first.units} pairs that did not choose it; the best of all heads beats chance with "
            f"p = {value_words(noun.best.p)}."
        )
    return (
        f"No head is shown to look at A rather than B: the best of {len(effects.head)} is "
        f"{effects.name(noun.best.head)} with {value_words(noun.best.mean)} (p = {value_words(noun.best.p)} against "
        f"the best by chance), and {chosen}, chosen on one half, has {value_words(noun.first.effect)} on the other."
    )


def shows(
    figures: dict[str, Figure], noun: Search, after: Search, at_word: Search | None, effects: Effects
) -> list[str]:
    """What was found."""
    found = []
    if noun.first is not None:
        found.append(
            f"Chosen on one half: {effects.name(noun.first.head)}, with {value_words(noun.first.chosen)} there and "
            f"{value_words(noun.first.effect)}{in_brackets(figures['heads.held_out.effect'])} on the other half; "
            f"a head taken at random does as well in {value_words(noun.first.as_good)} of the cases."
        )
    if "heads.place.effect" in figures:
        place = figures["heads.place.effect"]
        found.append(
            f"The strongest head of place is layer {figures['heads.place.layer'].value} head "
            f"{figures['heads.place.head'].value}: first noun minus second {value_words(place.value)}, and A minus B "
            f"{value_words(figures['heads.place.noun_effect'].value)} once both noun orders are read."
        )
    for search, who in ((at_word, "at the word"), (after, "at the tokens after the words that decide")):
        if search is None or search.best is None:
            continue
        says = "follows the words that decide" if search.stands else "no head is shown to follow the words that decide"
        if search.stands and search.first is not None:
            says = f"{effects.name(search.first.head)} {says}"
        held = (
            "" if search.first is None else f", {value_words(search.first.effect)} on the half that did not choose it"
        )
        found.append(
            f"{who.capitalize()}, {says}: the best is {effects.name(search.best.head)} with "
            f"{value_words(search.best.mean)} (p = {value_words(search.best.p)}){held}."
        )
    if (asked := figures.get("heads.asked.effect")) is not None and asked.value is not None:
        found.append(
            f"The head that was asked for: A minus B {value_words(asked.value)}{in_brackets(asked)}, first minus "
            f"second {value_words(figures['heads.asked.place_effect'].value)}, "
            f"p = {value_words(figures['heads.asked.p'].value)}."
        )
    found.append(f"Intervals hold 95 percent: {METHOD}; n counts pairs.")
    return found


def does_not_show(figures: dict[str, Figure], noun: Search, after: Search, effects: Effects, causal: bool) -> list[str]:
    """What was not found, or does not follow."""
    said = []
    if causal:
        said.append(
            "That the word's row knows the answer: in this model both versions give one and the same row at the word "
            f"(largest difference {value_words(effects.versions_differ)}), since what decides comes later. It points "
            "at the same noun in both versions as a consequence of causality."
        )
    if noun.best is not None:
        said.append("That such a head is a reason for what the model says: weights were read, and nothing was changed.")
    if noun.first is not None and noun.second is not None and noun.first.head != noun.second.head:
        said.append(
            f"One head on which both halves agree: the other half chooses {effects.name(noun.second.head)}, which has "
            f"{value_words(noun.second.effect)} where it was not chosen."
        )
    if after.best is None:
        said.append("Whether anything follows the words that decide: no token comes after them.")
    if effects.exchanged:
        said.append(
            f"A preference for meaning in {effects.exchanged} pairs: their other noun order was made by exchanging the "
            "nouns, which keeps the words and not the sense."
        )
    said += [
        f"Anything about {count} pairs that were left out: {reason}." for reason, count in effects.left_out.items()
    ]
    return said
