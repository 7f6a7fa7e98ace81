"""What `reference` found, in sentences."""

from __future__ import annotations

from heedmap.lab.bootstrap import METHOD
from heedmap.lab.experiment import Figure
from heedmap.lab.reference_summary import Summary
from heedmap.lab.words import in_brackets, value_words

Ways = dict[str, str]


def sentence_of(verdict: str, main: dict[str, Summary], corrected: dict[str, float], ways: Ways) -> str:
    """The verdict in plain words."""
    if not main:
        return (
            "The model predicts no next token, so that it gives no odds of one noun or the other: nothing can be told."
        )
    if verdict == "cannot tell":
        return "There are fewer than 6 pairs: whatever came out, chance could have done it."
    told = [
        f"{ways[way]}: {one.right_way} the right way, {one.wrong_way} the wrong way, p = {value_words(corrected[way])}"
        for way, one in main.items()
        if corrected[way] < 0.05 and one.right_way > one.wrong_way
    ]
    if verdict == "resolves":
        return (
            f"The model follows what the pronoun means, by {len(told)} of {len(main)} ways to ask ({'; '.join(told)})."
        )
    return (
        "That the model follows what the pronoun means is not shown: of the pairs in which its noun changed, no more "
        "went the right way than chance explains, by any way to ask."
    )


def shows(figures: dict[str, Figure], main: dict[str, Summary], ways: Ways) -> list[str]:
    """What was found."""
    found = []
    for way, one in main.items():
        accuracy = figures[f"reference.{way}.accuracy"]
        line = f"{ways[way].capitalize()}: {value_words(accuracy.value)} of the texts right{in_brackets(accuracy)}"
        if one.both_right.n:
            line += (
                f"; both versions right in {value_words(one.both_right.value)} of {one.both_right.n} pairs, the same "
                f"noun both times in {value_words(one.same_noun.value)}; the change moves the log-odds by "
                f"{value_words(one.difference.value)}{in_brackets(figures[f'reference.{way}.difference'])}"
            )
        found.append(f"{line}.")
        lowest, highest = (figures.get(f"reference.{way}.{end}_accuracy") for end in ("lowest", "highest"))
        if lowest is not None and highest is not None:
            found.append(
                f"{ways[way].capitalize()}: over {lowest.n} noun orders and wordings the share right lies between "
                f"{value_words(lowest.value)} and {value_words(highest.value)}."
            )
    best = figures["reference.always_one_noun"]
    found.append(f"Always saying the same noun scores {value_words(best.value)} without reading anything.")
    for way in main:
        kept = figures.get(f"reference.{way}.no_clue.kept")
        if kept is not None:
            found.append(
                f"{ways[way].capitalize()}: in {value_words(kept.value)} of the texts the noun is the one that the "
                "model prefers when the words that decide are taken out."
            )
    found.append(f"Intervals hold 95 percent: {METHOD}; for shares of pairs, Wilson. Ties count half.")
    return found


def does_not_show(figures: dict[str, Figure], main: dict[str, Summary]) -> list[str]:
    """What was not found, or does not follow."""
    if not main:
        return ["Whether an encoder resolves the pronoun: ask `heads` where it looks."]
    said = [
        "How the model does it: preferring the right noun shows no single head or layer at work.",
        "That it would answer so in a conversation: log-odds of two given nouns are compared, and no text is written.",
    ]
    unclear = [
        way
        for way in main
        if (interval := figures[f"reference.{way}.accuracy"].interval) and interval[0] <= 0.5 <= interval[1]
    ]
    if unclear:
        said.append(f"That accuracy is above one half by: {', '.join(unclear)} (the interval holds one half).")
    if any(one.same_noun.value is not None and one.same_noun.value > 0.5 for one in main.values()):
        said.append(
            "Understanding where one noun is preferred both times: half of such texts are right whatever happens."
        )
    return said
