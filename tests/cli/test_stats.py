"""`heedmap stats`: the overview, lists of heads, data sets, files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.conftest import ROUNDING, TROPHY
from tests.printed import assert_same_json

SOME = ("stats", TROPHY, "--layers", "3,16-18")
SHOWN = 5.1e-4
"""Three digits after the point are shown."""


def test_the_overview_fits_80_columns_and_names_the_heads_that_stand_out(heedmap_command: CommandLine) -> None:
    run = heedmap_command("stats", TROPHY)
    assert run.code == 0
    lines = run.out.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    assert lines[0] == "smollm2, 15 tokens: means over the 14 positions after the first"
    assert [line.split()[0] for line in lines[3:33]] == [str(layer) for layer in range(30)]
    previous = next(line for line in lines if line.startswith("most on the token before"))
    assert previous.split()[5:7] == ["L16H0", "0.769"]
    assert "no special tokens in the text" in run.out
    assert "30 layers x 9 heads, float32; 15 tokens; no special tokens added" in run.err
    assert "`--heads` lists all 270 heads" in run.err


def test_with_special_tokens_and_every_column_it_still_fits(heedmap_command: CommandLine) -> None:
    run = heedmap_command("stats", "one two three four five. " * 60, "--model", "minilm", "--largest", "--heads")
    assert run.code == 0
    lines = run.out.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    assert lines[2].split() == [
        *("head", "first", "itself", "prev.", "special", "entropy"),
        *("of", "max", "tokens", "back", "largest"),
    ]
    assert sum(line.strip().startswith("L") for line in lines) == 72
    assert "special tokens added: [CLS] [SEP]" in run.err


def test_heads_are_sorted(heedmap_command: CommandLine) -> None:
    run = heedmap_command(*SOME, "--sort", "previous")
    heads = [line.split()[0] for line in run.out.splitlines() if line.strip().startswith("L")]
    assert heads[0] == "L16H0"
    assert len(heads) == 20
    assert "20 of 36 heads" in run.out
    backwards = heedmap_command(*SOME, "--sort", "previous", "--ascending", "--heads")
    every = [line.split()[0] for line in backwards.out.splitlines() if line.strip().startswith("L")]
    assert len(every) == 36
    assert every[-1] == "L16H0"


def test_json_is_what_the_library_returns(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command(*SOME, "--json")
    assert run.code == 0
    want = json.loads(json.dumps(smollm2.stats(TROPHY, layers=[3, 16, 17, 18]).to_json(), allow_nan=False))
    assert_same_json(run.json, want)
    assert list(run.json) == ["schema", "model", "text", "tokens", "rows"]
    positions = heedmap_command(*SOME, "--json", "--positions", "--received").json["rows"][0]
    assert len(positions["positions"]["first"]) == len(positions["received"]) == 15


def test_medians_are_shown(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command("stats", TROPHY, "--layers", "16", "--heads", "--median")
    stats = smollm2.stats(TROPHY, layers=16)
    assert "medians over the 14 positions" in run.out
    line = next(line for line in run.out.splitlines() if line.strip().startswith("L16H3"))
    assert float(line.split()[1]) == pytest.approx(stats["first_median"][3], abs=SHOWN)


def test_the_curve_over_position(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command(*SOME, "--positions")
    ranges = [line.split()[0] for line in run.out.splitlines()[3:7]]
    assert ranges == ["1", "2-3", "4-7", "8-14"]
    curve = smollm2.stats(TROPHY, layers=[3, 16, 17, 18], positions=True).curve("first")
    assert float(run.out.splitlines()[4].split()[1]) == pytest.approx(curve[2:4].mean(), abs=SHOWN)


def test_what_tokens_receive(heedmap_command: CommandLine) -> None:
    run = heedmap_command(*SOME, "--received")
    assert "what tokens receive in smollm2: all layers, the mean over heads" in run.out
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())


def test_each_line_is_a_text(heedmap_command: CommandLine, smollm2: Model, tmp_path: Path) -> None:
    texts = ["The cat sat on the mat.", TROPHY]
    (tmp_path / "texts.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    lines = "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts))
    (tmp_path / "texts.jsonl").write_text(lines, encoding="utf-8")
    run = heedmap_command("stats", f"@{tmp_path}/texts.txt", "--lines", "--layers", "16", "--json")
    assert run.code == 0
    assert_same_json(run.json, heedmap_command("stats", f"@{tmp_path}/texts.jsonl", "--layers", "16", "--json").json)
    assert run.json["schema"] == "heedmap/stats-of-texts/1"
    assert [text["text"] for text in run.json["texts"]] == texts
    means = np.mean([smollm2.stats(text, layers=16)["first"] for text in texts], 0)
    assert [row["first"] for row in run.json["rows"]] == pytest.approx(means.tolist(), abs=ROUNDING)
    shown = heedmap_command("stats", f"@{tmp_path}/texts.jsonl", "--layers", "16")
    assert "smollm2, 2 texts of 7 to 15 tokens: means of each text's means" in shown.out
    assert "2 texts, 22 tokens" in shown.err


def test_tables_as_files(heedmap_command: CommandLine, smollm2: Model, tmp_path: Path) -> None:
    stats = smollm2.stats(TROPHY, layers=[3, 16, 17, 18])
    run = heedmap_command(*SOME, "-o", str(tmp_path / "heads.csv"))
    assert (run.code, run.out) == (0, "")
    assert f"wrote {tmp_path / 'heads.csv'}" in run.err
    with (tmp_path / "heads.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(stats.columns)
    assert [float(row["entropy"]) for row in rows] == stats["entropy"].tolist()
    assert (rows[9]["layer"], rows[9]["head"], rows[9]["sink"]) == ("16", "0", "")
    parquet = pytest.importorskip("pyarrow.parquet")
    assert heedmap_command(*SOME, "--positions", "-o", str(tmp_path / "heads.parquet")).code == 0
    table = parquet.read_table(tmp_path / "heads.parquet")
    assert table.num_rows == 36 * 15
    assert json.loads(table.schema.metadata[b"heedmap"])["model"]["name"] == "smollm2"
    first = table.slice(0, 1).to_pylist()[0]
    assert first["previous"] is None
    assert first["itself"] == pytest.approx(1, abs=1e-5)
    (tmp_path / "two.txt").write_text(f"{TROPHY}\nThe cat sat.\n", encoding="utf-8")
    two = heedmap_command(
        "stats", f"@{tmp_path}/two.txt", "--lines", "--layers", "3", "-o", str(tmp_path / "two.parquet")
    )
    assert two.code == 0
    assert parquet.read_table(tmp_path / "two.parquet")["text"].to_pylist() == [0] * 9 + [1] * 9


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--sort", "fist"), 1, "there is no statistic 'fist': take first, itself, previous"),
        (("--sort", "largest"), 1, "only computed with --largest"),
        (("--layers", "30"), 1, "layer 30 is out of range: the model has 30 layers, 0 to 29"),
        (("--layers", "3,x"), 2, "'x' is neither a layer nor a range: give 7, 0,5,7 or 10-19"),
        (("-o", "heads.xls"), 1, "cannot write statistics as heads.xls: use .csv or .parquet"),
        (("--ascending",), 2, "--ascending goes with --sort"),
        (("--json", "-o", "heads.csv"), 2, "give one of them"),
        (("--received", "-o", "heads.csv"), 2, "--received is shown for one text, or goes to --json"),
        (("--lines", "--positions"), 2, "goes to a file (-o) or --json"),
    ],
)
def test_mistakes_are_named(arguments: tuple[str, ...], code: int, message: str, heedmap_command: CommandLine) -> None:
    run = heedmap_command("stats", TROPHY, *arguments)
    assert (run.code, run.out) == (code, "")
    assert message in " ".join(run.err.split())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "The cat sat."}\n{"txt": 1}\n', 'line 2: expected an object with "text"'),
        ('{"text": "The cat sat."}\nThe dog\n', "line 2 is not JSON"),
        ('{"text": " "}\n', "line 1: the text is empty"),
        ("\n\n", "the text is empty"),
    ],
)
def test_lines_that_hold_no_text_are_named(
    content: str, message: str, heedmap_command: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "texts.jsonl").write_text(content, encoding="utf-8")
    run = heedmap_command("stats", f"@{tmp_path}/texts.jsonl")
    assert run.code == 1
    assert message in run.err
    assert run.err.count("\n") == 1


def test_special_tokens_can_be_left_out(heedmap_command: CommandLine) -> None:
    run = heedmap_command("stats", "The cat sat.", "--model", "minilm", "--no-special-tokens", "--layers", "0")
    assert run.code == 0
    assert "no special tokens added" in run.err
    assert "no special tokens in the text" in run.out
