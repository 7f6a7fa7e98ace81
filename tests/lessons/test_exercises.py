"""Exercises: right answers are accepted however they are rounded, and every known mistake is recognised and named."""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heedmap.arithmetic import attend
from heedmap.errors import LessonError
from heedmap.lessons.exercises.answers import Unreadable, choose, read_answer
from heedmap.lessons.exercises.checking import GENERAL, check_all, check_step, summary
from heedmap.lessons.exercises.mistakes import SAYS
from heedmap.lessons.exercises.problem import Answer, Draw, Problem, Step, typed_answer
from heedmap.lessons.exercises.registry import GENERATORS, exercises_page, generator

SEEDS = range(12)
IN_CODE_ONLY = {"upside-down-mask", "masked-after"}
"""Mistakes of whole sentences at once, which only code exercises have."""

kinds = st.sampled_from(sorted(GENERATORS))
levels = st.integers(1, 3)
seeds = st.integers(0, 10**6)


def written(step: Step, answer: Answer, digits: int | None = None) -> str:
    """An answer as somebody would type it."""
    if step.options:
        return step.options[int(answer[0])]
    return " ".join(f"{one:.{step.digits if digits is None else digits}f}" for one in answer)


def problems() -> Iterator[Problem]:
    for kind in GENERATORS.values():
        for level in (1, 2, 3):
            for seed in SEEDS:
                yield kind.problem(level, seed)


@given(kinds, levels, seeds)
def test_the_same_seed_is_the_same_exercise_and_its_own_answers_are_right(name: str, level: int, seed: int) -> None:
    problem = generator(name).problem(level, seed)
    again = generator(name).problem(level, seed)
    assert (problem.text, [step.question for step in problem.steps]) == (
        again.text,
        [step.question for step in again.steps],
    )
    assert problem.exact() == again.exact()
    answers = [typed_answer(problem, index) for index in range(len(problem.steps))]
    assert {verdict.outcome for verdict in check_all(problem, answers)} == {"right"}
    assert summary(problem, check_all(problem, answers)) == "All steps are right."


@given(kinds, levels, seeds)
def test_rounding_after_every_step_is_accepted_and_so_is_not_rounding(name: str, level: int, seed: int) -> None:
    problem = generator(name).problem(level, seed)
    for chain, digits in ((problem.rounded(), None), (problem.exact(), 9)):
        answers = [written(step, answer, digits) for step, answer in zip(problem.steps, chain, strict=True)]
        assert {verdict.outcome for verdict in check_all(problem, answers)} == {"right"}


@given(kinds, levels, seeds, st.floats(1.5, 3))
def test_a_number_that_is_off_is_never_right(name: str, level: int, seed: int, off: float) -> None:
    problem = generator(name).problem(level, seed)
    exact, rounded = problem.exact(), problem.rounded()
    for index, step in enumerate(problem.steps):
        if step.options:
            continue
        beyond = [max(a, b) + off * 10.0**-step.digits for a, b in zip(exact[index], rounded[index], strict=True)]
        verdict = check_step(problem, index, " ".join(f"{one:.9f}" for one in beyond))
        assert not verdict.is_right


def test_every_mistake_is_recognised_and_named_wherever_it_can_be_told_apart() -> None:
    named: collections.Counter[str] = collections.Counter()
    for problem in problems():
        exact = problem.exact()
        for index, step in enumerate(problem.steps):
            for mistake in step.mistakes:
                verdict = check_step(problem, index, written(step, tuple(mistake.work(exact[:index]))))
                if verdict.mistake == mistake.name:
                    assert verdict.says == SAYS[mistake.name]
                    named[mistake.name] += 1
                else:
                    # The numbers of this seed make it look right, or like another known mistake.
                    assert verdict.outcome in ("right", "mistake", "coarse"), (problem, step.name, mistake.name)
    assert set(SAYS) - IN_CODE_ONLY == set(named)
    assert min(named.values()) >= 5


def numbers_of(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", text)]


def typed_by_a_learner(numbers: np.ndarray) -> str:
    return " ".join(f"{one:.3f}" for one in numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mistakes_people_make_are_named_when_a_learner_works_them(seed: int) -> None:
    # Worked here with NumPy from what the exercise prints, not from what it knows of mistakes.
    problem = generator("attend").problem(3, seed)
    rows = [line.split("|") for line in problem.text.splitlines() if line.startswith("| ")][2:]
    key, value = (np.array([numbers_of(row[column]) for row in rows]) for column in (2, 3))
    products = key @ np.array(numbers_of(problem.text.partition("query")[2].partition("]")[0]))
    everybody = np.exp(products / np.sqrt(2))
    assert check_step(problem, 1, typed_by_a_learner(products)).mistake == "forgot-scale"
    assert check_step(problem, 3, typed_by_a_learner(everybody / everybody.sum())).mistake == "looked-ahead"
    assert check_step(problem, 4, typed_by_a_learner(value[:-1].sum(axis=0))).mistake == "summed-values"
    axis = generator("axis").problem(2, seed)
    grid = [line.split("|") for line in axis.text.splitlines() if line.startswith("| ")][2:]
    scores = np.exp([[float(cell) for cell in row[2:-1]] for row in grid])
    asks = [row[1].strip() for row in grid].index(axis.steps[0].question.partition("“")[2].partition("”")[0])
    down = scores / scores.sum(axis=0)
    assert check_step(axis, 0, typed_by_a_learner(down[asks])).mistake == "wrong-axis"
    assert check_step(axis, 0, typed_by_a_learner(scores[asks] / scores[asks].sum())).outcome == "right"


def cat_like() -> Problem:
    return generator("attend").problem(2, 3)


def test_a_wrong_third_step_after_a_right_second_one_is_told_so() -> None:
    problem = cat_like()
    answers = [typed_answer(problem, index) for index in range(len(problem.steps))]
    names = len(problem.steps[2].labels)
    answers[2] = " ".join(["9.99"] * names)
    verdicts = check_all(problem, answers)
    assert [verdict.outcome for verdict in verdicts[:3]] == ["right", "right", "wrong"]
    assert (
        summary(problem, verdicts) == "Steps 1 to 2 are right; step 3 (the exponentials) is the first that goes wrong."
    )


def test_what_follows_rightly_from_a_slip_is_told_so() -> None:
    problem = cat_like()
    first, *others = problem.exact()[0]
    own: list[Answer] = [(first + 0.5, *others)]
    answers = [written(problem.steps[0], own[0])]
    for step in problem.steps[1:]:
        own.append(tuple(round(float(one), 2) for one in step.work(own)))
        answers.append(written(step, own[-1]))
    verdicts = check_all(problem, answers)
    assert [verdict.outcome for verdict in verdicts] == ["wrong", *["follows"] * (len(problem.steps) - 1)]
    assert "the slip is in an earlier step" in verdicts[1].says


def test_a_mistake_made_on_ones_own_numbers_is_still_named() -> None:
    problem = cat_like()
    slip = tuple(one + 0.5 for one in problem.exact()[0])
    answers = [written(problem.steps[0], slip), written(problem.steps[1], slip)]
    assert check_all(problem, answers)[1].mistake == "forgot-scale"


def test_the_numbers_that_are_off_are_named() -> None:
    problem = cat_like()
    scores = list(problem.exact()[1])
    scores[1] += 0.3
    verdict = check_step(problem, 1, written(problem.steps[1], tuple(scores)))
    assert verdict.says == f"Not right for {problem.steps[1].labels[1]}; the others are."


def test_what_everybody_does_is_named_in_any_step() -> None:
    step = Step("the weights", "", lambda done: (0.125, 0.875), "", labels=("a", "b"))
    problem = Problem("", 1, 0, "", (step,))
    assert {mistake.name for mistake in GENERAL} == {"percent", "sign", "reversed"}
    assert check_step(problem, 0, "12.5 87.5").mistake == "percent"
    assert check_step(problem, 0, "12 88").mistake == "percent"
    assert check_step(problem, 0, "12.5% 87.5%").outcome == "right"
    assert check_step(problem, 0, "-0.13 -0.88").mistake == "sign"
    assert check_step(problem, 0, "0.88 0.13").mistake == "reversed"
    assert check_step(problem, 0, "0.1 0.9").outcome == "coarse"
    assert check_step(problem, 0, "1/8, 7/8").outcome == "right"


def test_even_numbers_need_no_rounding_so_none_is_accepted() -> None:
    problem = Problem("", 1, 0, "", (Step("the product", "", lambda done: (7.0,), ""),))
    assert check_step(problem, 0, "7").outcome == "right"
    assert check_step(problem, 0, "7.01").outcome == "wrong"


@given(st.text(max_size=30), kinds, levels, seeds)
def test_whatever_is_typed_gets_a_sentence(typed: str, name: str, level: int, seed: int) -> None:
    verdict = check_step(generator(name).problem(level, seed), 0, typed)
    assert verdict.says.endswith((".", "?"))


@given(kinds, levels, seeds, st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6))
@example("projection", 3, 1, [1e300])
@example("softmax", 3, 1, [1e4])
def test_numbers_that_cannot_be_worked_with_break_nothing(
    name: str, level: int, seed: int, numbers: list[float]
) -> None:
    problem = generator(name).problem(level, seed)
    typed = []
    for step in problem.steps:
        count = len(step.labels) or 1
        typed.append(
            step.options[0] if step.options else " ".join(f"{numbers[i % len(numbers)]:.3f}" for i in range(count))
        )
    assert len(check_all(problem, typed)) == len(problem.steps)


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("0.5 0.5", (0.5, 0.5)),
        ("[0.5, .5]", (0.5, 0.5)),
        ("0.5;0.5", (0.5, 0.5)),
        ("cat 0.5, sat: 0.5", (0.5, 0.5)),
        ("−1 +2", (-1.0, 2.0)),
        ("50 % 1 / 2", None),
        ("1/2 25%", (0.5, 0.25)),
        ("0.5", None),
        ("half half", None),
        ("", None),
        ("1/0 1", None),
        ("nan 1", None),
        ("inf 1", None),
    ],
)
def test_numbers_are_read_as_people_write_them(typed: str, numbers: Answer | None) -> None:
    step = Step("weights", "", lambda done: (0.0, 0.0), "", labels=("cat", "sat"))
    if numbers is None:
        with pytest.raises(Unreadable):
            read_answer(step, typed)
    else:
        assert read_answer(step, typed) == numbers


def test_a_decimal_comma_is_read_where_one_number_is_asked_for() -> None:
    assert read_answer(Step("weight", "", lambda done: (0.0,), ""), "0,38") == (0.38,)


def test_a_word_is_found_by_name_number_letter_or_beginning() -> None:
    words = ("less than a half", "more than a half", "all")
    assert [choose(words, typed) for typed in ("All", "2", "a", "c", "more", '"all"')] == [2, 1, 0, 2, 1, 2]
    with pytest.raises(Unreadable, match="expected one of less than a half, more than a half, all"):
        choose(words, "m o r e")
    with pytest.raises(Unreadable, match="did you mean 'sofa'"):
        choose(("mat", "sofa"), "sofaa")


def test_draws_do_not_change_with_time() -> None:
    # Whoever kept a seed finds the same exercise again: the generator of Python is promised not to change.
    draw = Draw("heedmap/test")
    assert [draw.whole(0, 99) for _ in range(5)] == [1, 26, 61, 69, 75]


def test_the_four_steps_are_those_of_the_arithmetic() -> None:
    for level in (1, 2):
        for seed in SEEDS:
            problem = generator("attend").problem(level, seed)
            lines = [line.split("|")[2:4] for line in problem.text.splitlines() if line.startswith("| ")][2:]
            keys, values = (
                [[float(x) for x in cell.strip(" []").split(",")] for cell in column]
                for column in zip(*lines, strict=True)
            )
            query = [float(x) for x in problem.text.partition("query [")[2].partition("]")[0].split(",")]
            trace = attend(query, keys, values)
            assert trace.exponentials is not None
            for mine, theirs in zip(
                problem.exact(),
                (trace.products, trace.scores, trace.exponentials, trace.weights, trace.output),
                strict=True,
            ):
                assert mine == pytest.approx(tuple(theirs[0]), abs=1e-12)


def test_an_unknown_generator_names_the_others() -> None:
    with pytest.raises(LessonError, match=r"no exercise 'attned': expected one of dot, .*did you mean \"attend\""):
        generator("attned")


def test_every_generator_is_described() -> None:
    page = exercises_page()
    for kind in GENERATORS.values():
        assert f"| `{kind.name}` | {kind.says} |" in page
        assert len(set(kind.levels)) == 3
    assert math.isfinite(len(page))
