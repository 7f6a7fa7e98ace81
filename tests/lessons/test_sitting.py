"""Lessons at a terminal: read page by page, questions answered, everything kept, going on where one left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedmap.lessons.blocks import Lesson
from heedmap.lessons.course import load_course
from heedmap.lessons.exercises.problem import typed_answer
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import SHIPPED, read_figures
from tests.lessons.making import EVERYTHING
from tests.lessons.terminal import Terminal, terminal

GO_ON = "Enter goes on, q leaves: "
ANSWER = "your answer (? for a hint, Enter to skip): "


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Where progress and cache are in these tests."""
    return {"HEEDMAP_LEARN": str(tmp_path / "learn"), "HEEDMAP_CACHE": str(tmp_path / "cache")}


def kept(home: dict[str, str], slug: str) -> Any:
    content = json.loads((Path(home["HEEDMAP_LEARN"]) / "progress.json").read_text(encoding="utf-8"))
    return content["lessons"][slug]


def own_lesson(tmp_path: Path) -> Path:
    """A folder with a lesson that has every kind of block."""
    folder = tmp_path / "own"
    folder.mkdir()
    # Its words are those of the course: another glossary would be refused.
    text = EVERYTHING.replace("key: what", "own key: what").replace("value: what", "own value: what")
    (folder / "90-own.md").write_text(f"# Our own\n\n{text}", encoding="utf-8")
    return folder


def test_a_lesson_is_read_left_and_gone_on_with(home: dict[str, str]) -> None:
    slug = "one-word-looks-back"
    with terminal(["learn", "1"], home) as screen:
        screen.wait("One word looks back  (1/")
        screen.wait("about 25 minutes")
        screen.wait(GO_ON)
        screen.type("")
        screen.wait("What each word has  (2/")
        screen.wait(GO_ON)
        screen.type("")
        came = screen.wait(ANSWER)
        assert "1.0·1.0 + 0.6·0.8 = 1.48" in came
        screen.type("1.02")
        assert "You crossed over" in screen.wait(ANSWER)
        screen.type("?")
        assert "First number times first number" in screen.wait("your answer: ")
        screen.type("0.74")
        screen.wait("Right.")
        screen.wait(GO_ON)
        screen.type("q")
        code, rest = screen.end()
        assert code == 0
        assert "`heedmap learn 1` goes on from here" in rest
    assert kept(home, slug)["checkpoints"]["product-sat"] == {"right": True, "answer": "0.74", "tries": 2}
    with terminal(["learn", "1"], home) as screen:
        screen.wait("going on with page 3 of")
        screen.wait("Step 1: compare  (3/")
        screen.wait(ANSWER)
        screen.key("\x04")  # Ctrl-D leaves as well
        assert screen.end()[0] == 0
    assert kept(home, slug)["page"] == 2


def test_a_prediction_is_kept_and_compared(home: dict[str, str], tmp_path: Path) -> None:
    folder = own_lesson(tmp_path)
    with terminal(["learn", "90", "--page", "2", "--lessons", str(folder)], home) as screen:
        work_through(screen)
        code, rest = screen.end()
        assert code == 0
        assert "the end of lesson 90: 5 of 7 goals are ticked" in rest
    done = kept(home, "own")
    assert done["predictions"]["second"] | {"when": ""} == {
        "said": "The",
        "was": "cat",
        "right": False,
        "when": "",
        "tries": 1,
    }
    assert done["guesses"] == {"No softmax": "it explodes"}
    assert done["explain"] == "words look back\nand blend"
    assert done["quiz"]["third"] == {"right": True, "answer": "2", "tries": 2}
    assert done["exercises"] == {"attend 1": 1}
    assert done["read"] is True
    with terminal(["learn", "90", "--page", "2", "--lessons", str(folder)], home) as screen:
        screen.wait(ANSWER)
        screen.type("")
        came = screen.wait("What will go wrong?")
        assert "you predicted: The" in came
        assert "Not what you predicted: you said The, it was cat." in came


def test_a_late_lesson_is_asked_wrong_hint_right(home: dict[str, str]) -> None:
    with terminal(["learn", "12", "--page", "2"], home) as screen:
        came = screen.wait(ANSWER)
        assert "You would show layer 16, head 3" in " ".join(came.split())
        screen.type(carried("picked-weight size-trophy trophy"))
        assert "Take the other noun's weight away." in " ".join(screen.wait(ANSWER).split())
        screen.type("?")
        assert 'The weight on "trophy" minus' in screen.wait("your answer: ")
        screen.type(carried("picked-lead size-trophy"))
        screen.wait("Right.")
        screen.wait(GO_ON)
        screen.type("q")
        assert screen.end()[0] == 0
    assert kept(home, "the-head-i-picked")["checkpoints"]["lead"]["tries"] == 2


def carried(call: str) -> str:
    """A figure of a model as the package carries it."""
    return read_figures(SHIPPED)[call].text


@pytest.mark.slow
@pytest.mark.parametrize("course_lesson", load_course().lessons, ids=lambda one: one.slug)
def test_every_lesson_is_read_to_its_end_by_who_answers_nothing(home: dict[str, str], course_lesson: Lesson) -> None:
    with terminal(["learn", str(course_lesson.number)], home) as screen:
        screen.wait(GO_ON)
        for _ in range(150):
            screen.type("")  # typed ahead: read one after the other
        code, rest = screen.end()
        assert code == 0
        assert f"the end of lesson {course_lesson.number}" in rest
        assert "Traceback" not in rest
    assert kept(home, course_lesson.slug)["read"] is True


def work_through(screen: Terminal) -> None:
    """Every question on the second page of the lesson with every kind of block."""
    screen.wait(ANSWER)
    screen.type("1.48")
    assert "That is the product." in screen.wait(ANSWER)
    screen.type("0.38")
    screen.wait("your prediction (Enter to run without one): ")
    screen.type("neither")
    assert "expected one of The, cat" in screen.wait("your prediction (Enter to run without one): ")
    screen.type("the")
    screen.wait("You said: The. Running it ...")
    came = screen.wait("What will go wrong?")
    assert "asks with the query" in came
    assert "Not what you predicted: you said The, it was cat." in came
    screen.type("it explodes")
    assert "The sum is 2.28." in screen.wait("y works one now (0 solved), Enter goes on: ")
    screen.type("y")
    problem = generator("attend").problem(1, 1)
    for index in range(len(problem.steps)):
        screen.wait("your answer (? for a hint, Enter to be shown): ")
        screen.type(typed_answer(problem, index))
    screen.wait("Solved.")
    screen.wait("y works one now (1 solved), Enter goes on: ")
    screen.type("")
    came = screen.wait("your answer (Enter to skip): ")
    assert "def softmax(" in came
    assert "function softmax(" in came
    assert "static void softmax(" in came
    screen.type("1")
    assert "Not this one." in screen.wait("your answer (Enter to skip): ")
    screen.type("2")
    screen.wait("Right.")
    screen.wait("> ")
    screen.type("words look back")
    screen.wait("> ")
    screen.type("and blend")
    screen.wait("> ")
    screen.type("")
    screen.wait("A good answer holds:")


@pytest.mark.slow
def test_an_exercise_is_worked_with_hints_and_shown_when_nothing_helps(home: dict[str, str]) -> None:
    ask = "your answer (? for a hint, Enter to be shown): "
    problem = generator("scale").problem(3, 5)
    product = ", ".join(part.strip().split()[-1] for part in problem.text.partition(": ")[2].rstrip(".").split(","))
    with terminal(["learn", "exercise", "scale", "3", "--seed", "5"], home) as screen:
        screen.wait("exercise scale, level 3, number 5")
        screen.wait(ask)
        screen.type("?")
        screen.wait("√")
        screen.wait(ask)
        screen.type(product)
        assert "You forgot to divide by √d" in " ".join(screen.wait(ask).split())
        screen.type(typed_answer(problem, 0))
        screen.wait("Right.")
        screen.wait(ask)
        screen.type("")
        screen.wait(f"It is: {problem.shown(1)}")
        code, rest = screen.end()
        assert code == 0
        assert "Worked through" in rest


@pytest.mark.slow
def test_a_quiz_alone(home: dict[str, str]) -> None:
    with terminal(["learn", "quiz", "1"], home) as screen:
        screen.wait('Why does "cat" get the largest weight')
        screen.wait("your answer (Enter to skip): ")
        screen.type("3")
        assert "Not this one." in screen.wait("your answer (Enter to skip): ")
        screen.type("b")
        screen.wait("Right.")
        for _ in range(2):
            screen.wait("your answer (Enter to skip): ")
            screen.type("")
        assert "0 of 3 right at once" in screen.end()[1]


def test_ctrl_c_leaves_with_130_and_keeps_what_was_done(home: dict[str, str]) -> None:
    with terminal(["learn", "1"], home) as screen:
        screen.wait(GO_ON)
        screen.type("")
        screen.wait(GO_ON)
        code, rest = screen.interrupt()
        assert code == 130
        assert "interrupted" in rest
        assert "Traceback" not in rest
    assert kept(home, "one-word-looks-back")["page"] == 1


@pytest.mark.slow
def test_a_narrow_terminal_without_colour_or_unicode_still_shows_it(home: dict[str, str]) -> None:
    plain = {**home, "NO_COLOR": "1", "PYTHONIOENCODING": "ascii", "TERM": "dumb"}
    with terminal(["learn", "1"], plain, columns=40) as screen:
        came = screen.wait(GO_ON)
        assert "\x1b[" not in screen.seen
        assert came.isascii()
        screen.type("q")
        assert screen.end()[0] == 0
