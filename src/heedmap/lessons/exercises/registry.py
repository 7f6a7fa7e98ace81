"""All generators of exercises, by name."""

from __future__ import annotations

from heedmap.arithmetic.names import listed, nearest
from heedmap.errors import LessonError
from heedmap.lessons.exercises import arrays, claims, four_steps, reading
from heedmap.lessons.exercises.problem import Generator

GENERATORS: dict[str, Generator] = {
    item.name: item for item in (*four_steps.GENERATORS, *arrays.GENERATORS, *reading.GENERATORS, *claims.GENERATORS)
}
"""Every generator, by name."""


def generator(name: str) -> Generator:
    """The generator of this name.

    Raises:
        LessonError: there is none; the error lists them.

    Example:
        >>> generator("dot").levels[0]
        'two whole numbers each'
    """
    if name in GENERATORS:
        return GENERATORS[name]
    raise LessonError(f"no exercise {name!r}: expected one of {listed(GENERATORS)}{nearest(name, GENERATORS)}")


def exercises_page() -> str:
    """A table of every generator, in Markdown."""
    rows = [f"| `{item.name}` | {item.says} | {' | '.join(item.levels)} |" for item in GENERATORS.values()]
    head = "| generator | practises | level 1 | level 2 | level 3 |\n|---|---|---|---|---|"
    return "\n".join([head, *rows])
