"""The course inside the application: its lessons' pages, with their program and style beside them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from heedmap.lessons.blocks import Lesson
from heedmap.lessons.course import Course, load_course
from heedmap.lessons.figures import Calculator, Kept
from heedmap.lessons.site.page import beside
from heedmap.lessons.site.write import file_name, lesson_page, words_page

PROGRAM = beside("/files/course.js", "/files/course.css")


class Lessons:
    """The lessons of the package, each page made when it is first asked for."""

    def __init__(self) -> None:
        self._pages: dict[str, str] = {}

    @cached_property
    def _course(self) -> Course:
        return load_course()

    def all(self) -> list[dict[str, Any]]:
        """What the list of lessons shows.

        Example:
            >>> Lessons().all()[0]["title"]
            'One word looks back'
        """
        return [
            {
                "number": lesson.number,
                "page": file_name(lesson),
                "title": lesson.title,
                "minutes": lesson.minutes,
            }
            for lesson in self._course.lessons
        ]

    def page(self, name: str) -> str | None:
        """A lesson's page, or that of the course's words; None when there is no such page."""
        if name not in self._pages:
            made = self._made(name)
            if made is None:
                return None
            self._pages[name] = made
        return self._pages[name]

    def _made(self, name: str) -> str | None:
        lessons = self._course.lessons
        calculator = Calculator(kept=Kept(None))
        if name == "words.html":
            return words_page(PROGRAM, lessons, calculator)
        found: Lesson | None = next((lesson for lesson in lessons if file_name(lesson) == name), None)
        return None if found is None else lesson_page(PROGRAM, found, lessons, calculator)
