"""From what a learner typed to numbers, or a word about why that cannot be read."""

from __future__ import annotations

import math
import re
from difflib import get_close_matches

from heedmap.lessons.exercises.problem import Answer, Step
from heedmap.whole_numbers import whole_number

_NUMBER = r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)"
_ONE = re.compile(rf"^(?P<top>{_NUMBER})(?:\s*/\s*(?P<bottom>{_NUMBER}))?\s*(?P<percent>%)?$")
_DECIMAL_COMMA = re.compile(r"^[-+−]?\d+,\d+$")


class Unreadable(Exception):  # noqa: N818 - it reads as a sentence
    """The answer cannot be read; the message says what is expected."""


def read_answer(step: Step, typed: str) -> Answer:
    """The numbers of an answer: separated by blanks, commas or semicolons, in brackets or not.

    A fraction (1/3), a percentage (38%), the name of what a number belongs to (cat 0.38) and, where one number is asked
    for, a decimal comma (0,38) are read too.

    Args:
        step: what was asked.
        typed: what came.

    Raises:
        Unreadable: these are no numbers, or not as many as asked for; or it is none of the words to choose from.

    Example:
        >>> step = Step("weights", "", lambda done: (0.0, 0.0), "", labels=("cat", "sat"))
        >>> read_answer(step, "[0.38, sat 62%]")
        (0.38, 0.62)
    """
    text = typed.strip().strip("[]()").strip()
    if not text:
        raise Unreadable("nothing was written")
    if step.options:
        return (float(choose(step.options, text)),)
    count = _count(step)
    if count == 1 and _DECIMAL_COMMA.match(text):
        text = text.replace(",", ".")
    for label in step.labels:
        text = re.sub(rf"(?<!\w){re.escape(label)}(?!\w)[:=]?", " ", text, flags=re.IGNORECASE)
    parts = [part for part in re.split(r"[\s,;]+", re.sub(r"\s*/\s*", "/", text)) if part]
    numbers = tuple(_number(part) for part in parts)
    if len(numbers) != count:
        raise Unreadable(f"expected {count} {'number' if count == 1 else 'numbers'}, found {len(numbers)}")
    return numbers


def _count(step: Step) -> int:
    """How many numbers a step asks for, from its labels; 1 where there are none."""
    return len(step.labels) or 1


def _number(text: str) -> float:
    """One number."""
    match = _ONE.match(text)
    if match is None:
        raise Unreadable(f"{text!r} is not a number")
    value = _float(match["top"])
    if match["bottom"]:
        bottom = _float(match["bottom"])
        if bottom == 0:
            raise Unreadable(f"{text!r} divides by 0")
        value /= bottom
    if match["percent"]:
        value /= 100
    if not math.isfinite(value):
        raise Unreadable(f"{text!r} is not a number that can be worked with")
    return value


def _float(text: str) -> float:
    """A number, with the typographic minus understood."""
    return float(text.replace("−", "-"))


def choose(options: tuple[str, ...], text: str) -> int:
    """Which option was meant: by its words, in any case, by their beginning, or by its number or letter.

    Raises:
        Unreadable: none of them.

    Example:
        >>> choose(("The", "cat"), "CAT"), choose(("The", "cat"), "2"), choose(("less", "more"), "b")
        (1, 1, 1)
    """
    folded = [option.casefold() for option in options]
    wanted = text.strip("\"'“” ").casefold()
    if wanted in folded:
        return folded.index(wanted)
    number = whole_number(wanted)
    if number is not None and 1 <= number <= len(options):
        return number - 1
    if len(wanted) == 1 and 0 <= ord(wanted) - ord("a") < len(options):
        return ord(wanted) - ord("a")
    beginning = [index for index, option in enumerate(folded) if option.startswith(wanted)]
    if len(beginning) == 1:
        return beginning[0]
    near = get_close_matches(wanted, folded, n=1)
    hint = f"; did you mean {options[folded.index(near[0])]!r}?" if near else ""
    listed = ", ".join(options) if sum(map(len, options)) < 60 else f"the {len(options)} answers"
    raise Unreadable(f"expected one of {listed}, or its number{hint}")
