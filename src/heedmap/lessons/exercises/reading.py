"""Exercises on reading real maps: rows and columns, ordinary shares, dilution, cost, the odds of what comes next."""

from __future__ import annotations

import math

import numpy as np

from heedmap.arithmetic import softmax
from heedmap.arithmetic.steps import causal_mask, softmax_rows
from heedmap.lessons.exercises.four_steps import SENTENCES
from heedmap.lessons.exercises.mistakes import wrong
from heedmap.lessons.exercises.problem import Draw, Generator, Step, plain, table


def _rows(draw: Draw, level: int) -> tuple[str, list[Step]]:
    names = draw.choice(SENTENCES)
    # No two scores of a row alike: each row has one largest weight, also when it is rounded.
    scores = np.array([draw.different(lambda: [draw.tenths(-1, 2)], 4) for _ in names])[..., 0]
    allowed = causal_mask(range(4), 4) if level == 3 else np.ones((4, 4), dtype=np.bool_)
    weights = softmax_rows(scores, allowed).weights.round(2)
    looks = draw.whole(2, 3) if level == 3 else draw.whole(0, 3)
    at = (looks + draw.whole(1, 3)) % 4 if level < 3 else draw.whole(0, looks - 1)
    cells = [
        [plain(one) if ok else "" for one, ok in zip(*line, strict=True)] for line in zip(weights, allowed, strict=True)
    ]
    grid = table(("looks \\ at", *names), [(name, *line) for name, line in zip(names, cells, strict=True)])
    one = Step(
        "one weight",
        f"How much does “{names[looks]}” look at “{names[at]}”?",
        lambda done: [float(weights[looks, at])],
        "The row of the word that looks, the column of the word looked at.",
        mistakes=(wrong("row-for-column", lambda done: [float(weights[at, looks])]),),
    )
    most = Step(
        "the largest",
        f"At which word does “{names[looks]}” look most?",
        lambda done: [float(weights[looks].argmax())],
        f"Go along the row of “{names[looks]}”.",
        options=names,
        mistakes=(
            wrong("row-for-column", lambda done: [float(weights[:, looks].argmax())]),
            wrong("largest-overall", lambda done: [float(np.unravel_index(weights.argmax(), weights.shape)[1])]),
        ),
    )
    times = Step(
        "against an even share",
        f"How many times an even share, over the words that “{names[looks]}” may see, is the weight on “{names[at]}”?",
        lambda done: [float(weights[looks, at]) * (looks + 1)],
        "An even share is 1 divided by how many words it may see, itself included.",
        mistakes=(wrong("counted-hidden", lambda done: [float(weights[looks, at]) * 4]),),
    )
    text = "A map (rows look, columns are looked at):\n\n" + grid
    return text, [one] if level == 1 else [one, most] if level == 2 else [one, most, times]


def _ordinary(draw: Draw, level: int) -> tuple[str, list[Step]]:
    seen, hidden = draw.whole(5, 20), draw.whole(2, 9)
    first = draw.whole(30, 80) / 100
    ordinary = (1 - first) / (seen - 1)
    share = Step(
        "an ordinary share",
        "What is an ordinary share: what the first word leaves, spread evenly over the others that can be seen?",
        lambda done: [ordinary],
        "1 minus the first word's share, divided by how many others there are (itself included).",
        digits=3,
        mistakes=(
            wrong("forgot-sink", lambda done: [1 / (seen - 1)]),
            wrong("even-share", lambda done: [1 / seen]),
            wrong("counted-hidden", lambda done: [(1 - first) / (seen + hidden - 1)]),
            wrong("forgot-one", lambda done: [(1 - first) / seen]),
        ),
    )
    text = f"A word sees {seen} words, itself included. The first of them takes {plain(first)} of the weight."
    if level > 1:
        text = f"The text has {seen + hidden} words. " + text + f" The other {hidden} come later."
    if level < 3:
        return text, [share]
    weight = round(ordinary * draw.whole(2, 6) + draw.whole(0, 9) / 1000, 3)
    times = Step(
        "how many times",
        f"One word has {plain(weight, 3)}. How many times an ordinary share is that?",
        lambda done: [weight / done[0][0] if done[0][0] else 0.0],
        "Divide the one by the other.",
        digits=1,
        mistakes=(wrong("difference-for-ratio", lambda done: [weight - done[0][0]]),),
    )
    return text, [share, times]


def _dilute(draw: Draw, level: int) -> tuple[str, list[Step]]:
    others, lead = draw.whole(5, 40), draw.whole(1, 4)
    longer = others * draw.choice((2, 4, 10))

    def share(count: int, score: float) -> float:
        return math.exp(score) / (math.exp(score) + count)

    def step(name: str, count: int) -> Step:
        return Step(
            name,
            f"What is its weight among {count} others?",
            lambda done: [share(count, lead)],
            "e to its score, divided by that and 1 (which is e^0) for each other word.",
            digits=3,
            mistakes=(
                wrong("forgot-one", lambda done: [math.exp(lead) / count]),
                wrong("no-softmax", lambda done: [lead / (lead + count)]),
                wrong("even-share", lambda done: [1 / (count + 1)]),
            ),
        )

    text = f"One word has the score {lead}; every other word has the score 0."
    steps = [step("the weight", others)]
    if level > 1:
        steps.append(step("the weight in the longer text", longer))
    if level > 2:
        steps.append(
            Step(
                "the score it needs",
                f"Which score would it need among {longer} others to keep the weight it had among {others}?",
                lambda done: [lead + math.log(longer / others)],
                "e to the score must grow as the others do: add the logarithm (ln) of how many times more there are.",
                mistakes=(wrong("linear", lambda done: [lead * longer / others]),),
            )
        )
    return text, steps


def _cost(draw: Draw, level: int) -> tuple[str, list[Step]]:
    tokens, heads, layers = draw.whole(2, 16) * 256, draw.whole(4, 16), draw.whole(6, 30)
    cells = Step(
        "the cells of one map",
        "How many cells does the whole map of one head have (a row and a column for each token)?",
        lambda done: [float(tokens * tokens)],
        "Tokens times tokens.",
        mistakes=(
            wrong("linear", lambda done: [2.0 * tokens]),
            wrong("half-map", lambda done: [tokens * (tokens + 1) / 2]),
        ),
    )
    text = f"A text of {tokens} tokens; {layers} layers of {heads} heads; a number takes 4 bytes."
    if level == 1:
        double = Step(
            "twice as long",
            "How many times as many cells has a text that is twice as long?",
            lambda done: [4.0],
            "Twice as many rows, each twice as long.",
            mistakes=(wrong("linear", lambda done: [2.0]),),
        )
        return text, [cells, double]
    every = Step(
        "all maps",
        "How many million bytes do the maps of all heads of all layers take?",
        lambda done: [4 * done[0][0] * heads * layers / 1e6],
        "Cells × heads × layers × 4 bytes, in millions.",
        digits=0,
        mistakes=(
            wrong("forgot-bytes", lambda done: [done[0][0] * heads * layers / 1e6]),
            wrong("forgot-layers", lambda done: [4 * done[0][0] * heads / 1e6]),
            wrong("forgot-heads", lambda done: [4 * done[0][0] * layers / 1e6]),
        ),
    )
    if level == 2:
        return text, [cells, every]
    dim = draw.choice((32, 64, 128))
    kept = Step(
        "keys and values instead",
        f"And the keys and values alone, {dim} numbers each for every token, head and layer, in million bytes?",
        lambda done: [4 * 2 * dim * tokens * heads * layers / 1e6],
        "2 × numbers × tokens × heads × layers × 4 bytes, in millions.",
        digits=0,
        mistakes=(
            wrong("forgot-two", lambda done: [4 * dim * tokens * heads * layers / 1e6]),
            wrong("forgot-bytes", lambda done: [2 * dim * tokens * heads * layers / 1e6]),
        ),
    )
    return text, [cells, every, kept]


def _odds(draw: Draw, level: int) -> tuple[str, list[Step]]:
    words = draw.choice((("Paris", "London", "the"), ("mat", "sofa", "roof"), ("rain", "snow", "sun")))
    logits = [one[0] for one in draw.different(lambda: [draw.tenths(0, 4)], 3)]
    temperature = 1.0 if level < 3 else draw.choice((0.5, 2.0))
    odds = softmax([one / temperature for one in logits]).weights.tolist()
    plain_odds, hot = softmax(logits).weights.tolist(), softmax([one * temperature for one in logits]).weights.tolist()
    extra = (
        ()
        if level < 3
        else (
            wrong("no-temperature", lambda done: plain_odds),
            wrong("multiplied-temperature", lambda done: hot),
        )
    )
    step = Step(
        "the odds",
        "What are the odds of the three words?" + ("" if level < 3 else f" (Temperature {plain(temperature)}.)"),
        lambda done: odds,
        "Softmax, as always" + ("." if level < 3 else ": divide each by the temperature first."),
        labels=words,
        mistakes=(
            *extra,
            wrong("forgot-total", lambda done: [math.exp(one / temperature) for one in logits]),
            wrong("no-softmax", lambda done: [one / (sum(logits) or 1) for one in logits]),
        ),
    )
    numbers = ", ".join(f"{word} {plain(one)}" for word, one in zip(words, logits, strict=True))
    text = f"Only three words can come next. The last layer gives them the scores: {numbers}."
    if level == 1:
        return text, [step]
    then = draw.whole(2, 9) / 10
    both = Step(
        "one after the other",
        f"After “{words[0]}” a full stop has the odds {plain(then)}. What are the odds of both, one after the other?",
        lambda done: [done[0][0] * then],
        "Both must happen: multiply.",
        mistakes=(wrong("odds-not-multiplied", lambda done: [done[0][0] + then]),),
    )
    return text, [step, both]


GENERATORS = (
    Generator(
        "rows", "reading a map", ("one weight", "and the largest", "backwards only, against an even share"), _rows
    ),
    Generator("ordinary", "an ordinary share", ("all words seen", "some come later", "and how many times"), _ordinary),
    Generator("dilute", "more text dilutes", ("one length", "two lengths", "and the score it needs"), _dilute),
    Generator("cost", "what a long text costs", ("cells", "all maps in memory", "keys and values instead"), _cost),
    Generator("odds", "what comes next", ("odds from scores", "two words in a row", "with a temperature"), _odds),
)
