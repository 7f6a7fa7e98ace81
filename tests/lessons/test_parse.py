"""Lesson files: every kind of block is read, and whatever is broken is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import FileError, LessonError
from heedmap.lessons import blocks
from heedmap.lessons.parse import parse, parse_file
from heedmap.lessons.read import READERS, read_block
from heedmap.lessons.scan import Problems, RawBlock, scan
from tests.lessons.making import EVERYTHING, PATH, lesson


def of_kind(kind: type) -> list[blocks.Piece]:
    return [piece for piece in lesson(EVERYTHING).pieces if isinstance(piece, kind)]


def test_a_lesson_with_every_kind_has_every_kind() -> None:
    made = lesson(EVERYTHING)
    assert made.kinds == {"markdown", *blocks.PROSE, *READERS}
    assert made.missing() == [f"{kind} (1 of 2)" for kind, least in blocks.COMPLETE.items() if least == 2]
    assert (made.number, made.slug, made.title, made.minutes) == (1, "a-lesson", "A lesson", 10)
    assert made.point == "One line, with {{weight cat cat}}."


def test_parts_of_blocks_are_read() -> None:
    assert of_kind(blocks.Words)[0].terms == {  # type: ignore[union-attr]
        "key": "what it is found by, told in two lines",
        "value": "what it carries",
    }
    (checkpoint,) = of_kind(blocks.Checkpoint)
    assert isinstance(checkpoint, blocks.Checkpoint)
    assert checkpoint.wrong == (blocks.Wrong("{{product cat cat}}", "That is the product."),)
    assert (checkpoint.name, checkpoint.hint, checkpoint.within) == ("first", "Less than a half.", None)
    (predict,) = of_kind(blocks.Predict)
    assert isinstance(predict, blocks.Predict)
    assert predict.options == ("The", "cat")
    assert predict.then == "It was {{largest cat}}."
    (quiz,) = of_kind(blocks.Quiz)
    assert isinstance(quiz, blocks.Quiz)
    assert quiz.options == (blocks.Option("This.", False, "No."), blocks.Option("That.", True, "Yes:\nit is."))
    (explain,) = of_kind(blocks.Explain)
    assert isinstance(explain, blocks.Explain)
    assert explain.holds == ("a point", "another, longer one")


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "02-lines.md"
    path.write_text(f"# Lines\n\n{EVERYTHING}", encoding="utf-8")
    written = path.read_text(encoding="utf-8").splitlines()
    for piece in parse_file(path).pieces:
        if not isinstance(piece, blocks.Markdown):
            assert written[piece.line - 1].startswith(f"::: {blocks.kind_of(piece)}")
        else:
            assert written[piece.line - 1] == piece.text.splitlines()[0]


BROKEN = [
    ("::: tme 5\n:::", 3, "no block 'tme'", 'did you mean "time"?'),
    ("::: time soon\n:::", 3, "whole minutes", "'soon'"),
    ("::: time 0\n:::", 3, "whole minutes", "'0'"),
    ("::: point\nText.", 3, "never closed", "put a line `:::` after it"),
    ("::: point\nText.\n::: recap\nAll.\n:::", 3, "never closed", "'point'"),
    ("Text.\n:::", 4, "never began", ""),
    ("::: point\n:::", 3, "is empty", "'point'"),
    ("::: point\nOne.\n\nTwo.\n:::", 3, "one paragraph", ""),
    ("::: myth\nFact.\n:::", 3, "needs a title", "`::: myth TITLE`"),
    ("::: break\nDo.\nrun: table cat\nwrong: all\n:::", 3, "needs a title", ""),
    ("::: words\nkey what\n:::", 4, "expected `word: what it means`, found", "'key what'"),
    ("::: words\nkey: one\nkey: two\n:::", 5, "stands here twice", "'key'"),
    ("::: words\n:::", 3, "is empty", ""),
    ("::: numbers\nW = weight cat cat\n:::", 4, "`name = computation ARGUMENTS`", ""),
    ("::: numbers\nw = share 2\nw = share 3\n:::", 5, "stands here twice", ""),
    ("::: diagram A\n:::", 3, "is empty", ""),
    ("::: live\n:::", 3, "needs a computation", ""),
    ("::: checkpoint One Two\nHow?\nanswer: {{share 2}}\n:::", 3, "with a name such as", "'One Two'"),
    ("::: checkpoint a\nHow?\n:::", 3, "needs `answer: ...`", ""),
    ("::: checkpoint a\nHow?\nanswer: 0.38\n:::", 5, "is typed in", "{{weight cat cat}}"),
    ("::: checkpoint a\nHow?\nanswer: {{share 2}}\nwrong 0.4: why\n:::", 6, "is typed in", ""),
    ("::: checkpoint a\nHow?\nanswer: {{share 2}}\nwrong: why\n:::", 6, "`wrong ANSWER: what it shows`", ""),
    ("::: checkpoint a\nHow?\nanswer: {{share 2}}\nanswer: {{share 3}}\n:::", 6, "stands here twice", ""),
    ("::: checkpoint a\nHow?\nanswer: {{share 2}}\nwithin: near\n:::", 6, "expected a number", "'near'"),
    ("::: checkpoint a\nanswer: {{share 2}}\n:::", 3, "has no text", ""),
    ("::: predict a\nHow?\n- one\nanswer: one\nrun: table cat\nthen: so\n:::", 5, "at least two things", "found 1"),
    ("::: predict a\nHow?\nanswer: {{share 2}}\nthen: so\n:::", 3, "needs `run: ...`", ""),
    ("::: predict a\nHow?\nanswer: {{share 2}}\nrun: table cat\n:::", 3, "needs `then: ...`", ""),
    ("::: exercise attend\n:::", 3, "level from 1 to 3", "'attend'"),
    ("::: exercise attend 4\n:::", 3, "level from 1 to 3", "'attend 4'"),
    ("::: view The cat sat\n:::", 3, "expected `::: view", "'The cat sat'"),
    ('::: view "The cat" colour=red\n:::', 3, "expected `::: view", ""),
    ('::: view "The cat" layer=last\n:::', 3, "layer: expected a whole number", "'last'"),
    ('::: view "The $(cat)"\n:::', 3, "expected `::: view", ""),
    ("::: quiz a\nHow?\n- [x] one\n  yes\n:::", 3, "at least two answers", "found 1"),
    ("::: quiz a\nHow?\n- [ ] one\n  no\n- [ ] two\n  no\n:::", 3, "exactly one right answer", "found 0"),
    ("::: quiz a\nHow?\n- [x] one\n  yes\n- [ ] two\n:::", 7, "has no reason", "'two'"),
    ("::: explain\nTell.\n:::", 3, "what a good explanation holds", ""),
    ("::: done\n- sing: loudly\n:::", 4, "`- DEED: what you can do then`", "'sing'"),
    ("::: done\n- quiz: choose\n:::", 3, "cannot be ticked", "'quiz'"),
    ("::: done\n:::", 3, "expected a list", ""),
]


@pytest.mark.parametrize(("body", "line", "says", "also"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_block_is_named_with_file_and_line(body: str, line: int, says: str, also: str) -> None:
    with pytest.raises(LessonError) as caught:
        lesson(body)
    lines = [one for one in str(caught.value).splitlines() if says in one]
    assert lines, str(caught.value)
    assert lines[0].startswith(f"{PATH}:{line}: ")
    assert also in lines[0]


def test_all_problems_of_a_file_are_named_at_once_in_order() -> None:
    with pytest.raises(LessonError) as caught:
        parse("No title\n\n::: tme 5\n:::\n\n::: point\n:::\n", Path("1-short.md"))
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["1", "1", "3", "6"]
    assert "expected a file name like 03-frozen-meaning.md, found 1-short.md" in str(caught.value)


def test_two_questions_of_a_kind_may_not_share_a_name() -> None:
    one = "::: checkpoint a\nHow?\nanswer: {{share 2}}\n:::\n"
    with pytest.raises(LessonError, match=r"01-a-lesson\.md:7: a second checkpoint named 'a'"):
        lesson(one + one)


def test_colons_in_code_are_text() -> None:
    (piece,) = lesson("```\n::: tme\n:::\n```").pieces
    assert isinstance(piece, blocks.Markdown)
    (live,) = lesson("::: recap\n~~~\n:::\n~~~\nend\n:::").pieces
    assert isinstance(live, blocks.Prose)
    assert live.text.endswith("end")


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*03-none\.md"):
        parse_file(tmp_path / "03-none.md")
    path = tmp_path / "03-latin.md"
    path.write_bytes("# Schön".encode("latin-1"))
    with pytest.raises(FileError, match=r"not UTF-8 text \(byte 5\)"):
        parse_file(path)


@given(st.lists(st.sampled_from(EVERYTHING.splitlines()), max_size=30))
def test_any_lines_are_a_lesson_or_a_lesson_error(lines: list[str]) -> None:
    text = f"# A lesson\n\n{chr(10).join(lines)}"
    problems = Problems(PATH)
    parts = scan(text, problems)
    for part in parts:
        if isinstance(part, RawBlock):
            read_block(part, problems)
    # What is found wrong stands on a line of the file, and what is found right is whole again.
    assert all(1 <= line <= text.count("\n") + 1 for line, _ in problems.found)
    kept = sum(len(part.lines) + 2 * isinstance(part, RawBlock) for part in parts)
    assert kept <= len(text.splitlines())
