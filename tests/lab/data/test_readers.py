"""Every format: what it gives, and what it says of lines that cannot be used."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import DataError, FileError
from heedmap.lab.data import FORMATS, BadRows, contrasts, pairs, questions, sentences, units
from heedmap.lab.data import lines as lines_module
from heedmap.lab.data.places import filled, place_of
from tests.lab.making import PAIR

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "data.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def changed(**fields: Any) -> str:
    row = {**PAIR, **fields}
    return json.dumps({name: value for name, value in row.items() if value is not None})


def test_own_pairs(write: Write) -> None:
    other = ["The bag does not hold the cup as it is big.", "The bag does not hold the cup as it is small."]
    path = write(f"{changed()}\n\n{changed(id='two', other_order=other)}\n")
    one, two = pairs(path)
    assert (one.texts, one.word, one.candidates, one.answers) == (
        tuple(PAIR["texts"]),
        "it",
        ("the cup", "the bag"),
        (0, 1),
    )
    assert one.swapped() is None
    assert two.other_order == tuple(other)
    assert [sentence.id for sentence in sentences(path)] == ["cup/1", "cup/2", "two/1", "two/2"]
    assert [contrast.texts for contrast in contrasts(path)] == [one.texts, two.texts]
    assert [question.unit for question in questions(path)] == ["cup", "cup", "two", "two"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "it is not JSON: Expecting property name enclosed in double quotes"),
        ("[1]", "expected a JSON object, found '[1]'"),
        ("[" * 100_000, "it is not JSON"),
        ('{"id": 1}', 'expected "text" (a sentence) or "texts" (two versions of one)'),
        ('{"text": " "}', "expected a text as \"text\", found ' '"),
        (changed(texts=["one"]), "expected two texts as \"texts\", found ['one']"),
        (changed(word=None), 'it has "candidates" and no "word"'),
        (changed(answers=[0, 0]), 'expected "answers" to be [0, 1] or [1, 0]'),
        (changed(answers=[0, 2]), 'expected "answers" to be [0, 1] or [1, 0]'),
        (changed(candidates=["the cup"]), "expected two texts as \"candidates\", found ['the cup']"),
        (changed(candidates=["the cup", "The cup"]), "both candidates are 'the cup'"),
        (changed(word="they"), "the word 'they' does not stand once in 'The cup is not in the bag as it is big.'"),
        (changed(word="is"), "the word 'is' does not stand once"),
        (changed(texts=[PAIR["texts"][0]] * 2), "both texts are the same"),
        (
            changed(other_order=PAIR["texts"]),
            'the nouns of "other_order" do not both stand there, or in the same order',
        ),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_reason(write: Write, row: str, message: str) -> None:
    path = write(f"{changed(id='good')}\n{row}\n")
    with pytest.raises(DataError, match=re.escape(f"{path}, line 2: {message}")) as raised:
        list(pairs(path))
    assert str(raised.value).endswith("mend the line, or leave out such lines with --skip-bad")
    skipped = BadRows()
    assert [pair.id for pair in pairs(path, skipped=skipped)] == ["good"]
    assert skipped.count == 1
    assert str(next(iter(skipped))).startswith(f"{path}, line 2: {message}")


def test_an_id_may_not_come_again(write: Write) -> None:
    with pytest.raises(DataError, match="line 2: the id 'cup' stands in an earlier line too; ids are unique"):
        list(pairs(write(f"{changed()}\n{changed()}\n")))


def test_all_bad_rows_are_counted_and_the_first_are_kept(write: Write) -> None:
    skipped = BadRows()
    list(sentences(write('{"text": "Good."}\n' + "{\n" * 50), skipped=skipped))
    assert skipped.count == 50
    assert [row.line for row in skipped] == list(range(2, 22))


def test_plain_text_is_a_sentence_a_line(write: Write) -> None:
    found = list(sentences(write("The cat sat.\n\n  It rained. \r\n\n")))
    assert [(one.id, one.text) for one in found] == [("1", "The cat sat."), ("3", "It rained.")]


def test_own_sentences_and_contrasts(write: Write) -> None:
    path = write('{"text": "One.", "id": "a", "family": "f"}\n{"texts": ["It is one.", "It is two."]}\n')
    assert [(one.id, one.family, one.text) for one in sentences(path)] == [
        ("a", "f", "One."),
        ("2/1", "2", "It is one."),
        ("2/2", "2", "It is two."),
    ]
    with pytest.raises(DataError, match="line 1: it is a sentence: a contrast has two texts"):
        list(contrasts(path))
    with pytest.raises(DataError, match="holds no pair that can be used"):
        list(pairs(path, skipped=BadRows()))


@pytest.mark.parametrize(
    ("file", "form", "count", "of_pairs"),
    [
        ("winograd/WSCollection.xml", "winograd-xml", 283, 137),
        ("winograd/wsc283.jsonl", "winograd-jsonl", 283, 137),
        ("winograd/xwino_en_wsc273.tsv", "xwinograd", 273, 132),
        ("winogender/all_sentences.tsv", "winogender", 720, 360),
        ("samples/winogrande.jsonl", "winogrande", 2, 1),
        ("samples/gap.tsv", "gap", 2, 0),
        ("samples/blimp.jsonl", "blimp", 2, 0),
    ],
)
def test_published_sets_are_read_whole(data_folder: Path, file: str, form: str, count: int, of_pairs: int) -> None:
    path = data_folder / file
    found = list(questions(path))
    assert found == list(questions(path, form=form)), "the format is found by the content"
    assert len(found) == len({question.id for question in found}) == count
    assert {question.answer for question in found} == ({0, 1} if of_pairs else {1})
    for question in found:
        assert place_of(question.text, question.word) is not None
        first, second = filled(question)
        assert first.text != second.text
    joined = list(units(path))
    assert sum(hasattr(unit, "texts") for unit in joined) == of_pairs
    assert len(joined) == count - of_pairs
    assert len(list(sentences(path))) == len(list(contrasts(path))) == count


def test_the_three_forms_of_winograd_agree(data_folder: Path) -> None:
    folder = data_folder / "winograd"
    xml, rows = (list(questions(folder / name)) for name in ("WSCollection.xml", "wsc283.jsonl"))
    assert xml == rows
    table = list(questions(folder / "xwino_en_wsc273.tsv"))
    by_text = {question.text: question for question in table}
    alike = [(one, by_text[one.text]) for one in xml if one.text in by_text]
    assert len(alike) > 200
    same_word = [(one, other) for one, other in alike if one.word == other.word]
    assert all(one.answer == other.answer for one, other in same_word)
    # XWinograd marks the first "it" (or "he") in seven sentences whose second one is asked about, and has two
    # sentences with another of their pronouns.
    assert len(alike) - len(same_word) == 9


@pytest.mark.parametrize("kind", ["pro_stereotyped", "anti_stereotyped"])
@pytest.mark.parametrize("part", ["type1.txt.dev", "type1.txt.test", "type2.txt.dev", "type2.txt.test"])
def test_winobias_is_read_and_lines_with_other_than_two_brackets_are_reported(
    data_folder: Path, kind: str, part: str
) -> None:
    path = data_folder / "winobias" / f"{kind}_{part}"
    odd = [
        number
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.count("[") not in (0, 2)
    ]
    assert odd, "the set has such lines"
    with pytest.raises(DataError, match=rf"line {odd[0]}: expected two brackets \(a noun and its pronoun\), found 3"):
        list(questions(path))
    skipped = BadRows()
    found = list(questions(path, skipped=skipped))
    of_brackets = [row.line for row in skipped if "two brackets" in row.reason]
    assert of_brackets == odd[: len(of_brackets)]
    assert len(found) + skipped.count == 396
    assert skipped.count - len(odd) <= 4, "the other noun of a line is not known in a few"
    for question in found:
        assert "[" not in question.text
        assert question.word.partition("#")[0].lower() in {"he", "she", "him", "her", "his"}
    joined = list(pairs(path, skipped=BadRows()))
    assert len(joined) > 170
    assert all(sorted(pair.answers) == [0, 1] for pair in joined)


def test_winobias_marks_become_word_and_answer(write: Write) -> None:
    path = write(
        "1 [The cook] called the guard as [she] sang and she ran.\n2 The cook called [the guard] as [his] ear hurt.\n"
    )
    (pair,) = pairs(path)
    assert pair.texts[0] == "The cook called the guard as she sang and she ran."
    assert pair.words == ("she#1", "his")
    assert pair.candidates == ("the cook", "the guard")
    assert pair.answers == (0, 1)
    assert pair.family == "cook/guard"


def test_a_line_of_winobias_without_its_other_is_reported(write: Write) -> None:
    skipped = BadRows()
    path = write("3 [The cook] sat as [she] sang.\n5 [The cook] sat as [she] ran.\n6 [The guard] sat as [she] ran.\n")
    with pytest.raises(DataError, match="holds no question"):
        list(questions(path, skipped=skipped))
    assert "the other line of its pair, which names the other noun, is not beside it" in str(skipped.first[0])
    assert "the other noun, 'guard' in the line beside it, does not stand in this one" in str(skipped.first[1])


def test_winogender_knows_whom_the_pronoun_means(data_folder: Path) -> None:
    by_id = {question.id: question for question in questions(data_folder / "winogender" / "all_sentences.tsv")}
    pays = by_id["technician.customer.1.female"]
    assert (pays.text, pays.word) == ("The technician told the customer that she could pay with cash.", "she")
    assert pays.candidates[pays.answer] == "the customer"
    assert by_id["technician.someone.0.male"].candidates == ("the technician", "someone")


def test_winogrande_twins_become_a_pair(data_folder: Path, write: Write) -> None:
    (pair,) = pairs(data_folder / "samples" / "winogrande.jsonl")
    assert pair.answers == (1, 0)
    assert pair.blank
    row = {"qID": "x", "sentence": "A _ and a _.", "option1": "cat", "option2": "dog", "answer": "1"}
    for fields, message in (
        ({}, "expected one blank (_), found 2"),
        ({"answer": ""}, 'expected "1" or "2" as "answer", found \'\' (the test set has none)'),
        ({"sentence": "A _.", "option2": "cat"}, "both candidates are 'cat'"),
    ):
        with pytest.raises(DataError, match=re.escape(message)):
            list(questions(write(json.dumps({**row, **fields}))))


def test_gap_places_are_checked(data_folder: Path, write: Write) -> None:
    text = (data_folder / "samples" / "gap.tsv").read_text(encoding="utf-8")
    (first, _) = questions(data_folder / "samples" / "gap.tsv")
    assert (first.word, first.candidates, first.answer) == ("she", ("Mara", "Ines"), 1)
    for old, new, message in (
        ("\t47\t", "\t46\t", "'she' does not stand at character 46"),
        ("FALSE\tInes\t24\tTRUE", "FALSE\tInes\t24\tFALSE", "the pronoun means neither name"),
        ("\tMara\t0", "\t0", "expected 11 columns with tabs between, found 10"),
    ):
        with pytest.raises(DataError, match=message):
            list(questions(write(text.replace(old, new))))


@pytest.mark.parametrize(
    ("good", "bad", "right", "wrong"),
    [
        ("The cats sleep.", "The cats sleeps.", "sleep", "sleeps"),
        (
            "Who did Ann hug after shocking Bob?",
            "Who did Ann hug Bob after shocking?",
            "after shocking Bob",
            "Bob after shocking",
        ),
        ("The cat sat.", "The cat that sat.", "cat", "cat that"),
        ("The cat that sat.", "The cat sat.", "cat that", "cat"),
        ("Cats sat.", "Some cats sat.", "Cats", "Some cats"),
        ("cats sat.", "some cats sat.", "cats", "some cats"),
    ],
)
def test_blimp_asks_for_the_words_that_differ(write: Write, good: str, bad: str, right: str, wrong: str) -> None:
    (question,) = questions(write(json.dumps({"sentence_good": good, "sentence_bad": bad, "UID": "u", "pairID": "0"})))
    assert question.candidates[question.answer] == right
    assert question.candidates[1 - question.answer] == wrong
    texts = [one.text for one in filled(question)]
    assert (texts[question.answer], texts[1 - question.answer]) == (good, bad)


def test_broken_xml_keeps_what_came_before_it(data_folder: Path, write: Write) -> None:
    text = (data_folder / "winograd" / "WSCollection.xml").read_text(encoding="latin-1")
    text = text.replace("ISO-8859-1", "UTF-8")
    whole = text[: text.index("</schema>") + len("</schema>")]
    for end, message in (
        ("", "the XML ends here, before its elements are closed"),
        ("\n</wrong>", "the XML is broken here"),
    ):
        skipped = BadRows()
        assert len(list(questions(write(whole + end), skipped=skipped))) == 1
        assert message in str(skipped.first[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: expected one sentence or pair a line"),
        ("\n \n", "is empty"),
        ('[{"text": "a"}]', "is one JSON list: write one object a line"),
        ('{"role": "user"}', "has JSON lines of no known format (keys: role)"),
        ("occupation(0)\tother-participant(1)\tanswer\tsentence\n", "holds templates: give all_sentences.tsv"),
    ],
)
def test_a_file_of_no_known_format_is_refused(write: Write, text: str, message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        list(sentences(write(text), skipped=BadRows()))


def test_the_format_may_be_told(write: Write) -> None:
    path = write('{"text": "One."}\n')
    assert next(sentences(path, form="text")).text == '{"text": "One."}'
    with pytest.raises(DataError, match=r"there is no format 'winogrnde'; nearest: winogrande; there are jsonl, text"):
        list(sentences(path, form="winogrnde"))
    assert "winograd-xml" in FORMATS


def test_bytes_that_are_no_text_are_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"\xef\xbb\xbfGood.\nBad \xff.\n")
    skipped = BadRows()
    assert [one.text for one in sentences(path, skipped=skipped)] == ["Good."]
    assert str(skipped.first[0]) == f"{path}, line 2: byte 5 is no UTF-8: invalid start byte"
    path.write_bytes(b"\xff\xfeG\x00")
    with pytest.raises(FileError, match="it is UTF-16; save it as UTF-8"):
        list(sentences(path))
    with pytest.raises(FileError, match=r"cannot read .*: No such file or directory"):
        list(sentences(tmp_path / "nothing"))


def test_a_line_without_end_is_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "_LONGEST", 10)
    path = tmp_path / "data"
    path.write_text("Good.\n" + "x" * 100 + "\nAlso good\n" + "x" * 30, encoding="utf-8")
    skipped = BadRows()
    assert [(one.id, one.text) for one in sentences(path, skipped=skipped)] == [("1", "Good."), ("3", "Also good")]
    assert [row.line for row in skipped] == [2, 4]


def test_standard_input_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat sat.\n{\n")))
    assert [one.text for one in sentences(Path("-"))] == ["The cat sat.", "{"]


def test_a_set_of_any_size_streams(tmp_path: Path) -> None:
    """A file is read no further than what is asked for: a pipe that never ends still gives its first sentences."""
    path = tmp_path / "data"
    path.write_text("A sentence.\n" * 6, encoding="utf-8")
    given = iter(lines_module.read_lines(path))
    first, lines = lines_module.look_ahead(given, 2)
    assert [line.number for line in first] == [1, 2]
    assert next(lines).number == 1
    assert next(given).number == 3, "only two lines were taken"


@pytest.mark.parametrize("name", ["rot13", "base64", "undefined", "punycode", "nothing", "utf-16"])
def test_an_encoding_that_is_none_of_text_is_read_as_utf_8(tmp_path: Path, name: str) -> None:
    """Declared by whoever wrote the file: Python would fail, or take minutes, with some."""
    path = tmp_path / "collection.xml"
    schema = "<schema><text><txt1>A café met a bag as</txt1><pron>it</pron><txt2>ran.</txt2></text><answers>"
    schema += "<answer>a café</answer><answer>a bag</answer></answers><correctAnswer>A</correctAnswer></schema>"
    path.write_text(f'<?xml version="1.0" encoding="{name}"?>\n<collection>\n{schema}\n</collection>\n', "utf-8")
    assert next(sentences(path, form="winograd-xml")).text == "A café met a bag as it ran."


def test_an_encoding_with_a_zero_byte_is_a_line(write: Write) -> None:
    with pytest.raises(DataError, match="the XML is broken here"):
        list(sentences(write('<?xml version="1.0" encoding="\0SO-8859-1"?>\n<collection>\n</collection>\n')))
