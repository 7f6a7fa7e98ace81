"""The course: the lessons of the package, and those a teacher adds by adding files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from heedmap.arithmetic.names import nearest
from heedmap.errors import FileError, LessonError
from heedmap.lessons.blocks import Lesson, Words
from heedmap.lessons.parse import parse_file
from heedmap.whole_numbers import whole_number

FOLDER = Path(__file__).with_name("course")
"""Where the lessons of the course itself are."""


@dataclass(frozen=True)
class Course:
    """All lessons in order.

    Attributes:
        lessons: by their files' names.
    """

    lessons: tuple[Lesson, ...]

    def find(self, wanted: str) -> Lesson:
        """The lesson of a number ("3") or of the words of its file's name ("frozen-meaning", or their beginning).

        Raises:
            LessonError: there is none, or several begin so.

        Example:
            >>> load_course().find("1").title
            'One word looks back'
        """
        number = whole_number(wanted)
        if number is not None:
            found = [lesson for lesson in self.lessons if lesson.number == number]
        else:
            exact = [lesson for lesson in self.lessons if lesson.slug == wanted]
            found = exact or [lesson for lesson in self.lessons if lesson.slug.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise LessonError(f"{wanted!r} is the beginning of {', '.join(lesson.slug for lesson in found)}: say more")
        numbers = f"a number from {self.lessons[0].number} to {self.lessons[-1].number}" if self.lessons else "nothing"
        near = nearest(wanted, [lesson.slug for lesson in self.lessons])
        raise LessonError(f"no lesson {wanted!r}: expected {numbers} or a name that `heedmap learn` lists{near}")

    def after(self, lesson: Lesson) -> Lesson | None:
        """The lesson that follows, if any."""
        index = self.lessons.index(lesson)
        return self.lessons[index + 1] if index + 1 < len(self.lessons) else None

    @cached_property
    def glossary(self) -> dict[str, tuple[str, Lesson]]:
        """Every word of the course: its meaning, and the lesson that brings it; in alphabetical order.

        Raises:
            LessonError: two lessons define the same word.
        """
        found: dict[str, tuple[str, Lesson]] = {}
        for lesson in self.lessons:
            for piece in lesson.pieces:
                for term, meaning in piece.terms.items() if isinstance(piece, Words) else ():
                    if term in found:
                        first = found[term][1]
                        raise LessonError(
                            f"{lesson.path}:{piece.line}: the word {term!r} is already explained in lesson "
                            f"{first.number}; a course has one glossary"
                        )
                    found[term] = meaning, lesson
        return dict(sorted(found.items(), key=lambda item: item[0].casefold()))


def load_course(added: Path | None = None) -> Course:
    """The course, with a teacher's own lessons among it.

    Args:
        added: a folder with more lesson files. They are sorted in by name; one with the name of a lesson of the course
            takes its place.

    Raises:
        FileError: the folder or a file cannot be read.
        LessonError: broken files; the message has a line for each problem.

    Example:
        >>> load_course().lessons[0].slug
        'one-word-looks-back'
    """
    files = {path.name: path for path in sorted(FOLDER.glob("*.md"))}
    if added is not None:
        if not added.is_dir():
            raise FileError(f"there is no folder {added}: give the one with your lesson files")
        own = {path.name: path for path in sorted(added.glob("*.md"))}
        if not own:
            raise LessonError(f"{added} holds no lesson: expected files like 17-our-own-text.md")
        files.update(own)
    course = Course(_parsed([files[name] for name in sorted(files)]))
    _check_numbers(course.lessons)
    assert course.glossary is not None
    return course


def _parsed(paths: Iterable[Path]) -> tuple[Lesson, ...]:
    """Every file as a lesson; the problems of all files together."""
    lessons, problems = [], []
    for path in paths:
        try:
            lessons.append(parse_file(path))
        except LessonError as error:
            problems.append(str(error))
    if problems:
        raise LessonError("\n".join(problems))
    return tuple(lessons)


def _check_numbers(lessons: Sequence[Lesson]) -> None:
    """Two lessons cannot have the same number: it is what a learner asks for."""
    seen: dict[int, Lesson] = {}
    for lesson in lessons:
        if lesson.number in seen:
            other = seen[lesson.number].path.name
            raise LessonError(
                f"{lesson.path}:1: {other} has the number {lesson.number} too: rename one, "
                f"or give it the same name to take its place"
            )
        seen[lesson.number] = lesson
