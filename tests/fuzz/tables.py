"""Data sets of every format, talks, reports and claims: damaged, and read as a command would read them."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from heedmap.cli.spans import _messages
from heedmap.cli.texts import read_texts
from heedmap.errors import FileError
from heedmap.lab.agreement import check as check_figures
from heedmap.lab.claims import check_claim, parse_claim
from heedmap.lab.data import BadRows, contrasts, pairs, questions, sentences, units
from heedmap.lab.expectations import parts_for, read_expectations
from heedmap.lab.registry import EXPERIMENTS
from heedmap.lab.report import read_report
from heedmap.lab.request import Request
from heedmap.text.chat import apply_template
from tests.fuzz.command_line import run
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, damaged_file, damaged_json, texts
from tests.fuzz.target import Target
from tests.fuzz.texts import real_tokenizer
from tests.lab.making import PAIR, TOY, run_toy

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


def data_cases() -> tuple[SearchStrategy[Any], Any]:
    """Damaged files of every format, and what is none."""
    folder = fresh_folder()
    lines = st.lists(st.sampled_from(_ROWS).flatmap(damaged_json) | st.sampled_from(_ROWS).map(json.dumps), min_size=1)
    files = st.one_of(
        lines.map(lambda rows: "\n".join(rows).encode("utf-8", "surrogatepass")),
        st.sampled_from(_ROWS).flatmap(damaged_file),
        st.sampled_from(_TABLES).flatmap(lambda table: damaged(table.encode(), 120)),
        texts().map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.sampled_from((_XML_BOMB, b"\xff\xfea\x00", b"\x1f\x8b\x08\x00", b"PAR1", b"")),
    )
    readers = (sentences, pairs, units, questions, contrasts)
    forms = st.none() | st.sampled_from(("jsonl", "text", "winograd-xml", "xwinograd", "gap", "blimp", "nothing", ""))

    def check(case: Any) -> None:
        content, reader, form, skips = case
        path = folder / "data"
        path.write_bytes(content)
        skipped = BadRows() if skips else None
        for found in itertools.islice(reader(path, form=form, skipped=skipped), 50):
            assert found.id
            json.dumps(found.id, ensure_ascii=False).encode()
            str(found)
        for row in skipped or ():
            assert row.line >= 1

    return st.tuples(files, st.sampled_from(readers), forms, st.booleans()), check


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
    talks = st.one_of(
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
        chat = apply_template(tokenizer, _messages(str(path)))
        for span in chat.spans:
            for start, end in span.ranges:
                assert 0 <= start < end <= len(chat.text)

    return st.tuples(talks, st.just(value=True)) | st.tuples(lists, st.just(value=False)), check


_CLAIMS = ("fine", "not fine", "toy.mean", "toy.mean.low", "toy.mean.n", ">", "<=", "==", "!=", " and ", "0.4", "1e999")


def _claims() -> SearchStrategy[str]:
    words = st.sampled_from(
        (*_CLAIMS, "nan", "inf", "1_0", "²", "true", "and", "..", "toy..mean", "-", "toy.mean.high")
    )
    return st.lists(words | st.text(max_size=4), max_size=9).map(" ".join) | st.text(max_size=30)


def report_cases() -> tuple[SearchStrategy[Any], Any]:
    """A damaged report, plan or file of expectations, and claims about a sound one, by the commands that read them."""
    EXPERIMENTS["toy"] = TOY
    folder = fresh_folder()
    run_toy(folder / "sound")
    report = json.loads((folder / "sound" / "report.json").read_text())
    plan = json.loads((folder / "sound" / "run.json").read_text())
    figures = {name: {"value": one["value"], "tolerance": 0.1} for name, one in report["figures"].items()}
    expected = {
        "schema": "heedmap/expectations/1",
        "title": "toy",
        "model": {"name": "toy", "sha256": None},
        "parts": [{"title": "t", "experiment": "toy", "settings": {"seed": 0}, "figures": figures}],
    }
    cases = st.one_of(
        st.tuples(st.just("report"), damaged_file(report), _claims()),
        st.tuples(st.just("plan"), damaged_file(plan), st.none()),
        st.tuples(st.just("expectations"), damaged_file(expected), st.none()),
        st.tuples(st.just("claim"), _claims(), st.none()),
    )
    return cases, _ReportCheck(folder)


class _ReportCheck:
    """Each kind of file as the command reads it that takes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.figures, self.verdicts, self.run = read_report(folder / "sound")

    def __call__(self, case: Any) -> None:
        kind, content, claim = case
        path = self.folder / "given" / ("run.json" if kind == "plan" else "report.json")
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        if kind == "report":
            _, _, ran = read_report(path)
            Request.from_json(ran["request"])
            run(["lab", "check", str(path), f"--claim={claim}"])
        elif kind == "plan":
            shutil.rmtree(self.folder / "merged", ignore_errors=True)
            run(["lab", "merge", str(path.parent), "-o", str(self.folder / "merged")])
            raise FileError("what was merged is no shard")
        elif kind == "expectations":
            for part in parts_for(read_expectations(path), self.run, other_weights=True):
                check_figures(part.figures, self.figures)
        else:
            check_claim(parse_claim(content), self.figures, self.verdicts, {"fine", "not fine"})


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
    Target("data", "data sets of all ten formats, damaged", data_cases, few=60, many=20_000),
    Target("talks", "chat messages and lists of texts in JSON, damaged", talk_cases, few=30, many=5000),
    Target("reports", "reports, plans, expected figures and claims, damaged", report_cases, few=30, many=5000),
    Target("kept", "records of the cache and a learner's progress, damaged", kept_cases, few=30, many=5000),
)
