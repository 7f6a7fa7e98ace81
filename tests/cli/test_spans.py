"""`heedmap spans`: tables that answer, files, JSON, chats, other orders, and errors of one line."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.printed import assert_same_json

PROMPT = """Answer with the documents only.

### Document 1
The harbour has two piers.

### Document 2
Bread rests for an hour before it is baked.

Question: how long must the bread rest? Answer:"""
QUESTION = f"question={PROMPT.index('Question')}:"
MARKED = ("spans", PROMPT, "--split", "### Document", "--span", QUESTION)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "messages.json"
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How long must bread rest?"},
        {"role": "assistant", "content": "An hour."},
        {"role": "user", "content": "And the tram?"},
    ]
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    return path


def test_a_sentence_and_a_table(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command(*MARKED)
    assert run.code == 0
    assert run.out.startswith("From its last token, smollm2 looks most at “question” (0.")
    lines = run.out.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("part "))
    lines = lines[head + 1 :]
    names = [line.split("  ")[0] for line in lines[:6]]
    assert names[0] == "question"
    assert set(names[1:3]) == {"Document 1", "Document 2"}
    assert names[3:6] == ["rest", "first token “Answer”", "all"]
    shares = smollm2.spans(PROMPT, {"question": QUESTION.partition("=")[2]}, split="### Document")
    line = shares.share("question")
    assert f"{line.share:.3f}" in lines[0]
    assert f"{line.times:.1f}" in lines[0]
    assert lines[5].split()[-1] == "1.000"
    assert "This does not show" in run.out
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())
    assert "smollm2, 30 layers x 9 heads, float32" in run.err


def test_layers_heads_and_who_looks(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command(*MARKED, "--layers", "7,10-12", "--head", "3", "--of", "bread", "--by-layer", "--per-head")
    assert run.code == 0
    assert "mean over layers 7, 10, 11, 12, head 3; from “bread”" in run.out
    assert "share of each part, layer by layer: head 3" in run.out
    assert "the heads that look most, by how many times an ordinary share:" in run.out
    assert any(line.startswith("question: layer") for line in run.out.splitlines())
    one = heedmap_command(*MARKED, "--layers", "7", "--json")
    assert {row["layer"] for row in one.json["rows"]} == {None, 7}


def test_json(heedmap_command: CommandLine) -> None:
    found = heedmap_command(*MARKED, "--json", "--per-head", "--layers", "4").json
    assert found["schema"] == "heedmap/spans/1"
    assert found["of"]["name"] == "its last token"
    assert [part["name"] for part in found["parts"]] == [
        "first token", "question", "Document 1", "Document 2", "rest",
    ]  # fmt: skip
    assert len(found["rows"]) == 5 * (1 + 1 + 9)
    total = sum(row["share"] for row in found["rows"] if (row["layer"], row["head"]) == (4, 8))
    assert total == pytest.approx(1.0, abs=1e-5)


def test_the_same_from_the_command_line_and_from_python(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command("spans", PROMPT, "--span", "a=tok:0:9", "--span", "b = x=9:40", "--json", "--layers", "3")
    assert run.code == 1
    assert "'b = x'" not in run.out
    found = heedmap_command("spans", PROMPT, "--span", "a=tok:0:3", "--span", "b=30:60", "--json", "--layers", "3").json
    expected = smollm2.spans(PROMPT, {"a": "tok:0:3", "b": "30:60"}, layers=3).to_json()
    assert_same_json(found, json.loads(json.dumps(expected)))


def test_files(heedmap_command: CommandLine, tmp_path: Path) -> None:
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        run = heedmap_command(*MARKED, "--layers", "4,5", "-o", str(tmp_path / f"a{suffix}"))
        assert (run.code, run.out) == (0, "")
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(start)
    run = heedmap_command(*MARKED, "--layers", "4,5", "-o", str(tmp_path / "a.csv"), "--json")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(run.json["rows"]) == 5 * 3
    assert float(lines[6]["share"]) == run.json["rows"][6]["share"]
    assert heedmap_command(*MARKED, "--layers", "4", "-o", str(tmp_path / "a.parquet")).code == 0
    run = heedmap_command(*MARKED, "--layers", "4", "-o", str(tmp_path / "a.gif"))
    assert run.code == 1
    assert ".png, .svg or .pdf" in run.err


def test_a_chat(heedmap_command: CommandLine, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = heedmap_command("spans", "--chat", str(chat))
    assert run.code == 0
    names = [line.split("  ")[0] for line in run.out.splitlines()]
    assert {"system", "user 1", "assistant 1", "user 2", "template", "special tokens"} <= set(names)
    assert "first token “<|im_start|>”" in names
    assert "special tokens have a line of their own: <|im_end|>, <|im_start|>" in " ".join(run.out.split())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(chat.read_bytes())))
    assert heedmap_command("spans", "--chat", "-").out == run.out
    found = heedmap_command("spans", "--chat", str(chat), "--json", "--layers", "2").json
    turns = {part["name"]: part for part in found["parts"]}
    start, end = turns["user 2"]["ranges"][0]
    assert found["text"][start:end] == "And the tram?"


def test_chats_that_cannot_be_read(heedmap_command: CommandLine, chat: Path) -> None:
    run = heedmap_command("spans", "--chat", str(chat), "--model", "minilm")
    assert run.code == 1
    assert run.err.splitlines()[-1].startswith("heedmap: the tokenizer of minilm has no chat template")
    chat.write_text('{"messages": [', encoding="utf-8")
    run = heedmap_command("spans", "--chat", str(chat))
    assert run.code == 1
    assert f"{chat} is not JSON: " in run.err
    assert "in line 1, column 15" in run.err
    chat.write_text('[{"role": "user", "content": ""}, {"role": "user", "content": "Hi"}]', encoding="utf-8")
    run = heedmap_command("spans", "--chat", str(chat))
    assert "“user 1” is no part: the chat template leaves out or changes its content, or it holds no token" in run.err


def test_other_orders(heedmap_command: CommandLine, tmp_path: Path) -> None:
    run = heedmap_command(*MARKED, "--permute", "--layers", "3,20")
    assert run.code == 0
    assert "2 orders of 2 parts: 2 runs of" in run.err
    assert "of the differences between the parts' shares per token go with the" in " ".join(run.out.split())
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())
    run = heedmap_command(
        *MARKED, "--permute", "5", "--seed", "3", "--documents", "question, Document 1", "--layers", "3", "--json"
    )
    assert [one["name"] for one in run.json["documents"]] == ["Document 1", "question"]
    assert run.json["schema"] == "heedmap/permuted-spans/1"
    for name in ("p.csv", "p.svg"):
        assert heedmap_command(*MARKED, "--permute", "--layers", "3", "-o", str(tmp_path / name)).code == 0
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("spans",), "give either TEXT or --chat FILE"),
        (("spans", "a b", "--chat", "x.json"), "give either TEXT or --chat FILE"),
        (("spans", "--chat", "x.json", "--split", "turns"), "leave --span, --split and --permute out"),
        (("spans", "a b"), "no part was named: give --span NAME=START:END, --split RULE or --chat FILE"),
        (("spans", "a b", "--span", "0:3"), "'0:3' has no name and range: write NAME=START:END"),
        (("spans", "a b", "--span", "=0:3"), "has no name and range"),
        (("spans", "a b", "--span", "x=0:1", "--span", "x=2:3"), "two parts have one name"),
        (("spans", "a b", "--split", "paragraphs", "--documents", "x"), "--documents goes with --permute"),
        (("spans", "a b", "--split", "paragraphs", "--permute", "many"), "'many' is no number of orders"),
        (("spans", "a b", "--split", "paragraphs", "--permute", "3", "--head", "1"), "leave --head"),
        (("spans", "a b", "--split", "paragraphs", "--layers", "x"), "'x' is neither a layer nor a range"),
    ],
)
def test_command_lines_that_cannot_be_parsed(
    arguments: tuple[str, ...], message: str, heedmap_command: CommandLine
) -> None:
    run = heedmap_command(*arguments)
    assert (run.code, run.out) == (2, "")
    assert message in " ".join(run.err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("The cat sat", "--span", "a=0:7", "--span", "b=5:9"), "spans 'a' (0:7) and 'b' (5:9) overlap in characters"),
        (("The cat sat", "--span", "a=0:70"), "reaches outside the text, which has 11 characters, 0:11"),
        (("The cat sat", "--span", "a=4:4"), "span 'a' (4:4) is empty"),
        (("The cat sat", "--span", "a=cat"), "span 'a' is not a range: 'cat'"),
        (("The cat sat", "--split", "###"), "the marker '###' does not stand in the text"),
        (("The cat sat", "--span", "a=4:7", "--of", "dog"), "'dog' does not stand in the text"),
        (("The cat sat", "--span", "a=4:7", "--head", "9"), "head 9 is out of range"),
        (("The cat sat", "--span", "a=4:7", "--layers", "30"), "layer 30 is out of range"),
        (("The cat sat", "--span", "a=4:7", "--permute"), "1 document cannot be reordered"),
        (("The cat sat", "--span", "a=4:7", "--permute", "--truncate"), "cannot be compared"),
        (("@missing.txt", "--split", "paragraphs"), "cannot read missing.txt"),
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], message: str, heedmap_command: CommandLine) -> None:
    run = heedmap_command("spans", *arguments)
    assert (run.code, run.out) == (1, "")
    last = run.err.splitlines()[-1]
    assert last.startswith("heedmap: ")
    assert message in last
