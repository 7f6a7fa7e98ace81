"""Data sets of every format, talks, and what Heedmap keeps: sound and damaged, read as a command would read them."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from heedmap.cli.spans import _messages
from heedmap.cli.texts import read_texts
from heedmap.errors import DataError
from heedmap.lab.data import BadRows, Contrast, Pair, Sentence, contrasts, pairs, questions, sentences, units
from heedmap.text.chat import apply_template
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, damaged_file, damaged_json, letters, same_json, texts, with_sound
from tests.fuzz.target import Target, answers
from tests.fuzz.texts import real_tokenizer
from tests.lab.making import PAIR

_PAIR = {
    **PAIR,
    "other_order": ["The bag does not hold the cup as it is big.", "The bag does not hold the cup as it is small."],
}
_ROWS: tuple[Any, ...] = (
    _PAIR,
    {"id": "one", "text": "The cat sat."},
    {"texts": ["The cat sat.", "The dog sat."], "family": "animals"},
    {"sentence_good": "The dog that sat ran.", "sentence_bad": "The dog sat ran.", "UID": "u", "pairID": "0"},
    {"qID": "1-1", "sentence": "Ann lent Ruth a cup as _ asked.", "option1": "Ann", "option2": "Ruth", "answer": "2"},
    {"id": 0, "text": "The cup met a bag as it ran.", "pronoun": "it", "pronoun_start": 21, "label": 0,
     "candidates": ["the cup", "a bag"]},
)  # fmt: skip
_SCHEMA = (
    "<schema><text><txt1>The cup met a bag as</txt1><pron>it</pron><txt2>{}.</txt2></text><answers><answer>The cup"
    "</answer><answer>a bag</answer></answers><correctAnswer>{}</correctAnswer></schema>\n"
)
_TABLES = (
    "The cat sat.\nIt rained.\n",
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n<collection>\n' + _SCHEMA.format("ran", "A")
    + _SCHEMA.format("sat", "B") + "</collection>\n",
    "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
    "d-1\tAnn met Eve as she sat.\tshe\t15\tAnn\t0\tTRUE\tEve\t8\tFALSE\thttp://example.org\n",
    "1 [The cook] called the guard as [she] sang.\n2 The cook called [the guard] as [his] ear hurt.\n",
    "sentid\tsentence\ncook.guard.1.male.txt\tThe cook told the guard that he sang.\n"
    "cook.guard.0.male.txt\tThe cook told the guard that he slept.\n",
    'en\toriginal\t?\tThe cup met a bag as it ran.\t["The", "cup", "met", "a", "bag", "as", "it", "ran", "."]\t'
    '["it", [6, 7], ["it"]]\t[["The cup", [0, 2], ["The", "cup"], true], ["a bag", [3, 5], ["a", "bag"], false]]\n',
)  # fmt: skip
_XML_BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE c [<!ENTITY a "' + b"a" * 999 + b'">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 50) for n in range(8))
    + b"]><collection><schema><text><txt1>&i;</txt1></text></schema></collection>"
)  # fmt: skip


_READERS = (sentences, pairs, units, questions, contrasts)


@st.composite
def _sound_rows(draw: st.DrawFn) -> tuple[bytes, Any, str, list[Any]]:
    """Rows of Heedmap's own form or lines of text, with their reader, their form, and what must be read."""
    ids = draw(st.lists(letters(), min_size=1, max_size=4, unique=True))
    reader = draw(st.sampled_from((sentences, contrasts, pairs)))
    rows: list[dict[str, Any]] = []
    expected: list[Any] = []
    for name in ids:
        one, other = draw(st.lists(letters(), min_size=2, max_size=2, unique=True))
        if reader is sentences:
            rows.append({"id": name, "text": one})
            expected.append(Sentence(name, name, one))
        elif reader is contrasts:
            rows.append({"id": name, "texts": [one, other], "family": "f"})
            expected.append(Contrast(name, "f", (one, other)))
        else:
            nouns = draw(st.permutations(("cup", "bag", "trophy", "naïve box")))[:2]
            texts = [f"The {nouns[0]} is not in the {nouns[1]} as it is {size}." for size in ("big", "small")]
            rows.append({"id": name, "texts": texts, "word": "it", "candidates": nouns, "answers": [0, 1]})
            expected.append(Pair(name, name, (texts[0], texts[1]), ("it", "it"), (nouns[0], nouns[1]), (0, 1)))
    if reader is sentences and draw(st.booleans()):
        lines = [draw(letters().filter(lambda text: not set(text) & set("\r\n"))) for _ in ids]
        found = [Sentence(str(number), str(number), line) for number, line in enumerate(lines, 1)]
        return draw(_otherwise("\n".join(lines))), reader, "text", found
    written = [json.dumps(row, ensure_ascii=draw(st.booleans())) for row in rows]
    return draw(_otherwise("\n".join(written))), reader, "jsonl", expected


@st.composite
def _otherwise(draw: st.DrawFn, lines: str) -> bytes:
    """The same lines with other ends, a byte order mark, or an empty line at the end."""
    ends, mark, last = (draw(st.sampled_from(one)) for one in (("\n", "\r\n"), ("", "\ufeff"), ("", "\n", "\n\n")))
    return (mark + lines.removesuffix("\n").replace("\n", ends) + last.replace("\n", ends)).encode()


def _sound_tables(folder: Path) -> SearchStrategy[Any]:
    """The sets of others, written otherwise, with all readers that take them; what must be read is what was."""
    path = folder / "sound"
    cases = []
    for table in _TABLES:
        path.write_text(table, encoding="utf-8")
        for reader in _READERS:
            with suppress(DataError):
                cases.append(st.tuples(_otherwise(table), st.just(reader), st.none(), st.just(list(reader(path)))))
    return st.one_of(cases)


def data_cases() -> tuple[SearchStrategy[Any], Any]:
    """Sound and damaged files of every format, and what is none."""
    folder = fresh_folder()
    lines = st.lists(st.sampled_from(_ROWS).flatmap(damaged_json) | st.sampled_from(_ROWS).map(json.dumps), min_size=1)
    files = st.one_of(
        lines.map(lambda rows: "\n".join(rows).encode("utf-8", "surrogatepass")),
        st.sampled_from(_ROWS).flatmap(damaged_file),
        st.sampled_from(_TABLES).flatmap(lambda table: damaged(table.encode(), 120)),
        texts().map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.sampled_from((_XML_BOMB, b"\xff\xfea\x00", b"\x1f\x8b\x08\x00", b"PAR1", b"")),
    )
    forms = st.none() | st.sampled_from(("jsonl", "text", "winograd-xml", "xwinograd", "gap", "blimp", "nothing", ""))
    anything = st.tuples(files, st.sampled_from(_READERS), forms, st.none())
    sound = _sound_rows() | _sound_tables(folder)

    def check(case: Any) -> None:
        (content, reader, form, expected), skips = case
        path = folder / "data"
        path.write_bytes(content)
        skipped = BadRows() if skips else None
        with answers(sound=expected is not None):
            read = list(itertools.islice(reader(path, form=form, skipped=skipped), 50))
        for found in read:
            assert found.id
            json.dumps(found.id, ensure_ascii=False).encode()
            str(found)
        for row in skipped or ():
            assert row.line >= 1
        assert expected in (None, read)

    return st.tuples(with_sound(sound, anything), st.booleans()), check


_TALK = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
    ]
}


def talk_cases() -> tuple[SearchStrategy[Any], Any]:
    """Messages as JSON, through a real chat template; and files of one text a line."""
    folder, tokenizer = fresh_folder(), real_tokenizer("smollm2")
    roles = st.sampled_from(("user", "assistant", "system"))
    message = st.fixed_dictionaries({"role": roles, "content": st.text(st.characters(codec="utf-8"), min_size=1)})
    sound = st.lists(message, min_size=1, max_size=4).flatmap(lambda given: same_json({"messages": given}))
    talks = st.one_of(
        sound,
        damaged_file(_TALK),
        damaged_file(_TALK["messages"]),
        texts().map(lambda text: json.dumps([{"role": "user", "content": text}]).encode()),
        texts().map(lambda text: json.dumps([{"role": text, "content": "Hi"}]).encode()),
    )
    lists = damaged_file({"text": "The cat sat."}) | texts().map(lambda text: text.encode("utf-8", "surrogatepass"))

    def check(case: Any) -> None:
        content, is_talk = case
        path = folder / ("talk.json" if is_talk else "list.jsonl")
        path.write_bytes(content)
        if not is_talk:
            assert all(text.strip() for text in read_texts(f"@{path}"))
            return
        messages = _messages(str(path))
        chat = apply_template(tokenizer, messages)
        plain = [{"role": one.role, "content": one.content} for one in messages]
        asked = messages[-1].role != "assistant"
        assert chat.text == tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=asked)
        for span in chat.spans:
            for start, end in span.ranges:
                assert 0 <= start < end <= len(chat.text)

    return st.tuples(talks, st.just(value=True)) | st.tuples(lists, st.just(value=False)), check


def kept_cases() -> tuple[SearchStrategy[Any], Any]:
    """What Heedmap itself keeps in files between two runs: records of the cache and a learner's progress."""
    from heedmap.lessons.progress import Progress
    from heedmap.models.record import read_record

    folder = fresh_folder()
    (folder / "model.safetensors").write_bytes(b"weights")
    record = {
        "schema": "heedmap/source/1", "name": "tiny", "origin": "o", "origin_sha256": "0" * 64, "when": "now",
        "files": {"model.safetensors": {"size": 7, "sha256": "0" * 64, "mtime_ns": 1}}, "versions": {"torch": "2"},
    }  # fmt: skip
    progress = {"schema": "heedmap/progress/1", "last": "one", "lessons": {"one-word-looks-back": {"page": 2}}}

    def check(case: Any) -> None:
        kind, content = case
        (folder / ("source.json" if kind == "record" else "progress.json")).write_bytes(content)
        if kind == "record":
            read_record(folder)
            return
        kept = Progress(folder)
        kept.lesson("one-word-looks-back")
        with kept.changing("one-word-looks-back") as lesson:
            lesson["page"] = 3
        assert kept.lesson("one-word-looks-back")["page"] == 3

    return st.tuples(st.just("record"), damaged_file(record)) | st.tuples(
        st.just("progress"), damaged_file(progress)
    ), check


TARGETS = (
    Target("data", "data sets of all ten formats, sound and damaged", data_cases, few=60, many=20_000),
    Target("talks", "chat messages and lists of texts in JSON, sound and damaged", talk_cases, few=30, many=5000),
    Target("kept", "records of the cache and a learner's progress, damaged", kept_cases, few=30, many=5000),
)
