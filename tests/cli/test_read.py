"""`heedmap read`: the row as bars and as JSON, layer by layer, and the errors that people meet."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.conftest import TROPHY
from tests.printed import assert_same_json


def test_the_row_of_the_lesson(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", TROPHY, "--word", "it", "--layer", "16", "--head", "3")
    assert run.code == 0
    assert "where “it” looks: layer 16, head 3 of smollm2" in run.out
    for expected in ("The      0.241", "trophy   0.565", "adds up to 1.000", "4 later tokens cannot be seen"):
        assert expected in run.out
    assert "largest: trophy 0.565, The 0.241, did 0.062" in run.out
    assert "an ordinary share is 0.076: what “The” leaves, over 10 other tokens" in run.out
    assert "head 3 reads key-value head 1, together with 4 and 5" in run.out
    assert run.err == "smollm2, 30 layers x 9 heads, float32; 15 tokens; no special tokens added\n"
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())


def test_the_json_of_the_row(heedmap_command: CommandLine, smollm2: Model) -> None:
    row = heedmap_command("read", TROPHY, "--word", "it", "--layer", "16", "--head", "3", "--json").json
    assert row["schema"] == "heedmap/row/1"
    assert row["model"] == smollm2.describe()
    assert row["text"] == TROPHY
    assert row["tokens"][1] == {"index": 1, "text": " trophy", "start": 3, "end": 10, "special": False}
    assert (row["word"], row["query"], row["layer"], row["head"]) == ("it", [10], 16, 3)
    assert row["weights"][1] == pytest.approx(0.565, abs=5e-4)
    assert row["weights"][11:] == [None] * 4
    assert_same_json(row, smollm2.read(TROPHY).row("it", 16, 3).to_json())


def test_the_middle_layer_and_the_mean_over_heads_are_named(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", TROPHY, "--word", "it")
    assert "layer 15, mean over heads of smollm2" in run.out
    assert "no layer was given: 15 is the middle one of 30" in run.err


def test_a_word_of_two_tokens_says_its_rule(heedmap_command: CommandLine) -> None:
    mean = heedmap_command("read", TROPHY, "--word", "suitcase")
    assert "“suitcase” is 2 tokens (suit case): this is the mean of their rows" in mean.out
    last = heedmap_command("read", TROPHY, "--word", "suitcase", "--query-rule", "last")
    assert "this is the row of the last" in last.out
    assert mean.out != last.out


def test_layer_by_layer(heedmap_command: CommandLine, smollm2: Model) -> None:
    words = ("read", TROPHY, "--word", "it", "--layer", "all", "--on", "trophy,suitcase")
    run = heedmap_command(*words)
    assert run.code == 0
    lines = [line for line in run.out.splitlines() if line.lstrip()[:2].strip().isdigit()]
    assert len(lines) == 30
    reading = smollm2.read(TROPHY)
    for layer, line in enumerate(lines):
        row = reading.row("it", layer)
        shares = (row.share("trophy"), row.share("suitcase"), row.share("suitcase") / 2, row.weights[0])
        number, *printed = (word for word in line.split() if word[0].isdigit())
        assert number == str(layer)
        assert [float(share) for share in printed] == pytest.approx(shares, abs=5.1e-4)  # three digits are shown
    data = heedmap_command(*words, "--json").json
    assert data["schema"] == "heedmap/rows/1"
    assert [row["layer"] for row in data["rows"]] == list(range(30))


def test_text_from_a_file_and_from_stdin(
    heedmap_command: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = heedmap_command("read", TROPHY, "--word", "it", "--json").json
    (tmp_path / "a text.txt").write_bytes(b"\xef\xbb\xbf" + TROPHY.encode())
    from_file = heedmap_command("read", f"@{tmp_path / 'a text.txt'}", "--word", "it", "--json")
    assert_same_json(from_file.json, expected)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(TROPHY.encode())))
    assert_same_json(heedmap_command("read", "-", "--word", "it", "--json").json, expected)
    assert heedmap_command("read", "@@home", "--json").json["text"] == "@home"


def test_special_tokens_are_said_and_can_be_left_out(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", "The cat sat.", "--model", "minilm", "--word", "cat")
    assert "special tokens added: [CLS] [SEP]" in run.err
    assert "* 0  [CLS]" in run.out
    without = heedmap_command("read", "The cat sat.", "--model", "minilm", "--word", "cat", "--no-special-tokens")
    assert "no special tokens added" in without.err


def test_a_long_text_can_be_cut(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", "word " * 600, "--model", "minilm", "--truncate", "--word", "@3")
    assert run.code == 0
    assert "90 tokens cut off to fit the model's positions" in run.err


ERRORS = {
    "unknown word": ([TROPHY, "--word", "trophies"], "trophy"),
    "no such occurrence": ([TROPHY, "--word", "it#2"], "it"),
    "word that stands twice": ["it and it", "--word", "it"],
    "layer": ([TROPHY, "--word", "it", "--layer", "30"], "layer 30 is out of range: the model has 30 layers, 0 to 29"),
    "head": ([TROPHY, "--word", "it", "--head", "9"], "head 9 is out of range: layer 15 has 9 heads, 0 to 8"),
    "empty text": (["", "--word", "it"], "the text is empty"),
    "blank text": ([" \n ", "--word", "it"], "the text is empty"),
    "no file": (["@nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
    "too long": (["word " * 600, "--model", "minilm"], "602 tokens"),
    "unknown model": ([TROPHY, "--model", "smolm2"], "smollm2"),
    "unknown dtype": ([TROPHY, "--dtype", "float8"], "float8"),
    "unknown device": ([TROPHY, "--device", "tpu7"], "tpu7"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_fails_is_one_line_and_exit_1(
    name: str, heedmap_command: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    entry = ERRORS[name]
    arguments, expected = entry if isinstance(entry, tuple) else (entry, "it#2")
    run = heedmap_command("read", *arguments)
    assert run.code == 1
    assert run.out == ""
    lines = run.err.splitlines()
    assert lines[-1].startswith("heedmap: ")
    assert expected in lines[-1]
    assert "Traceback" not in run.err
    assert len([line for line in lines if line.startswith("heedmap: ")]) == 1


@pytest.mark.parametrize(
    "arguments",
    [[], [TROPHY, "--layer", "deep"], [TROPHY, "--head", "x"], [TROPHY, "--on", "it"], [TROPHY, "--wrod", "it"]],
)
def test_what_cannot_be_parsed_is_exit_2(arguments: list[str], heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", *arguments)
    assert run.code == 2
    assert "Usage: heedmap read" in run.err
    assert "Traceback" not in run.err


def test_a_file_that_is_not_text(heedmap_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "latin1.txt").write_bytes("naïve".encode("latin-1"))
    run = heedmap_command("read", f"@{tmp_path / 'latin1.txt'}")
    assert run.code == 1
    assert "is not UTF-8 text (byte 2 is 0xef)" in run.err


def test_hard_texts_are_read_or_refused_in_one_line(
    heedmap_command: CommandLine, data_folder: Path, tmp_path: Path
) -> None:
    for path in sorted((data_folder / "hard").iterdir()):
        beginning = tmp_path / path.name
        beginning.write_bytes(path.read_bytes()[:400])
        run = heedmap_command("read", f"@{beginning}", "--layer", "3")
        assert run.code in (0, 1), path
        assert "Traceback" not in run.err
        assert "unexpected error" not in run.err, path
        assert "\x1b" not in run.out, path
        if run.code == 0:
            assert all(cell_len(line) <= 80 for line in run.out.splitlines()), path
