"""Exercises on claims: chance among many heads, pairs against a simple rule, an effect against its control."""

from __future__ import annotations

from heedmap.lessons.exercises.mistakes import wrong
from heedmap.lessons.exercises.problem import Draw, Generator, Step, plain


def _chance(draw: Draw, level: int) -> tuple[str, list[Step]]:
    heads, percent = 10 * draw.whole(2, 30), draw.choice((1, 2, 5))
    chance = percent / 100
    expected = Step(
        "by chance",
        "How many heads do you expect to pass by chance alone?",
        lambda done: [heads * chance],
        "Heads times the chance of one.",
        mistakes=(wrong("one-look", lambda done: [chance]),),
    )
    some = Step(
        "at least one",
        "How likely is it that at least one passes by chance?",
        lambda done: [1 - (1 - chance) ** heads],
        "The chance that none passes is (1 − chance) multiplied by itself, once for each head.",
        mistakes=(
            wrong("one-look", lambda done: [chance]),
            wrong("added-chances", lambda done: [heads * chance]),
            wrong("added-chances", lambda done: [1.0]),
        ),
    )
    stricter = Step(
        "the stricter line",
        "You look at all of them. How small must the chance for each be, so that together they stay near "
        f"{plain(chance)}? (Divide by how many you look at.)",
        lambda done: [chance / heads],
        "The chance you want in all, divided by the heads.",
        digits=5,
        mistakes=(wrong("one-look", lambda done: [chance]),),
    )
    text = f"{heads} heads know nothing about pronouns. A test lets each of them pass by chance with {percent} percent."
    return text, [expected] if level == 1 else [expected, some] if level == 2 else [expected, some, stricter]


def _pairs(draw: Draw, level: int) -> tuple[str, list[Step]]:
    count = draw.choice((20, 40, 50, 80))
    first = draw.whole(int(count * 0.55), int(count * 0.85))
    right = draw.whole(first - count // 10, min(count, first + count // 10))
    if 2 * first == count or right == count:
        right -= 1
    share = Step(
        "the share right",
        "Which share of the sentences does the model get right?",
        lambda done: [right / count],
        "Right ones divided by all.",
        mistakes=(wrong("counted", lambda done: [float(right)]),),
    )
    rule = Step(
        "the simple rule",
        "Which share would the rule “always the first noun” get right?",
        lambda done: [first / count],
        "In how many is the first noun the right one?",
        mistakes=(wrong("counted", lambda done: [float(first)]), wrong("against-half", lambda done: [0.5])),
    )
    better = Step(
        "how much better",
        "By how much is it better than the rule? (Negative if it is worse.)",
        lambda done: [done[0][0] - done[1][0]],
        "The one share minus the other.",
        mistakes=(
            wrong("against-half", lambda done: [done[0][0] - 0.5]),
            wrong("counted", lambda done: [float(right - first)]),
        ),
    )
    text = (
        f"{count} sentences with two nouns and a pronoun. Asked what the pronoun means, a model says the right noun in "
        f"{right} of them. In {first} of them the right noun is the one that stands first."
    )
    return text, [share] if level == 1 else [share, rule] if level == 2 else [share, rule, better]


def _removal(draw: Draw, level: int) -> tuple[str, list[Step]]:
    before = draw.whole(40, 90) / 100
    after = round(before - draw.whole(5, 30) / 100, 2)
    others = [round(before - draw.whole(1, 12) / 100, 2) for _ in range(3)]
    mean = sum(others) / 3
    effect = Step(
        "the effect",
        "By how much do the odds of the answer fall when the head is removed?",
        lambda done: [before - after],
        "Before minus after.",
        mistakes=(wrong("ratio-for-difference", lambda done: [after / before]),),
    )
    control = Step(
        "the control",
        "By how much do they fall on average when another head is removed?",
        lambda done: [before - mean],
        "Average the three, and take that from what it was before.",
        digits=3,
        mistakes=(wrong("ratio-for-difference", lambda done: [mean / before]),),
    )
    beyond = Step(
        "beyond the control",
        "How much of the effect is more than removing just any head does?",
        lambda done: [done[0][0] - done[1][0]],
        "The effect minus the control.",
        digits=3,
        mistakes=(wrong("no-control", lambda done: [done[0][0]]),),
    )
    given = ", ".join(plain(one) for one in others)
    text = f"The odds of the right answer are {plain(before)}. Without the head they are {plain(after)}."
    if level > 1:
        text += f" Without each of three other heads, drawn by lot, they are {given}."
    return text, [effect] if level == 1 else [effect, control] if level == 2 else [effect, control, beyond]


GENERATORS = (
    Generator("chance", "one head of many", ("how many by chance", "at least one", "and a stricter line"), _chance),
    Generator("pairs", "against a simple rule", ("the share right", "the rule's share", "how much better"), _pairs),
    Generator("removal", "an effect and its control", ("the effect", "the control", "what is left"), _removal),
)
