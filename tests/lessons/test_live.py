"""Live numbers: a closed set, computed by the arithmetic, with errors that name the call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from heedmap.arithmetic import example, softmax
from heedmap.arithmetic.steps import Softmax, softmax_rows
from heedmap.errors import LessonError
from heedmap.lessons.course import load_course
from heedmap.lessons.figures import Calculator, calls_of
from heedmap.lessons.live import REGISTRY, compute, split_call
from heedmap.lessons.show import Shower, pages

CAT = example("cat").attend()


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("product cat cat", CAT.products[0, 1]),
        ("score cat sat", CAT.scores[0, 2]),
        ("score cat sat scale=0.5", CAT.products[0, 2] / 2),
        ("exponential cat The", np.exp(CAT.scores[0, 0])),
        ("total cat", np.exp(CAT.scores).sum()),
        ("weight cat it", CAT.weights[0, 3]),
        ("weights-sum cat", 1.0),
        ("weights-sum cat softmax=no", CAT.scores.sum()),
        ("output cat 1", CAT.output[0, 1]),
        ("output cat 1 value.sat=-0.5,2", example("cat").inputs.with_value("sat", [-0.5, 2]).attend().output[0, 1]),
        ("weight cat The key.The=2,1", example("cat").inputs.with_key("The", [2, 1]).attend().weights[0, 0]),
        ("weight cat sat query=0,1", example("cat").inputs.with_query(None, [0, 1]).attend().weights[0, 2]),
        ("weight paris-all is asks=Paris", example("paris-all").attend().weights[3, 2]),
        ("weight paris-all is asks=Paris causal=yes", example("paris-all").attend(causal=True).weights[3, 2]),
        (
            "weight paris is set.is=0.95,0.05",
            example("paris").inputs.with_vector("is", [0.95, 0.05]).attend().weights[0, 2],
        ),
        ("root 64", 8.0),
        ("share 4", 0.25),
        ("dot 2,1,0 3,1,4", 7.0),
        ("power 1", math.e),
        ("softmax 2,1,0 1", softmax([2, 1, 0]).weights[1]),
        ("average 10,20,40 0.5,0.25,0.25", 20.0),
        ("cell 1,2;3,4 5,6;7,8 1 0", 43.0),
        ("slope 2,1,0 0 0", softmax([2, 1, 0]).weights[0] * (1 - softmax([2, 1, 0]).weights[0])),
        ("slope 2,1,0 0 1", -softmax([2, 1, 0]).weights[0] * softmax([2, 1, 0]).weights[1]),
    ],
)
def test_numbers_are_those_of_the_arithmetic(call: str, value: float) -> None:
    assert compute(call).value == pytest.approx(value, abs=1e-12)


def test_products_spread_with_the_root_of_the_width() -> None:
    # Mean 0 and spread 1 in each number give a spread of √d; 10,000 pairs estimate it to about a percent.
    for dim in (4, 64, 128):
        assert compute(f"spread {dim}").value == pytest.approx(math.sqrt(dim), rel=0.04)
        assert compute(f"spread {dim} scaled=yes").value == pytest.approx(1.0, rel=0.04)


def test_slopes_are_those_of_a_small_change() -> None:
    scores, step = np.array([0.7, -0.2, 1.1]), 1e-6
    for i in range(3):
        for j in range(3):
            more, less = scores.copy(), scores.copy()
            more[j] += step
            less[j] -= step
            slope = (softmax(more).weights[i] - softmax(less).weights[i]) / (2 * step)
            assert compute(f"slope 0.7,-0.2,1.1 {i} {j}").value == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("wieght cat cat", "no computation 'wieght'.*did you mean \"weight\""),
        ("", "expected a computation, found nothing"),
        ("weight cat", "expected a token, found nothing.*written `weight EXAMPLE TOKEN"),
        ("weight dog cat", 'no example "dog"'),
        ("weight cat dog", 'no token "dog"'),
        ("weight cat cat cat", "cat is too much"),
        ("weight cat cat colour=red", "colour=red is too much"),
        ("weight cat cat digits=many", "option digits"),
        ("weight cat cat digits=2 digits=3", "stands twice"),
        ("weight cat cat softmax=maybe", "expected yes or no, found 'maybe'"),
        ("weight cat cat key.The=a,b", "found"),
        ("weight paris-all is", "several words ask: say which with asks=capital"),
        ("exponential cat cat softmax=no", "without softmax there are no exponentials"),
        ("output cat 2", "index from 0 to 1, found 2"),
        ("softmax 1,2 5", "index from 0 to 1, found 5"),
        ("dot 1,2 3", "expected 2 numbers"),
        ("spread 0", "width from 1 to 4096"),
        ('weight "cat', "cannot be read: no closing quotation"),
        ("share 0", "at least 1"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(call: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        compute(call)


@pytest.mark.parametrize(
    "call",
    [
        "command rm -rf /",
        "command heedmap models get smollm2",
        "command heedmap serve",
        "command heedmap read @/etc/passwd",
        "command heedmap read - --word it",
        "command heedmap map text -o file.png",
        "command heedmap map text --output=file.png",
        "command heedmap read text | tee file",
        "command heedmap",
    ],
)
def test_commands_that_write_or_fetch_are_refused(call: str) -> None:
    ran: list[list[str]] = []

    def recorded(arguments: list[str]) -> str:
        ran.append(arguments)
        return ""

    with pytest.raises(LessonError):
        compute(call, run_command=recorded)
    assert ran == []


def test_a_command_is_shown_above_what_it_prints() -> None:
    figure = compute(
        "command heedmap read 'a b' --word b | head -1", run_command=lambda arguments: f"{arguments}\nmore\n"
    )
    assert figure.text == "$ heedmap read \"a b\" --word b | head -1\n['read', 'a b', '--word', 'b']\n..."


def test_text_is_never_run() -> None:
    for text in ("__import__('os').system('true')", "1+1", "$(true)", "{weight cat cat}"):
        with pytest.raises(LessonError):
            compute(text)


def test_every_computation_is_told_in_its_usage() -> None:
    for computation in REGISTRY.known.values():
        assert computation.usage
        assert computation.says


def shown() -> str:
    """All of lesson 1 with its answers, as text."""
    from heedmap.drawing.terminal import to_text

    lesson = load_course().find("1")
    shower = Shower(lesson, Calculator(), "utf-8", answers=True)
    return "\n".join(to_text(shower.piece(piece, {})) for page in pages(lesson) for piece in page.pieces)


def of_base_two(scores: Any, allowed: Any) -> Softmax:
    """Softmax as somebody might break it."""
    return softmax_rows(np.where(allowed, scores * math.log(2), scores), allowed)


def figures_of(number: str) -> dict[str, str]:
    """Every figure of a lesson that needs no model."""
    lesson, calculator = load_course().find(number), Calculator()
    calls = {call: line for call, line in calls_of(lesson).items() if not split_call(call, lesson.numbers)[0].model}
    return {call: calculator.figure(call, lesson, line).text for call, line in calls.items()}


@pytest.mark.parametrize("number", ["1", "3", "5", "6", "14", "16"])
def test_a_change_in_the_arithmetic_changes_every_lesson_that_uses_it(
    number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = figures_of(number)
    monkeypatch.setattr("heedmap.arithmetic.attention.softmax_rows", of_base_two)
    after = figures_of(number)
    assert sum(after[call] != before[call] for call in before) >= 3


def test_code_keeps_the_ends_of_its_lines_in_a_terminal() -> None:
    assert "scale=1/Math.sqrt(query.length)){" in "".join(shown().split()), "a line of JavaScript longer than 80"


def test_a_change_in_the_arithmetic_changes_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown()
    assert "2.85 / 7.50 = 0.38" in before

    monkeypatch.setattr("heedmap.arithmetic.attention.softmax_rows", of_base_two)
    after = shown()
    assert "2.85 / 7.50 = 0.38" not in after
    weight = compute("weight cat cat").text
    assert weight != "0.38"
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert len(changed) > 20
    assert any(weight in line for line in changed)
