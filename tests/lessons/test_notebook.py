"""Notebooks: every one can be run from top to bottom, and the answers are those that are right."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from heedmap.cli import learn_commands
from heedmap.errors import LessonError
from heedmap.lessons import classroom
from heedmap.lessons.course import load_course
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.notebook import write_notebooks
from tests.lessons.making import EVERYTHING, lesson


def cells(path: Path, kind: str) -> list[str]:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == kind]


def run(path: Path) -> list[str]:
    """What each code cell prints, run in this process; commands are left out."""
    names: dict[str, Any] = {}
    printed = []
    for source in cells(path, "code"):
        if source.startswith("!"):
            continue
        page = io.StringIO()
        with contextlib.redirect_stdout(page):
            exec(compile(source, str(path), "exec"), names)
        printed.append(page.getvalue())
    return printed


@pytest.fixture(autouse=True)
def _own_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDMAP_LEARN", str(tmp_path / "learn"))


def test_a_teachers_notebook_answers_rightly(tmp_path: Path) -> None:
    (path,) = write_notebooks(tmp_path / "new", [load_course().lessons[0]], Calculator(), answers=True)
    printed = run(path)
    text = "\n".join(printed)
    assert text.count("Right.") >= 4
    assert "All steps are right." in text
    assert "wrong" not in text.lower().replace("the wrong", "")
    assert any("**wrong**" in source for source in cells(path, "markdown"))


def test_a_learners_notebook_holds_no_answers_and_says_what_to_do(tmp_path: Path) -> None:
    (path,) = write_notebooks(tmp_path, [load_course().lessons[0]], Calculator())
    assert "learn.answer(1, 'score-sat', '')" in cells(path, "code")
    assert sum(classroom.NOTHING in one for one in run(path)) >= 8
    assert not any("**right**" in source for source in cells(path, "markdown"))


def test_every_kind_of_block_becomes_a_cell(tmp_path: Path) -> None:
    text = EVERYTHING.replace("run: table cat\n", "run: command heedmap next 'a b' | head -3\n")
    calculator = Calculator(lambda arguments: "x\n", Kept(None, shipped=None))
    (path,) = write_notebooks(tmp_path, [lesson(text)], calculator, answers=True)
    code, texts = cells(path, "code"), "\n".join(cells(path, "markdown"))
    assert "!{sys.executable} -m heedmap next 'a b'" in code
    assert "learn.live('table cat')" in code
    assert any("hm.load('smollm2').read('The cat sat', values=True)" in one for one in code)
    for said in (
        "The point",
        "A meeting",
        "New words",
        "0.38",
        "function softmax(",
        "- [ ] answer",
        "heedmap learn check",
    ):
        assert said in texts
    assert "{{" not in texts


def test_a_cell_computes_what_the_lesson_does_without_its_short_names(tmp_path: Path) -> None:
    made = lesson("::: numbers\nhalf = share 2\n:::\n\n::: live softmax-table 2,@half\n:::\n")
    (path,) = write_notebooks(tmp_path, [made], Calculator())
    assert "learn.live('softmax-table 2,0.500')" in cells(path, "code")


def test_cells_check_what_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    classroom.answer(1, "score-sat", "0.74")
    assert "forgot to divide by √2" in capsys.readouterr().out
    classroom.answer(1, "sharper", "1")
    out = capsys.readouterr().out
    assert out.startswith("Not as predicted: you said less than a quarter, it was nearly all of it.")
    assert "asks with the query" in out
    classroom.answer(1, "sharper", "4")
    assert "you said less than a quarter" in capsys.readouterr().out, "a prediction is made once"
    classroom.check("scale", 1, 3, "-0.8")
    assert capsys.readouterr().out == "1. Right.\nAll steps are right.\n"
    with pytest.raises(LessonError, match=r"asks no 'scoer-sat'.*did you mean"):
        classroom.answer(1, "scoer-sat", "1")


@pytest.mark.slow
@pytest.mark.parametrize("course_lesson", load_course().lessons, ids=lambda one: one.slug)
def test_every_notebook_runs_in_jupyter(course_lesson: Any, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    (path,) = write_notebooks(tmp_path, [course_lesson], learn_commands.calculator(), answers=True)
    notebook: Any = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    text = json.dumps(notebook)
    assert "All steps are right." in text
    assert "heedmap: " not in text, "a command failed"
