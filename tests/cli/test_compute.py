"""`heedmap compute`: the published figures, files of numbers, one-line errors, exit codes."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import heedmap.cli.compute
from heedmap.arithmetic import EXAMPLES, attend, attend_layer, example
from heedmap.cli.main import main

CSV = "token,q1,q2,k1,k2,v1,v2\nThe,,,0.1,0.0,0.1,0.1\nit,1.0,0.6,0.6,0.5,0.2,0.3\n"


def compute(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What it prints when all goes well."""
    assert main(["compute", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Its JSON, read strictly: NaN and infinity are refused."""
    result = json.loads(compute(capsys, *arguments, "--json"), parse_constant=pytest.fail)
    assert isinstance(result, dict)
    return result


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which it fails."""
    assert main(["compute", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("heedmap: ")
    return captured.err.removeprefix("heedmap: ").strip()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_its_table_and_its_json(capsys: pytest.CaptureFixture[str], name: str) -> None:
    chosen = example(name)
    assert compute(capsys, "--example", name) == chosen.attend().table(chosen.digits) + "\n"
    assert as_json(capsys, "--example", name) == json.loads(json.dumps(chosen.attend().to_json()))


def test_cat_prints_the_published_figures(capsys: pytest.CaptureFixture[str]) -> None:
    text = compute(capsys, "--example", "cat")
    assert "cat    1.0·1.0 + 0.6·0.8 = 1.48   1.05          2.85    0.38\n" in text
    assert text.endswith("output [0.51, 0.37]\n")


@pytest.mark.parametrize(
    ("arguments", "weights", "digits"),
    [
        (["--example", "cat", "--no-scale"], [0.11, 0.44, 0.21, 0.24], 2),
        (["--example", "cat", "--multiply", "8"], [0.00, 0.95, 0.01, 0.04], 2),
        (["--example", "cat", "--no-scale", "--no-softmax"], [0.1, 1.48, 0.74, 0.9], 2),
        (["--example", "bank-river", "--set-key", "the=1.5,1.5"], [0.248, 0.503, 0.248], 3),
        (["--example", "bank-river", "--set-key", "THE= 1.5 , 1.5"], [0.248, 0.503, 0.248], 3),
        (["--example", "paris"], [0.244, 0.262, 0.494], 3),
    ],
)
def test_published_weights(
    capsys: pytest.CaptureFixture[str], arguments: list[str], weights: list[float], digits: int
) -> None:
    found = as_json(capsys, *arguments)["weights"][0]
    assert [round(one, digits) for one in found] == weights


def test_another_query(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("0,1", "it=0,1"):
        result = as_json(capsys, "--example", "cat", "--query", text)
        assert result["key_tokens"][int(np.argmax(result["weights"][0]))] == "sat"


def test_a_query_may_begin_with_a_minus(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "--example", "cat", "--query", "-1,0")["products"][0] == [-0.1, -1.0, -0.2, -0.6]


def test_several_changes_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    result = as_json(
        capsys, "--example", "cat", "--set-key", "the=1,1", "--set-key", "sat=2,2", "--set-value", "IT=5,5"
    )
    assert result["products"][0] == pytest.approx([1.6, 1.48, 3.2, 0.9])
    expected = example("cat").inputs.with_key("The", [1, 1]).with_key("sat", [2, 2]).with_value("it", [5, 5])
    assert result == expected.attend().to_json()


def test_set_changes_all_roles_and_single_roles_win(capsys: pytest.CaptureFixture[str]) -> None:
    paris = example("paris").inputs
    result = as_json(capsys, "--example", "paris", "--set", "is=0.95,0.05")
    assert result == paris.with_vector("is", [0.95, 0.05]).attend().to_json()
    result = as_json(capsys, "--example", "paris", "--set-key", "is=1,1", "--set", "is=0.95,0.05")
    assert result == paris.with_vector("is", [0.95, 0.05]).with_key("is", [1, 1]).attend().to_json()


def test_causal(capsys: pytest.CaptureFixture[str]) -> None:
    weights = as_json(capsys, "--example", "paris-all", "--causal")["weights"]
    assert weights[0] == [1, None, None, None]
    assert "—" in compute(capsys, "--example", "paris-all", "--causal")


def test_digits(capsys: pytest.CaptureFixture[str]) -> None:
    assert "output [0.512023, 0.368428]" in compute(capsys, "--example", "cat", "--digits", "6")
    assert "output [1, 0]" in compute(capsys, "--example", "cat", "--digits", "0")


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    lines = compute(capsys, "--list").splitlines()
    assert [line.split()[0] for line in lines] == list(EXAMPLES)
    assert all(item.sentence in line for item, line in zip(EXAMPLES.values(), lines, strict=True))
    result = as_json(capsys, "--list")
    assert result["schema"] == "heedmap/examples/1"
    assert [item["name"] for item in result["examples"]] == list(EXAMPLES)
    cat = result["examples"][0]
    again = attend(cat["query"], cat["key"], cat["value"], key_tokens=cat["tokens"], query_positions=cat["asking"])
    assert str(again) == str(EXAMPLES["cat"].attend())


def test_the_page_has_the_same_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """Where it is not: write the output of `heedmap compute --list --json` to that file."""
    page = Path(__file__).parents[2] / "viewer" / "src" / "steps" / "examples.json"
    assert json.loads(page.read_text(encoding="utf-8")) == as_json(capsys, "--list")


def test_a_csv_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "with spaces é"
    folder.mkdir()
    file = folder / "numbers.csv"
    file.write_bytes(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())
    result = as_json(capsys, str(file))
    assert result["query_tokens"] == ["it"]
    assert result["products"][0] == pytest.approx([0.1, 0.9])


def test_a_json_file_with_tables_is_a_layer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = [[0.5, -1.0], [1.0, 0.0]]
    data: dict[str, Any] = {"tokens": ["a", "b"], "x": [[1.0, 0.5], [0.0, 2.0]], "heads": 2}
    data |= dict.fromkeys(("query_table", "key_table", "value_table", "output_table"), table)
    file = tmp_path / "layer.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert as_json(capsys, str(file), "--causal") == attend_layer(**data, causal=True).to_json()
    assert "final: joined · W_o" in compute(capsys, str(file))
    changed = as_json(capsys, str(file), "--set", "a=2,2")
    assert changed == attend_layer(**(data | {"x": [[2.0, 2.0], [0.0, 2.0]]})).to_json()
    message = failure(capsys, str(file), "--set-key", "a=2,2")
    assert message == "these numbers make query, key and value from x by tables: expected --set TOKEN=NUMBERS"


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        '{"tokens": ["The", "it"], "query": [1, 0.6], "key": [[0.1, 0], [0.6, 0.5]], '
        '"value": [[0.1, 0.1], [0.2, 0.3]]}',
    ],
)
def test_standard_input_in_a_process_of_its_own(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "heedmap", "compute", "-"], input=text, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.endswith("output [0.16, 0.23]\n")


def test_a_dead_row_is_null(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "dead.json"
    file.write_text('{"x": [[1, 0], [0, 1]], "mask": [[false, false], [true, true]]}', encoding="utf-8")
    result = as_json(capsys, str(file))
    assert result["weights"][0] == result["output"][0] == [None, None]
    assert '"t0" may look at nothing: it has no weights and no output.' in compute(capsys, str(file))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--example", "dog"],
            'no example "dog": expected one of cat, bank-river, bank-money, paris, paris-all',
        ),
        (["--example", "cat", "--set-key", "dog=1,2"], 'no token "dog": expected one of The, cat, sat, it'),
        (["--example", "cat", "--set-key", "cat=1"], 'key of "cat": expected 2 numbers, found 1'),
        (["--example", "cat", "--set-value", "cat=1,2,3"], 'value of "cat": expected 2 numbers, found 3'),
        (["--example", "cat", "--set", "it=1"], 'key of "it": expected 2 numbers, found 1'),
        (
            ["--example", "cat", "--set-key", "cat=1,x"],
            '--set-key cat, number 1: expected a number, found the text "x"',
        ),
        (["--example", "cat", "--set-key", "cat="], "--set-key cat, number 0: expected a number, found nothing"),
        (["--example", "cat", "--query", "0,nan"], "--query, number 1: expected a finite number such as 0.5, found"),
        (["--example", "cat", "--query", "0"], 'query of "it": expected 2 numbers, found 1'),
        (["--example", "cat", "--query", "The=0,1"], 'no word that asks "The": expected one of it'),
        (["--example", "paris-all", "--query", "1,2,3"], "query: several words ask (capital, France, is, Paris)"),
        (["--example", "cat", "--multiply", "inf"], "multiply: expected a finite number, found inf"),
        (["/no/such/file"], "cannot read /no/such/file: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
    ],
)
def test_what_is_wrong_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert failure(capsys, *arguments).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "{file} is empty: expected JSON like"),
        (
            CSV.replace("0.6,0.5", "0.6,half"),
            '{file}, line 3 ("it"), column k2: expected a number, found the text "half"',
        ),
        (CSV.replace("0.6,0.5", "0.6"), '{file}, line 3 ("it"): expected 7 cells, as in the header, found 6'),
        ('{"query": [1], "key": [], "value": []}', "key: expected at least one row, found an empty list"),
        (
            '{"query": [1], "key": [[1], [1, 2]], "value": [[1], [1]]}',
            "key row 1: expected 1 numbers as in row 0, found 2",
        ),
        ('{"query": [1], "key": [[1], [NaN]], "value": [[1], [1]]}', "key row 1, number 0: expected a finite number"),
        ('{"query": [1, 2], "key": [[1]], "value": [[1]]}', "key: expected 2 numbers in each row, as many as a query"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "numbers"
    file.write_text(content, encoding="utf-8")
    assert failure(capsys, str(file)).startswith(message.format(file=file))


def test_bytes_that_are_no_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(b"token,x1\n\xff,1")
    assert "is not UTF-8 text" in failure(capsys, str(file))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--example", "cat", "numbers.csv"],
        ["--example", "cat", "--multiply", "abc"],
        ["--example", "cat", "--set-key", "the"],
        ["--example", "cat", "--digits", "99"],
        ["--example"],
        ["--no-such-option"],
    ],
)
def test_only_a_command_line_that_cannot_be_parsed_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["compute", *arguments]) == 2
    assert "Error: " in capsys.readouterr().err


def test_the_help_shows_both_forms_as_they_are_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The CSV and the JSON of the help, copied out of it, are worked."""
    lines = compute(capsys, "--help").splitlines()
    header = next(index for index, line in enumerate(lines) if line.strip() == "token,q1,q2,k1,k2,v1,v2")
    opening = next(index for index, line in enumerate(lines) if line.strip().startswith('{"tokens"'))
    for block in (lines[header : header + 3], lines[opening : opening + 2]):
        file = tmp_path / "numbers"
        file.write_text("\n".join(line.strip() for line in block), encoding="utf-8")
        assert as_json(capsys, str(file))["query_tokens"] == ["it"]


def test_the_shell_completes_examples() -> None:
    done = CliRunner().invoke(
        heedmap.cli.compute.command,
        env={"COMP_WORDS": "compute --example bank", "COMP_CWORD": "2", "_COMPUTE_COMPLETE": "bash_complete"},
        prog_name="compute",
        complete_var="_COMPUTE_COMPLETE",
    )
    assert "bank-river" in done.output
    assert "cat" not in done.output


def test_nothing_heavy_is_loaded() -> None:
    code = "import sys, heedmap.cli.compute; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not {"torch", "transformers", "matplotlib", "rich", "scipy"} & set(done.stdout.split())


def test_docstrings_run() -> None:
    assert doctest.testmod(heedmap.cli.compute).failed == 0
