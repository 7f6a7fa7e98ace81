"""Writes the site: a list of lessons, the glossary, and a file for each lesson."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedmap.drawing.page.bundle import load_bundle
from heedmap.files import write_beside
from heedmap.lessons.blocks import Lesson, Words
from heedmap.lessons.figures import Calculator
from heedmap.lessons.show import pages
from heedmap.lessons.site.data import lesson_data
from heedmap.lessons.site.maps import maps_of
from heedmap.lessons.site.page import Program, inside, link, parts, render
from heedmap.lessons.site.pieces import PieceWriter
from heedmap.lessons.site.text import escaped, inline

COURSE = "The course"


def write_site(folder: Path, lessons: Sequence[Lesson], calculator: Calculator, *, answers: bool = False) -> list[Path]:
    """Write the course as a site that works from a folder.

    Args:
        folder: where to; it is made where it is not there.
        lessons: which, in order.
        calculator: computes their figures.
        answers: whether questions come with their answers, for a teacher.

    Returns:
        The files written.

    Raises:
        FileError: the folder cannot be written, or the viewer's program is not built here.
        ModelError: a model that a lesson shows cannot be loaded.
    """
    program = inside(load_bundle(name="course"))
    folder.mkdir(parents=True, exist_ok=True)
    made = {"index.html": index_page(program, lessons), "words.html": words_page(program, lessons, calculator)}
    for lesson in lessons:
        made[file_name(lesson)] = lesson_page(program, lesson, lessons, calculator, answers=answers, maps=True)
        made.update(maps_of(lesson))
    written = []
    for name, text in made.items():
        with write_beside(folder / name) as beside:
            beside.write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def file_name(lesson: Lesson) -> str:
    """The name of a lesson's page."""
    return f"{lesson.number:02}-{lesson.slug}.html"


def lesson_page(
    program: Program,
    lesson: Lesson,
    lessons: Sequence[Lesson],
    calculator: Calculator,
    *,
    answers: bool = False,
    maps: bool = False,
) -> str:
    """The page of one lesson, whole.

    Args:
        program: the course's program and style.
        lesson: which.
        lessons: all of them, for the links.
        calculator: computes its figures.
        answers: whether questions come with their answers.
        maps: whether the pages of its real models stand beside it.
    """
    writer = PieceWriter(lesson, calculator, answers=answers, maps=maps)
    body = parts([(page.title, [writer.html(piece) for piece in page.pieces]) for page in pages(lesson)])
    place = list(lessons).index(lesson)
    before = lessons[place - 1] if place else None
    after = lessons[place + 1] if place + 1 < len(lessons) else None
    neighbours = "".join(
        f"<span>{way} {link(file_name(one), f'{one.number} {one.title}')}</span>"
        for way, one in (("before:", before), ("next:", after))
        if one is not None
    )
    return render(
        program,
        title=f"{lesson.number} {lesson.title} · Heedmap",
        heading=f"{lesson.number} {lesson.title}",
        body=body,
        navigation=_navigation(),
        neighbours=neighbours,
        data=_data(lesson_data(lesson, calculator)),
    )


def index_page(program: Program, lessons: Sequence[Lesson]) -> str:
    """The list of lessons."""
    items = "".join(
        f'<li data-lesson="{escaped(lesson.slug)}">{link(file_name(lesson), f"{lesson.number} {lesson.title}")}'
        f"{f' <small>{lesson.minutes} min</small>' if lesson.minutes else ''}<p>{inline(_point(lesson))}</p></li>"
        for lesson in lessons
    )
    body = f'<p>Someone who has never met a vector starts here.</p><ol class="lessons">{items}</ol>'
    return render(
        program,
        title=f"{COURSE} · Heedmap",
        heading=COURSE,
        body=body,
        navigation=_navigation(),
        neighbours="",
        data="",
    )


def words_page(program: Program, lessons: Sequence[Lesson], calculator: Calculator) -> str:
    """The glossary."""
    found = [
        (term, calculator.fill(says, lesson, piece.line), lesson)
        for lesson in lessons
        for piece in lesson.pieces
        if isinstance(piece, Words)
        for term, says in piece.terms.items()
    ]
    items = []
    for term, says, lesson in sorted(found, key=lambda one: one[0].casefold()):
        where = link(file_name(lesson), f"lesson {lesson.number}")
        items.append(f"<div><dt>{escaped(term)}</dt><dd>{inline(says)} <small>{where}</small></dd></div>")
    return render(
        program,
        title="Words · Heedmap",
        heading="The words of the course",
        body=f"<dl>{''.join(items)}</dl>",
        navigation=_navigation(),
        neighbours="",
        data="",
    )


def _point(lesson: Lesson) -> str:
    """The point of a lesson, where it holds no figure."""
    return lesson.point if "{{" not in lesson.point else ""


def _navigation() -> str:
    """The links that stand on every page."""
    return link("index.html", COURSE) + link("words.html", "Words")


def _data(value: dict[str, Any]) -> str:
    """JSON inside an HTML element, with nothing in it that could end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="heedmap-lesson">{text}</script>'
