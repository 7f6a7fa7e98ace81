"""The arithmetic in several languages side by side: complete programs, and single functions cut out of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heedmap.arithmetic.names import listed
from heedmap.errors import LessonError

FOLDER = Path(__file__).parent
FUNCTIONS = ("dot_product", "softmax", "weighted_average", "attend")
"""What each program has."""


@dataclass(frozen=True)
class Language:
    """One of the languages.

    Attributes:
        name: as people say it.
        file: the program.
        fence: what Markdown calls the language.
        comment: how a line of comment begins.
        camel: whether names are written likeThis.
    """

    name: str
    file: str
    fence: str
    comment: str
    camel: bool = False

    @property
    def path(self) -> Path:
        """Where the program stands."""
        return FOLDER / self.file

    def function(self, name: str) -> str:
        """The source of one function, with the comment above it.

        Raises:
            LessonError: there is no such function.

        Example:
            >>> print(LANGUAGES[0].function("dot_product"))
            # Multiply number by number, and add up.
            def dot_product(a: list[float], b: list[float]) -> float:
                return sum(x * y for x, y in zip(a, b))
        """
        if name not in FUNCTIONS:
            raise LessonError(f"no function {name!r}: expected one of {listed(FUNCTIONS)}")
        lines = self.path.read_text(encoding="utf-8").splitlines()
        called = _camel(name) if self.camel else name
        start = next(i for i, line in enumerate(lines) if f" {called}(" in line and not line[0].isspace())
        end = start + 1
        # A definition ends where the next thing stands at the margin; a closing brace or bracket still belongs to it.
        while end < len(lines) and (not lines[end] or lines[end][0] in " )}"):
            end += 1
        while start and lines[start - 1].startswith(self.comment):
            start -= 1
        return "\n".join(lines[start:end]).rstrip()


LANGUAGES = (
    Language("Python", "plain.py", "python", "# "),
    Language("JavaScript", "attention.js", "javascript", "// ", camel=True),
    Language("C", "attention.c", "c", "/* "),
    Language("NumPy", "with_numpy.py", "python", "# "),
)
"""Python with no library, JavaScript, C, and NumPy beside them."""


def _camel(name: str) -> str:
    """`weighted_average` as `weightedAverage`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
