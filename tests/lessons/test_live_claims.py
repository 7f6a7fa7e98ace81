"""Live numbers of luck, of a head that was picked, and of heads taken away, against SciPy and transformers alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binom

from heedmap.errors import LessonError
from heedmap.lab.data import Pair
from heedmap.lessons import live_removed
from heedmap.lessons.live import compute
from heedmap.lessons.live_asked import pair_named
from heedmap.reading.model import Model
from tests.lessons.eager import eager_maps, log_probability, tokens_of

HEADS = [(layer, head) for layer in range(3) for head in range(4)]
"""Those of the tiny model."""

FLOAT = 1e-5
"""Weights are float32; the project's tolerance for them."""

ODDS = 1e-4
"""Log-probabilities are sums of float32 logits, a few units large."""


def test_the_best_of_few_coins_is_that_of_all_outcomes_written_out() -> None:
    for coins, questions in ((1, 3), (2, 3), (3, 2)):
        one = [sum(flips) for flips in itertools.product((0, 1), repeat=questions)]
        best = [max(outcome) for outcome in itertools.product(one, repeat=coins)]
        assert compute(f"luckiest {coins} {questions} digits=9").value == pytest.approx(np.mean(best))
        perfect = np.mean([outcome == questions for outcome in best])
        assert compute(f"perfect {coins} {questions} digits=9").value == pytest.approx(perfect)


def test_the_best_of_many_coins_is_that_of_scipy() -> None:
    for coins, questions in ((9, 10), (270, 10), (1000, 10), (270, 5)):
        below = binom.cdf(np.arange(questions), questions, 0.5) ** coins
        assert compute(f"luckiest {coins} {questions}").value == pytest.approx((1 - below).sum())
        perfect = 1 - binom.pmf(0, coins, 0.5**questions)
        assert compute(f"perfect {coins} {questions}").value == pytest.approx(perfect)
        line = compute(f"luck-table {coins} {questions}").text.splitlines()[1].split()
        assert line == [str(coins), f"{(1 - below).sum():.1f}", f"{perfect:.3f}"]
    assert compute("passing 270 0.05").value == pytest.approx(1 - binom.pmf(0, 270, 0.05))


def looks_by_hand(model: Model, pair: Pair, order: int) -> np.ndarray:
    """From the pronoun on both nouns in every head, [head, noun], by the tokenizer's offsets and eager attention."""
    texts = pair.texts if order == 0 else pair.other_order
    assert texts is not None
    maps = eager_maps(model, texts[0]).reshape(len(HEADS), *(2 * [len(model.tokenize(texts[0]))]))
    word = tokens_of(model, texts[0], pair.words[0])
    nouns = [tokens_of(model, texts[0], one.removeprefix("the ")) for one in pair.candidates]
    return np.stack([maps[:, word][:, :, noun].sum(-1).mean(-1) for noun in nouns], axis=-1)


@pytest.mark.parametrize("order", [1, 2])
def test_a_picked_head_is_the_one_with_the_largest_lead(tiny_stands_in: Model, order: int) -> None:
    pair = pair_named("size-trophy")
    here, there = (looks_by_hand(tiny_stands_in, pair, place) for place in (0, order - 1))
    best = int((here[:, 0] - here[:, 1]).argmax())
    assert compute("picked size-trophy").text == "layer {}, head {}".format(*HEADS[best])
    for noun, name in enumerate(("trophy", "suitcase")):
        found = compute(f"picked-weight size-trophy {name} order={order}").value
        assert found == pytest.approx(there[best, noun], abs=FLOAT)
    lead = there[best, 0] - there[best, 1]
    assert compute(f"picked-lead size-trophy order={order}").value == pytest.approx(lead, abs=FLOAT)
    assert compute(f"picked-at size-trophy order={order}").text == ("trophy" if lead > 0 else "suitcase")
    leads = there[:, 0] - there[:, 1]
    lines = compute(f"picked-table size-trophy count=3 order={order}").text.splitlines()[1:]
    largest = [HEADS[one] for one in np.argsort(-leads)[:3]]
    assert [tuple(int(word) for word in line.replace(",", "").split()[1:4:2]) for line in lines] == largest
    spread = compute(f"picked-spread size-trophy order={order}").text.splitlines()[1:]
    edges = [-1.01, *np.arange(-5, 6) / 10, 1.01]  # below -0.5, steps of a tenth, from +0.5
    counts = [((leads >= low) & (leads < high)).sum() for low, high in itertools.pairwise(edges)]
    assert [int(line[13:].split()[0]) for line in spread] == counts
    assert sum(counts) == len(HEADS), "every head is somewhere"


def test_a_picked_head_is_followed_to_other_pairs(tiny_stands_in: Model) -> None:
    first = looks_by_hand(tiny_stands_in, pair_named("size-trophy"), 0)
    best = int((first[:, 0] - first[:, 1]).argmax())
    others, count, lines = ["size-ship", "matter-tea"], 0, []
    for name in others:
        pair = pair_named(name)
        for order in (0, 1):
            texts = (pair.texts, pair.other_order)[order]
            assert texts is not None
            nouns = [one.removeprefix("the ") for one in pair.candidates]
            stands_first = int(texts[0].index(nouns[1]) < texts[0].index(nouns[0]))
            weights = looks_by_hand(tiny_stands_in, pair, order)[best]
            at_first = weights[stands_first] > weights[1 - stands_first]
            count += bool(at_first)
            lines.append([nouns[stands_first], f"{weights[stands_first]:.3f}", "first" if at_first else "second"])
    assert compute(f"picked-first size-trophy {','.join(others)}").value == count
    table = compute(f"picked-elsewhere size-trophy {','.join(others)}").text.splitlines()[1:]
    assert [[*line.split()[-5:-3], line.split()[-1]] for line in table] == lines
    on = compute("picked-weight size-trophy tea on=matter-tea").value
    assert on == pytest.approx(looks_by_hand(tiny_stands_in, pair_named("matter-tea"), 0)[best, 0], abs=FLOAT)


def odds_by_hand(model: Model, pair: Pair, version: int, heads: list[int]) -> float:
    """The log-odds of the right noun where heads of layer 1 hand over nothing, by a hook of transformers' own table."""
    question = pair.questions[version]
    prompt = f"{question.text} What does '{question.word}' refer to? Answer: the"
    table = model.module.model.layers[1].self_attn.o_proj
    width = table.in_features // 4

    def silence(_: Any, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        joined = given[0].clone()
        for head in heads:
            joined[..., head * width : (head + 1) * width] = 0
        return (joined,)

    handle = table.register_forward_pre_hook(silence)
    try:
        log = [log_probability(model, prompt, one.removeprefix("the ")) for one in question.candidates]
    finally:
        handle.remove()
    return log[question.answer] - log[1 - question.answer]


@pytest.mark.parametrize("version", [1, 2])
def test_what_is_lost_without_a_head_is_what_transformers_loses(tiny_stands_in: Model, version: int) -> None:
    pair, place = pair_named("size-trophy"), f"version={version} layer=1"
    whole = odds_by_hand(tiny_stands_in, pair, version - 1, [])
    lost = [whole - odds_by_hand(tiny_stands_in, pair, version - 1, [head]) for head in range(4)]
    everything = whole - odds_by_hand(tiny_stands_in, pair, version - 1, [0, 1, 2, 3])
    assert max(map(abs, lost)) > 100 * ODDS, "the heads of this model do something"
    assert compute(f"removed-odds size-trophy {place}").value == pytest.approx(whole, abs=ODDS)
    assert compute(f"removed-times size-trophy {place}").value == pytest.approx(np.exp(whole), rel=ODDS)
    assert compute(f"removed-layer size-trophy {place} by=zero").value == pytest.approx(everything, abs=ODDS)
    for head, effect in enumerate(lost):
        call = f"size-trophy {head} {place} by=zero"
        assert compute(f"removed {call}").value == pytest.approx(effect, abs=ODDS)
        assert compute(f"removed-left {call}").value == pytest.approx(whole - effect, abs=ODDS)
        assert compute(f"removed-rank {call}").value == 1 + sum(abs(one) > abs(effect) for one in lost)
        small = abs(effect) < live_removed.SMALLEST
        said = "hardly anything" if small else "the right noun loses" if effect > 0 else "the right noun gains"
        assert compute(f"removed-size {call}").text == said
    assert compute(f"removed-most size-trophy effect {place} by=zero").value == int(np.abs(lost).argmax())
    nouns = looks_by_hand(tiny_stands_in, pair, 0)[4:8]  # of layer 1; the version does not reach back to the pronoun
    right = nouns[:, pair.answers[version - 1]]
    assert compute(f"removed-most size-trophy weight {place}").value == int(right.argmax())
    for head in range(4):
        assert compute(f"removed-weight size-trophy {head} {place}").value == pytest.approx(right[head], abs=FLOAT)
    lines = compute(f"removed-table size-trophy {place} by=zero").text.splitlines()
    assert [line.split()[-1] for line in lines[2:6]] == [f"{one:.2f}" for one in lost]
    assert lines[-1].split()[-1] == f"{everything:.2f}"


def test_a_stand_in_is_the_mean_and_both_versions_are_averaged(tiny_stands_in: Model) -> None:
    names = ["size-trophy", "matter-tea"]
    effects = np.array(
        [[compute(f"removed {name} 2 version={version} layer=1").value for version in (1, 2)] for name in names]
    )
    both = ",".join(names)
    assert compute(f"removed-mean {both} 2 layer=1").value == pytest.approx(effects.mean(), abs=ODDS)
    assert compute(f"removed-needed {both} 2 layer=1").value == (effects > 0).all(axis=1).sum()
    table = compute(f"removed-both {both} 2 layer=1").text.splitlines()[1:]
    assert [line.split()[1:3] for line in table[:2]] == [[f"{one:.2f}" for one in pair] for pair in effects]
    assert table[-1].split()[-1] == f"{effects.mean():.2f}"
    with_zeros = compute("removed size-trophy 2 layer=1 by=zero").value
    assert with_zeros != pytest.approx(effects[0, 0]), "a mean is another stand-in than zeros"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("luckiest many 10", "expected how many coins .a whole number"),
        ("picked-weight size-trophy dog", "expected one of trophy, suitcase, found 'dog'"),
        ("picked-lead size-trophy order=3", "option order: expected 1 or 2"),
        ("removed size-trophy 9 layer=1", "expected a head from 0 to 3, found 9"),
        ("removed size-trophy 1 layer=1 version=3", "option version: expected 1 or 2"),
        ("removed size-trophy 1 layer=1 by=noise", "option by: expected one of mean, zero"),
        ("removed-most size-trophy noise layer=1", "expected weight or effect, found 'noise'"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(tiny_stands_in: Model, call: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        compute(call)
