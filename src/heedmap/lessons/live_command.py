"""Live output of the `heedmap` commands themselves: what a learner would type, and what it prints.

Only commands that print, and write nothing, may be named; a lesson cannot write files or fetch anything.
"""

from __future__ import annotations

import shlex

from heedmap.arithmetic.names import listed
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure
from heedmap.whole_numbers import whole_number

ALLOWED = ("compute", "cost", "explain", "map", "next", "read", "spans", "stats", "lab")
"""The commands that lessons may show."""

REFUSED = ("-o", "--output", "--save", "--csv", "--report", "--resume", "--revision", "--allow-random", "--model-code")
"""Options that write files, or load what the lesson's reader has not chosen."""


@REGISTRY.add(
    "command",
    "heedmap read TEXT --word it ... [| head -N]",
    "what a heedmap command prints",
    block=True,
    model=True,
)
def _command(arguments: Arguments) -> Figure:
    words, most = _without_pipe(list(arguments.raw))
    arguments.words, arguments.options = [], {}
    if len(words) < 2 or words[0] != "heedmap" or words[1] not in ALLOWED:
        raise LessonError(f"expected heedmap and one of {listed(ALLOWED)}, found {shlex.join(words[:2])!r}")
    for word in words[2:]:
        option = word.partition("=")[0]
        if option in REFUSED or (word.startswith("@") and not word.startswith("@@")) or word == "-":
            raise LessonError(f"a lesson's command may not read or write files: {word!r}")
    if arguments.run_command is None:
        raise LessonError("commands are run by `heedmap learn`, and not here")
    lines = arguments.run_command(words[1:]).rstrip("\n").split("\n")
    if most is not None and len(lines) > most:
        lines = [*lines[:most], "..."]
    shown = " ".join(quoted(word) for word in arguments.raw)
    return Figure("\n".join([f"$ {shown}", *(line.rstrip() for line in lines)]))


def quoted(word: str) -> str:
    """A word as people type it: in double quotes where it holds blanks, which every shell knows.

    Example:
        >>> quoted("it"), quoted("The cat sat"), quoted("|")
        ('it', '"The cat sat"', '|')
    """
    if word == "|":
        return word
    plain = shlex.quote(word)
    return f'"{word}"' if plain != word and not set(word) & set('"$`\\!') else plain


def _without_pipe(words: list[str]) -> tuple[list[str], int | None]:
    """The command without `| head -N`, and N."""
    if "|" not in words:
        return words, None
    bar = words.index("|")
    pipe = words[bar + 1 :]
    lines = whole_number(pipe[1].removeprefix("-")) if len(pipe) == 2 and pipe[0] == "head" else None
    if lines is None:
        raise LessonError(f"after | expected head -N, found {shlex.join(pipe)!r}")
    return words[:bar], lines
