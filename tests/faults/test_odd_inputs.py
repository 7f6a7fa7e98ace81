"""Devices, folders and pipes where files are due, numbers without end, closed streams: one line, exit code 1 or 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import heedmap
from heedmap.errors import FileError
from heedmap.given_files import LARGEST, read_bytes
from heedmap.reading import loading
from heedmap.reading.model import Model
from tests.faults.processes import ROOT
from tests.fuzz.command_line import Failed, NotParsed, Refused, run
from tests.models.making import tiny_tokenizer
from tests.tiny import tiny_model

TEXT = "the cat sat"
MANY = "9" * 5000
"""More digits than Python reads as a number."""

READERS = (
    ("compute",), ("cost",), ("lab", "check", "--claim", "a > 0"), ("lab", "rerun"), ("learn", "check"),
    ("lab", "sink", "--data"), ("lab", "merge", "-o", "{folder}/merged"), ("spans", "--chat"),
    ("lab", "compare", "--limit", "1", "--first", "{folder}/text", "--second"),
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Model:
    return heedmap.wrap(tiny_model("llama", vocab_size=len(tiny_tokenizer())), tiny_tokenizer(), name="tiny")


@pytest.fixture(autouse=True)
def tiny(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny model, whatever is asked for."""
    monkeypatch.setattr(loading, "load", lambda *_, **__: model)


def refused(*arguments: str, given: bytes = b"") -> str:
    """The line that a command ends with."""
    with pytest.raises(Refused) as caught:
        run(list(arguments), given)
    assert isinstance(caught.value, Failed | NotParsed)
    assert len(str(caught.value)) < 4100
    return str(caught.value)


@pytest.mark.parametrize("command", READERS, ids=" ".join)
@pytest.mark.parametrize(
    "what", ["/dev/zero", "{folder}", "{folder}/nothing", "/proc/self/mem", "{folder}/a\nb\x1b[31m"]
)
def test_what_is_no_file_is_refused_in_a_line(command: tuple[str, ...], what: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT)
    arguments = [one.format(folder=tmp_path) for one in (*command, what)]
    said = refused(*arguments)
    assert "\x1b" not in said
    assert "\n" not in said


@pytest.mark.parametrize("place", ["/dev/full", "{folder}", "{folder}/none/file", "{folder}/" + "n" * 300])
@pytest.mark.parametrize("ending", [".png", ".csv"])
def test_where_nothing_can_be_written(place: str, ending: str, tmp_path: Path) -> None:
    path = place.format(folder=tmp_path) + (ending if "file" in place or "nnn" in place else "")
    assert "cannot write" in refused("map", TEXT, "-o", path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("read", TEXT, "--word", f"@{MANY}"),
        ("read", TEXT, "--word", f"cat#{MANY}"),
        ("read", TEXT, "--layer", MANY),
        ("spans", TEXT, "--span", "a=4:7", "--of", f"0:{MANY}"),
        ("spans", TEXT, "--span", f"a=tok:{MANY}:"),
        ("spans", f"{TEXT}\n\n{TEXT}", "--split", "paragraphs", "--permute", MANY),
        ("stats", TEXT, "--layers", MANY),
        ("stats", TEXT, "--layers", "0-999999999"),
        ("view", TEXT, "--max-mb", "1e400", "-o", "nowhere.html"),
        ("cost", "smollm2", "--tokens", "9" * 400),
        ("lab", "sink", "--shard", f"{MANY}/{MANY}"),
        ("learn", "read", MANY),
        ("learn", "exercise", "softmax", "--seed", MANY),
        ("compute", "--example", "cat", "--set-key", f"the#{MANY}=1,2"),
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_numbers_without_end(arguments: tuple[str, ...]) -> None:
    refused(*arguments)


@pytest.mark.parametrize("given", [b"", b" \n\n", b"\xff", b"\xff\xfea\x00"], ids=repr)
@pytest.mark.parametrize(
    "command", [("read", "-"), ("compute", "-"), ("spans", "--chat", "-"), ("lab", "sink", "--data", "-")]
)
def test_nothing_and_no_text_on_standard_input(command: tuple[str, ...], given: bytes) -> None:
    refused(*command, given=given)


@pytest.mark.slow
def test_sentences_of_one_token_have_a_report(tmp_path: Path) -> None:
    run(["lab", "sink", "--data", "-", "--draws", "100", "-o", str(tmp_path / "report")], b"a\n")
    assert (tmp_path / "report" / "report.html").is_file()


def test_a_file_larger_than_all_texts_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(FileError, match="holds more than 256 MiB: give a part of it"):
        read_bytes(tmp_path / "sparse")


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    with pytest.raises(FileError, match="no file can have this name"):
        read_bytes(name)


def test_a_pipe_is_read_as_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", f"printf sun > {tmp_path / 'pipe'}"]):
        assert read_bytes(tmp_path / "pipe") == b"sun"


CLOSED = {
    ">&-": (1, "heedmap: standard output is closed: there is nowhere to write the answer to\n"),
    "> /dev/full": (1, "heedmap: No space left on device\n"),
    "2>&- <&-": (0, ""),
}


@pytest.mark.parametrize("how", CLOSED)
def test_streams_that_are_closed_or_full(how: str) -> None:
    ended = subprocess.run(
        ["sh", "-c", f'"$0" -m heedmap compute --example cat {how}', sys.executable],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == CLOSED[how]
