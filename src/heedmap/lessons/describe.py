"""Writes the generated parts of docs/lessons.md: the tables of computations and of exercises."""

from __future__ import annotations

import re

from heedmap.lessons.computations import computations_page
from heedmap.lessons.exercises.registry import exercises_page

PARTS = {"computations": computations_page, "exercises": exercises_page}


def refreshed(text: str) -> str:
    r"""A document with what stands between `<!-- NAME: ... -->` and `<!-- end of NAME -->` written again.

    Args:
        text: the document.

    Example:
        >>> "| `attend` |" in refreshed("<!-- exercises: x -->\n<!-- end of exercises -->")
        True
    """
    for name, page in PARTS.items():
        pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        made = page()
        text = pattern.sub(lambda match, made=made: f"{match[1]}\n{made}\n\n{match[2]}", text)  # type: ignore[misc]
    return text
