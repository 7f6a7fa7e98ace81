"""The course itself: whole, with one glossary, with no figure typed in, and with figures that are those of today."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from docs.build import lesson_tables
from docs.marked import with_part

from heedmap.cli import learn_commands
from heedmap.errors import FileError, LessonError
from heedmap.lessons import blocks
from heedmap.lessons.blocks import Lesson
from heedmap.lessons.check import check_lesson, typed_figures
from heedmap.lessons.course import FOLDER, load_course
from heedmap.lessons.figures import SHIPPED, Calculator, Kept, calls_of, read_figures
from heedmap.lessons.live import REGISTRY, split_call
from heedmap.lessons.read import READERS
from heedmap.reading.model import Model
from tests.lessons.making import EVERYTHING, lesson
from tests.printed import alike

COURSE = load_course()
PROMISED = (
    *("point", "opening", "comparison", "words", "diagram", "checkpoint", "predict", "break", "myth", "mistake"),
    *("trade-off", "exercise", "quiz", "explain", "deeper", "stuck", "reading", "done", "recap", "time"),
)
"""Every part that each lesson has; `blocks.COMPLETE` is what a lesson is checked by."""

FILES = sorted(FOLDER.glob("*.md"))


@pytest.fixture
def models_stay_loaded(smollm2: Model, minilm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"smollm2": smollm2, "minilm": minilm}
    monkeypatch.setattr(learn_commands, "load_once", lambda name, **options: here[name])
    monkeypatch.setattr("heedmap.lessons.live_model.load_once", lambda name, **options: here[name])


def model_calls(course_lesson: Lesson) -> dict[str, int]:
    return {call: line for call, line in calls_of(course_lesson).items() if split_call(call)[0].model}


@pytest.mark.parametrize("course_lesson", COURSE.lessons, ids=lambda one: one.slug)
def test_each_lesson_is_complete(course_lesson: Lesson) -> None:
    assert course_lesson.missing() == []
    assert check_lesson(course_lesson, Calculator(kept=Kept(None))) == []


@pytest.mark.parametrize("course_lesson", COURSE.lessons, ids=lambda one: one.slug)
def test_no_lesson_only_describes(course_lesson: Lesson) -> None:
    """Every part that the course promises, and enough of those that are done rather than read."""
    assert set(course_lesson.kinds) >= set(PROMISED)
    assert len(calls_of(course_lesson)) >= 20, "live numbers"
    wrong = [one for piece in course_lesson.pieces if isinstance(piece, blocks.Checkpoint) for one in piece.wrong]
    assert len(wrong) >= 3, "wrong answers that are recognised"
    quizzes = [piece for piece in course_lesson.pieces if isinstance(piece, blocks.Quiz)]
    assert all(option.reason for quiz in quizzes for option in quiz.options)


def test_every_file_is_a_lesson() -> None:
    assert len(COURSE.lessons) == len(FILES) >= 16


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_figure_is_typed_in(path: Path) -> None:
    assert typed_figures(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_links_are_to_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]*)\)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"https://[\w.-]+/\S*", target), f"{path.name} links to {target}"


def test_one_paper_is_one_link_and_one_title() -> None:
    titles: dict[str, set[str]] = {}
    for path in FILES:
        reading = path.read_text(encoding="utf-8").partition("::: reading")[2]
        for title, target in re.findall(r"\[([^\]]*)\]\(([^)]*)\)", reading):
            titles.setdefault(target, set()).add(" ".join(title.split()))
            if "arxiv" in target:
                assert re.fullmatch(r"https://arxiv\.org/abs/\d{4}\.\d{4,5}", target), f"{path.name}: {target}"
    assert {target: found for target, found in titles.items() if len(found) > 1} == {}
    assert len(titles) > 30


def fits(text: str) -> bool:
    return all(len(line) <= 78 for line in text.split("\n"))  # 80 columns, and the two that drawings are moved


@pytest.mark.parametrize("course_lesson", COURSE.lessons, ids=lambda one: one.slug)
def test_drawings_and_tables_fit_a_terminal(course_lesson: Lesson) -> None:
    calculator = Calculator(kept=Kept(None))
    for piece in course_lesson.pieces:
        if isinstance(piece, blocks.Diagram):
            drawn = calculator.fill_diagram(piece.text, course_lesson, piece.line)
            assert fits(drawn), f"{course_lesson.path.name}:{piece.line}"
        call = getattr(piece, "run", getattr(piece, "call", ""))
        if call and split_call(course_lesson.numbers.get(call, call))[0].name not in ("command", "script"):
            shown = calculator.figure(call, course_lesson, piece.line).text
            assert fits(shown), f"{course_lesson.path.name}:{piece.line}"


def test_lessons_stand_in_order_from_one() -> None:
    assert [one.number for one in COURSE.lessons] == list(range(1, len(COURSE.lessons) + 1))
    assert list(COURSE.glossary) == sorted(COURSE.glossary, key=str.casefold)
    assert COURSE.find("1").slug == "one-word-looks-back"
    assert COURSE.find("one-word").number == 1
    assert COURSE.after(COURSE.lessons[-1]) is None


def test_what_the_package_carries_is_what_the_lessons_ask_for() -> None:
    asked = {call for one in COURSE.lessons for call in model_calls(one)}
    carried = set(read_figures(SHIPPED)) if SHIPPED.exists() else set()
    assert carried == asked, "stale: run `make docs`"


def test_the_documentation_lists_what_there_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lessons.md").read_text(encoding="utf-8")
    for name, body in lesson_tables().items():
        assert with_part(page, name, body) == page, "stale: run `make docs`"
    for kind in (*blocks.PROSE, *READERS):
        assert f"| `{kind}" in page


QUICK = {"heedmap.lessons.live_model", "heedmap.lessons.live_command"}


def is_quick(call: str) -> bool:
    """Whether a figure comes of one forward pass of a small model, and not of an experiment."""
    return split_call(call)[0].work.__module__ in QUICK and not call.startswith("command heedmap lab")


def compare_again(course_lesson: Lesson, calls: dict[str, int]) -> None:
    fresh = Calculator(learn_commands.run_command, Kept(None, shipped=None))
    carried = read_figures(SHIPPED)
    for call, line in calls.items():
        assert alike(fresh.figure(call, course_lesson, line).text, carried[call].text), (
            f"stale: run `make docs` ({call})"
        )


with_models = pytest.mark.parametrize(
    "course_lesson", [one for one in COURSE.lessons if model_calls(one)], ids=lambda one: one.slug
)


@pytest.mark.usefixtures("models_stay_loaded")
@with_models
def test_figures_of_models_are_those_of_today(course_lesson: Lesson) -> None:
    calls = {call: line for call, line in model_calls(course_lesson).items() if is_quick(call)}
    compare_again(course_lesson, dict(list(calls.items())[:1]))


@pytest.mark.slow
@pytest.mark.usefixtures("models_stay_loaded")
@with_models
def test_every_figure_of_models_is_that_of_today(course_lesson: Lesson) -> None:
    compare_again(course_lesson, model_calls(course_lesson))


def test_a_teachers_lesson_is_sorted_in_or_takes_a_place(tmp_path: Path) -> None:
    own = EVERYTHING.replace("key: what", "own key: what").replace("value: what", "own value: what")
    (tmp_path / "90-own.md").write_text(f"# Our own\n\n{own}", encoding="utf-8")
    course = load_course(tmp_path)
    assert [one.number for one in course.lessons] == [*(one.number for one in COURSE.lessons), 90]
    assert course.find("90").title == "Our own"
    replaced = tmp_path / "other"
    replaced.mkdir()
    (replaced / COURSE.lessons[0].path.name).write_text("# Mine\n\nText.\n", encoding="utf-8")
    assert load_course(replaced).find("1").title == "Mine"


def test_a_folder_without_lessons_and_two_of_a_number_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match="holds no lesson: expected files like"):
        load_course(tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        load_course(tmp_path / "none")
    (tmp_path / "01-mine.md").write_text("# Mine\n", encoding="utf-8")
    with pytest.raises(LessonError, match=r"has the number 1 too: rename one"):
        load_course(tmp_path)


def test_one_word_has_one_meaning_in_the_whole_course(tmp_path: Path) -> None:
    (tmp_path / "90-own.md").write_text("# Own\n\n::: words\nquery: something else\n:::\n", encoding="utf-8")
    with pytest.raises(LessonError, match=r"90-own.md:3: the word 'query' is already explained in lesson 1"):
        load_course(tmp_path)


def test_broken_files_are_all_named(tmp_path: Path) -> None:
    (tmp_path / "90-a.md").write_text("# A\n\n::: tme 5\n:::\n", encoding="utf-8")
    (tmp_path / "91-b.md").write_text("# B\n\n::: point\n", encoding="utf-8")
    with pytest.raises(LessonError) as caught:
        load_course(tmp_path)
    assert "90-a.md:3:" in str(caught.value)
    assert "91-b.md:3:" in str(caught.value)


def test_no_lesson_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LessonError, match=r"no lesson 'one-wrod-looks-back'.*did you mean"):
        COURSE.find("one-wrod-looks-back")
    with pytest.raises(LessonError, match="no lesson '99': expected a number from 1 to"):
        COURSE.find("99")


WRONG = [
    ("Text {{wieght cat cat}}.", 3, "no computation 'wieght'"),
    ("Text.\n\nMore {{weight cat dog}}.", 5, 'no token "dog"'),
    ("::: live table dog\n:::", 3, 'no example "dog"'),
    ("::: numbers\na = share nothing\n:::", 3, "expected a number"),
    ('::: view "The cat" model=gpt5\n:::', 3, "no model 'gpt5' in lessons"),
    ("::: exercise attned 1\n:::", 3, "no exercise 'attned'"),
    ("::: code sofmax\nWrite.\n:::", 3, "no function 'sofmax'"),
    ("::: languages rotate\n:::", 3, "no function 'rotate'"),
    (
        "::: predict a\nWhich?\n- dog\n- bird\nanswer: {{largest cat}}\nrun: table cat\nthen: so\n:::",
        3,
        "what happens is 'cat', which is none of the 2",
    ),
    ("::: predict a\nHow?\nanswer: {{largest cat}}\nrun: table cat\nthen: so\n:::", 3, "a number is to be predicted"),
    (
        "::: checkpoint a\nHow?\nanswer: {{weight cat cat}}\nwrong {{share 3}}: no\nwrong {{weight cat cat}}: no\n:::",
        3,
        "which counts as right",
    ),
    (
        "::: checkpoint a\nHow?\nanswer: {{weight cat cat}}\nwrong cat: no\n:::",
        3,
        "must both be numbers, or both words",
    ),
]


@pytest.mark.parametrize(("body", "line", "says"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_computed_or_answered_is_named_with_its_line(body: str, line: int, says: str) -> None:
    problems = check_lesson(lesson(body), Calculator())
    assert len(problems) == 1
    assert problems[0].startswith(f"01-a-lesson.md:{line}: ")
    assert says in problems[0]


def test_a_drawing_keeps_its_columns() -> None:
    made = lesson("::: diagram A\n{{weight cat cat}}|\n{{largest cat}}|\n:::")
    drawn = Calculator().fill_diagram("{{weight cat cat}}|\n{{largest cat}}|", made, 3)
    assert drawn == f"{'0.38':18}|\n{'cat':15}|"


def test_figures_are_shown_as_they_are_in_markdown() -> None:
    filled = Calculator().fill("It is {{query cat}}, *so*.", lesson("x"), 1)
    assert filled == r"It is \[1.0, 0.6\], *so*."


def test_a_name_inside_a_call_stands_for_its_figure() -> None:
    made = lesson("::: numbers\nhalf = share 2\nonce = dot @half,1 1,@half\nown = dot @own 1\n:::\n")
    assert Calculator().figure("dot @half 4", made, 3).value == 2
    assert Calculator().figure("once", made, 3).value == 1
    assert Calculator().in_full("dot @once @half", made) == "dot 1 0.500"
    for call in ("own", "dot @nobody 1"):
        with pytest.raises(LessonError, match=r'01-a-lesson.md:3: .*found the text "@'):
            Calculator().figure(call, made, 3)


def test_what_needs_a_model_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []

    def run(arguments: list[str]) -> str:
        ran.append(arguments)
        return "printed\n"

    told: list[str] = []
    calculator = Calculator(run, Kept(None, shipped=None), told.append)
    made = lesson("::: live command heedmap next 'a b'\n:::")
    for _ in range(3):
        assert calculator.figure("command heedmap next 'a b'", made, 3).text == '$ heedmap next "a b"\nprinted'
    assert ran == [["next", "a b"]]
    assert told == ["computing: command heedmap next 'a b'"]
    assert all(REGISTRY.known[name].model for name in ("command", "looks", "odds", "tokens"))
