"""`heedmap learn` without a dialogue: lists, whole lessons, answers, exercises, checks, and one-line errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heedmap.cli.main import main
from heedmap.lessons.course import load_course
from heedmap.lessons.exercises.problem import typed_answer
from heedmap.lessons.exercises.registry import GENERATORS, generator
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDMAP_LEARN", str(tmp_path / "learn"))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def learn(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> Run:
        capsys.readouterr()
        code = main(["learn", *arguments])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


def test_the_lessons_are_listed_with_what_was_done(learn: Any) -> None:
    first = learn()
    assert first.code == 0
    assert len(first.out.splitlines()) == len(load_course().lessons)
    assert first.out.splitlines()[0].split() == ["1", "One", "word", "looks", "back", "25", "min"]
    assert "`heedmap learn 1` begins with “One word looks back”" in first.err
    learn("answer", "1", "sharper", "4")
    again = learn()
    assert "1/6 goals" in again.out.splitlines()[0]
    assert "`heedmap learn 1` goes on with" in again.err


def test_the_list_as_json(learn: Any) -> None:
    learn("answer", "1", "score-sat", "0.52")
    listed = learn("--json").json
    assert listed["schema"] == "heedmap/course/1"
    assert listed["last"] == "one-word-looks-back"
    first = listed["lessons"][0]
    assert first["done"]["checkpoints"]["score-sat"]["right"] is True
    assert [goal["done"] for goal in first["goals"]] == [False] * 6
    assert first["point"].startswith("A word asks a question")


def test_a_lesson_is_printed_where_nobody_can_be_asked(learn: Any) -> None:
    whole = learn("1")
    assert whole.code == 0
    assert "One word looks back  (1/" in whole.out
    assert "2.85 / 7.50 = 0.38" in whole.out
    assert "answer: 0.52" not in whole.out
    assert "\x1b[" not in whole.out
    page = learn("1", "--page", "4")
    assert page.out.splitlines()[0].startswith("Step 2: scale  (4/")
    assert page.out.strip() in whole.out
    assert "answer: 0.52" in learn("read", "one-word", "--answers").out
    assert learn("1", "--page", "99").err == "heedmap: lesson 1 has 12 pages, there is no page 99: take 1 to 12\n"


def test_an_answer_is_told_and_kept(learn: Any) -> None:
    wrong = learn("answer", "1", "score-sat", "0.74")
    assert (wrong.code, wrong.out.strip()) == (3, "That is the product itself. You forgot to divide by √2.")
    right = learn("answer", "1", "score-sat", "0.52", "--json").json
    assert (right["right"], right["says"], right["mistake"]) == (True, "Right.", None)
    quiz = learn("answer", "1", "change-a-value", "1")
    assert quiz.code == 3
    assert quiz.out.startswith("Not this one. No: the weight is made of queries and keys.")
    prediction = learn("answer", "1", "sharper", "less than a quarter")
    assert prediction.code == 0
    assert "it was nearly all of" in prediction.out
    assert learn("answer", "1", "sharper", "4", "--json").json["said"] == "less than a quarter"
    assert "asks no 'sharp'" in learn("answer", "1", "sharp", "4").err
    assert learn("answer", "1", "sharper", "maybe").code == 0, "a prediction that was made is not made again"


def test_exercises_are_listed_printed_and_checked(learn: Any) -> None:
    assert len(learn("exercise").out.splitlines()) == len(GENERATORS)
    assert [one["name"] for one in learn("exercise", "--json").json["exercises"]] == list(GENERATORS)
    printed = learn("exercise", "attend", "2", "--seed", "3")
    assert (printed.code, printed.err) == (0, "exercise attend, level 2, number 3\n")
    assert "asks with the query" in printed.out
    problem = generator("attend").problem(2, 3)
    answers = [part for index in range(5) for part in ("--answer", typed_answer(problem, index))]
    right = learn("exercise", "attend", "2", "--seed", "3", *answers)
    assert (right.code, right.out.splitlines()[-1]) == (0, "All steps are right.")
    answers[5] = "9 9 9"
    wrong = learn("exercise", "attend", "2", "--seed", "3", *answers)
    assert wrong.code == 3
    assert wrong.out.splitlines()[-1].startswith("Steps 1 to 2 are right; step 3 (the exponentials) is the first")
    as_json = learn("exercise", "attend", "2", "--seed", "3", "--json", "--solution", *answers).json
    assert [step["verdict"]["outcome"] for step in as_json["steps"]] == ["right", "right", "wrong", "right", "right"]
    assert as_json["steps"][0]["answer"] == list(problem.exact()[0])
    assert problem.shown(0) in learn("exercise", "attend", "2", "--seed", "3", "--solution").out


def test_code_is_checked_and_remembered(learn: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from math import exp\ndef softmax(xs):\n    e = [exp(x - max(xs)) for x in xs]\n"
        "    return [x / sum(e) for x in e]\n"
    )
    right = learn("check", str(path))
    assert right.code == 0
    assert "ok       softmax: right in all 5 cases." in right.out
    assert "-        attend: not there yet: write attend(query, keys, values)." in right.out
    assert learn("--json").json["lessons"][0]["done"]["code"] == ["softmax"]
    path.write_text("print('\x1b[31mred')\ndef attend(q, k, v):\n    return v[0]\n")
    wrong = learn("check", str(path), "--function", "attend", "--json")
    assert wrong.code == 3
    (found,) = wrong.json["functions"]
    assert (found["outcome"], found["step"]) == ("wrong", "output")
    shown = learn("check", str(path))
    assert "\x1b" not in shown.err, "what the code printed is shown as text"
    assert "red" in shown.err
    assert learn("check", str(tmp_path / "none.py")).err.startswith("heedmap: there is no file")
    assert learn("check", "lesson.txt").code == 2


def test_a_lesson_file_is_checked(learn: Any, tmp_path: Path) -> None:
    path = tmp_path / "17-mine.md"
    path.write_text("# Mine\n\nIt is {{weight cat cat}}, or 0.4.\n", encoding="utf-8")
    fine = learn("check", str(path))
    assert fine.code == 0
    assert "lesson 17, “Mine”: 1 blocks, nothing wrong" in fine.out
    assert "would also have: point (0 of 1), opening (0 of 1)" in fine.err
    assert f"{path}:3: a lesson of the course would compute 0.4" in fine.err
    path.write_text("# Mine\n\nIt is\n{{weight cat dog}}.\n\n::: time soon\n:::\n", encoding="utf-8")
    broken = learn("check", str(path))
    assert broken.code == 1
    assert broken.err.startswith(f"heedmap: {path}:6: expected `::: time 25`")
    path.write_text("# Mine\n\nIt is\n{{weight cat dog}}.\n", encoding="utf-8")
    assert learn("check", str(path)).err.startswith(f'heedmap: {path}:4: `weight cat dog`: no token "dog"')


def test_the_glossary(learn: Any) -> None:
    assert learn("words", "KEY").out.startswith("key: the vector a word is found by")
    every = learn("words", "--json").json["words"]
    assert [one["word"] for one in every] == list(load_course().glossary)
    assert "does not explain 'kye'; did you mean \"key\"" in learn("words", "kye").err


def test_forgetting_is_asked_first(learn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learn("answer", "1", "score-sat", "0.52")
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: "n")
    assert learn("forget").code == 130
    assert learn("--json").json["lessons"][0]["done"]
    assert learn("forget", "1", "--yes").code == 0
    assert learn("--json").json["lessons"][0]["done"] == {}


def test_notebooks_are_exported(learn: Any, tmp_path: Path) -> None:
    done = learn("export", "--notebook", str(tmp_path / "out"), "--lesson", "1", "--answers")
    assert (done.code, done.err) == (0, f"1 notebooks in {tmp_path / 'out'}\n")
    assert json.loads((tmp_path / "out" / "01-one-word-looks-back.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4
    assert learn("export").code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nine"], "no lesson 'nine'"),
        (["exercise", "attned"], 'did you mean "attend"'),
        (["exercise", "attend", "4"], "is not in the range 1<=x<=3"),
        (["--lessons", "/nowhere"], "there is no folder /nowhere"),
        (["quiz", "99"], "no lesson '99'"),
    ],
)
def test_errors_are_lines(learn: Any, arguments: list[str], says: str) -> None:
    result = learn(*arguments)
    assert result.code in (1, 2)
    assert says in result.err
    assert "Traceback" not in result.err


def test_answers_come_from_a_pipe_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heedmap", "learn", "quiz", "1"]
    result = subprocess.run(command, input="2\n2\n3\n", capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "3 of 3 right at once"
