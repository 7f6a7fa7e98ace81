"""Reads each kind of block; whatever is wrong is noted with its line, and the reading goes on."""

from __future__ import annotations

import re
from collections.abc import Callable

from heedmap.arithmetic.names import nearest
from heedmap.lessons import blocks
from heedmap.lessons.block_parts import NAME, Fields, body_of, computed, name_of, refuse_typed
from heedmap.lessons.fields import Item, joined, split_fields, split_items
from heedmap.lessons.scan import Problems, RawBlock
from heedmap.whole_numbers import whole_number

_BRACES = re.compile(r"^\{\{\s*([^{}]+?)\s*\}\}$")
_VIEW = re.compile(r'^"(?P<text>[^"$`\\]+)"(?P<options>(?: +[a-z]+=\S+)*)$')

LEVELS = (1, 2, 3)


def read_block(raw: RawBlock, problems: Problems) -> blocks.Piece | None:
    """A block of any kind, or `None` when it cannot be read at all.

    Args:
        raw: the block as it stands in the file.
        problems: receives what is wrong.
    """
    if raw.kind in blocks.PROSE:
        return _prose(raw, problems)
    reader = READERS.get(raw.kind)
    if reader is None:
        kinds = sorted([*blocks.PROSE, *READERS])
        problems.add(raw.line, f"no block {raw.kind!r}: expected one of {', '.join(kinds)}{nearest(raw.kind, kinds)}")
        return None
    if raw.kind in blocks.TITLED and not raw.argument:
        problems.add(raw.line, f"the block {raw.kind!r} needs a title: write `::: {raw.kind} TITLE`")
    return reader(raw, problems)


def _prose(raw: RawBlock, problems: Problems) -> blocks.Prose:
    text = joined(raw.lines)
    if not text:
        problems.add(raw.line, f"the block {raw.kind!r} is empty")
    if raw.kind in blocks.TITLED and not raw.argument:
        problems.add(raw.line, f"the block {raw.kind!r} needs a title: write `::: {raw.kind} TITLE`")
    if raw.kind == "point" and "\n\n" in text:
        problems.add(raw.line, "the point is one paragraph: put the rest outside the block")
    return blocks.Prose(raw.kind, raw.argument, text, raw.line)


def _words(raw: RawBlock, problems: Problems) -> blocks.Words:
    terms: dict[str, str] = {}
    current = ""
    for line in raw.lines:
        term, colon, meaning = line.text.partition(": ")
        if line.text.startswith((" ", "\t")) and current:
            terms[current] += " " + line.text.strip()
        elif colon and term.strip() and meaning.strip():
            current = term.strip()
            if current in terms:
                problems.add(line.number, f"the word {current!r} stands here twice")
            terms[current] = meaning.strip()
        elif line.text.strip():
            problems.add(line.number, f"expected `word: what it means`, found {line.text.strip()!r}")
    if not terms:
        problems.add(raw.line, "the block 'words' is empty: expected lines `word: what it means`")
    return blocks.Words(terms, raw.line)


def _numbers(raw: RawBlock, problems: Problems) -> blocks.Numbers:
    calls: dict[str, str] = {}
    for line in raw.lines:
        if not line.text.strip():
            continue
        name, equals, call = (part.strip() for part in line.text.partition(" = "))
        if not equals or not call or not NAME.match(name):
            problems.add(line.number, f"expected `name = computation ARGUMENTS`, found {line.text.strip()!r}")
        elif name in calls:
            problems.add(line.number, f"the name {name!r} stands here twice")
        else:
            calls[name] = call
    return blocks.Numbers(calls, raw.line)


def _diagram(raw: RawBlock, problems: Problems) -> blocks.Diagram:
    text = "\n".join(line.text.rstrip() for line in raw.lines).strip("\n")
    if not text:
        problems.add(raw.line, "the block 'diagram' is empty")
    return blocks.Diagram(raw.argument, text, raw.line)


def _live(raw: RawBlock, problems: Problems) -> blocks.Live:
    if not raw.argument:
        problems.add(raw.line, "the block 'live' needs a computation: write `::: live NAME ARGUMENTS`")
    return blocks.Live(raw.argument, joined(raw.lines), raw.line)


VIEW_OPTIONS = ("word", "layer", "head", "model")
"""What a `view` may say beside its text."""


def _view(raw: RawBlock, problems: Problems) -> blocks.View:
    found = _VIEW.match(raw.argument)
    options = dict(part.partition("=")[::2] for part in (found["options"] if found else "").split())
    if found is None or not set(options) <= set(VIEW_OPTIONS):
        given = " ".join(f"[{name}=...]" for name in VIEW_OPTIONS)
        problems.add(raw.line, f'expected `::: view "TEXT" {given}`, found {raw.argument!r}')
        return blocks.View("", {}, joined(raw.lines), raw.line)
    for name in ("layer", "head"):
        if whole_number(options.get(name, "0")) is None:
            problems.add(raw.line, f"{name}: expected a whole number, found {options[name]!r}")
    return blocks.View(found["text"], options, joined(raw.lines), raw.line)


def _checkpoint(raw: RawBlock, problems: Problems) -> blocks.Checkpoint:
    body, fields = split_fields(raw.lines, {"answer", "within", "hint", "wrong"})
    known = Fields(raw, fields, problems)
    for item in known.all("wrong"):
        if not item.argument or not item.text:
            problems.add(item.line, "expected `wrong ANSWER: what it shows`")
        refuse_typed(item.argument, item.line, problems)
    wrong = tuple(blocks.Wrong(item.argument, item.text) for item in known.all("wrong"))
    return blocks.Checkpoint(
        name=name_of(raw, problems),
        question=body_of(raw, body, problems),
        answer=computed(known, problems),
        within=known.number("within"),
        hint=known.text("hint"),
        wrong=wrong,
        line=raw.line,
    )


def _predict(raw: RawBlock, problems: Problems) -> blocks.Predict:
    body, fields = split_fields(raw.lines, {"answer", "within", "run", "then"})
    known = Fields(raw, fields, problems)
    question, items = split_items(body)
    if len(items) == 1:
        problems.add(items[0].line, "expected at least two things to choose from, or none for a number, found 1")
    return blocks.Predict(
        name=name_of(raw, problems),
        question=body_of(raw, question, problems),
        options=tuple(item.text for item in items),
        answer=computed(known, problems),
        within=known.number("within"),
        run=known.text("run", needed=True),
        then=known.text("then", needed=True),
        line=raw.line,
    )


def _break(raw: RawBlock, problems: Problems) -> blocks.Break:
    body, fields = split_fields(raw.lines, {"run", "wrong"})
    known = Fields(raw, fields, problems)
    text = body_of(raw, body, problems)
    return blocks.Break(raw.argument, text, known.text("run", needed=True), known.text("wrong", needed=True), raw.line)


def _exercise(raw: RawBlock, problems: Problems) -> blocks.Exercise:
    generator, _, level = raw.argument.partition(" ")
    if not NAME.match(generator) or level not in {str(one) for one in LEVELS}:
        problems.add(
            raw.line, f"expected `::: exercise GENERATOR LEVEL` with a level from 1 to 3, found {raw.argument!r}"
        )
        return blocks.Exercise(generator, 1, joined(raw.lines), raw.line)
    return blocks.Exercise(generator, int(level), joined(raw.lines), raw.line)


def _code(raw: RawBlock, problems: Problems) -> blocks.Code:
    return blocks.Code(raw.argument, body_of(raw, raw.lines, problems), raw.line)


def _languages(raw: RawBlock, problems: Problems) -> blocks.Languages:
    return blocks.Languages(raw.argument, joined(raw.lines), raw.line)


def _quiz(raw: RawBlock, problems: Problems) -> blocks.Quiz:
    body, items = split_items(raw.lines, tasks=True)
    if len(items) < 2:
        problems.add(raw.line, f"a quiz needs at least two answers `- [ ] ...`, found {len(items)}")
    elif sum(bool(item.right) for item in items) != 1:
        found = sum(bool(item.right) for item in items)
        problems.add(raw.line, f"expected exactly one right answer, marked `- [x]`, found {found}")
    for item in items:
        if not item.reason:
            problems.add(item.line, f"the answer {item.text!r} has no reason: indent it on the next line")
    options = tuple(blocks.Option(item.text, bool(item.right), item.reason) for item in items)
    return blocks.Quiz(name_of(raw, problems), body_of(raw, body, problems), options, raw.line)


def _explain(raw: RawBlock, problems: Problems) -> blocks.Explain:
    body, items = split_items(raw.lines)
    if not items:
        problems.add(raw.line, "expected a list of what a good explanation holds: `- ...`")
    return blocks.Explain(body_of(raw, body, problems), tuple(item.text for item in items), raw.line)


def _done(raw: RawBlock, problems: Problems) -> blocks.Done:
    before, items = split_items(raw.lines)
    if any(line.text.strip() for line in before) or not items:
        problems.add(raw.line, "expected a list `- DEED: what you can do then`")
    return blocks.Done(tuple(goal for item in items if (goal := _goal(item, problems))), raw.line)


def _goal(item: Item, problems: Problems) -> blocks.Goal | None:
    deed, colon, text = item.text.partition(": ")
    words = tuple(deed.split())
    if not colon or not words or words[0] not in DEEDS or len(words) - 1 != DEEDS[words[0]]:
        problems.add(
            item.line, f"expected `- DEED: what you can do then`, with DEED one of {_DEED_LIST}, found {deed!r}"
        )
        return None
    return blocks.Goal(words, text.strip())


def _time(raw: RawBlock, problems: Problems) -> blocks.Time:
    minutes = whole_number(raw.argument.removesuffix("minutes").strip())
    if not minutes:
        problems.add(raw.line, f"expected `::: time 25` (whole minutes), found {raw.argument!r}")
        return blocks.Time(1, raw.line)
    return blocks.Time(minutes, raw.line)


READERS: dict[str, Callable[[RawBlock, Problems], blocks.Piece]] = {
    "words": _words,
    "numbers": _numbers,
    "diagram": _diagram,
    "live": _live,
    "checkpoint": _checkpoint,
    "predict": _predict,
    "break": _break,
    "exercise": _exercise,
    "code": _code,
    "languages": _languages,
    "quiz": _quiz,
    "explain": _explain,
    "done": _done,
    "time": _time,
    "view": _view,
}
"""The kinds with parts of their own."""

DEEDS = {"quiz": 0, "checkpoints": 0, "predictions": 0, "breaks": 0, "explain": 0, "exercise": 2, "code": 1}
"""What ticks a goal, and how many words follow: `exercise GENERATOR LEVEL`, `code FUNCTION`."""

_DEED_LIST = "quiz, checkpoints, predictions, breaks, explain, exercise GENERATOR LEVEL, code FUNCTION"


def call_in(answer: str) -> str | None:
    """The call of an answer in braces, or `None` for a plain word.

    Example:
        >>> call_in("{{weight cat it}}"), call_in("cat")
        ('weight cat it', None)
    """
    match = _BRACES.match(answer)
    return match[1] if match else None
