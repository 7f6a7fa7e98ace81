"""`heedmap read --generate`: one line a new token, the whole row of one, and as JSON."""

from __future__ import annotations

from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine

PROMPT = "The cat sat on the"


def test_each_new_token_with_the_row_that_chose_it(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", PROMPT, "--generate", "4", "--layer", "15")
    assert run.code == 0
    lines = run.out.splitlines()
    assert lines[0] == "The cat sat on the cat's back,"
    assert "where smollm2 looked for each new token: layer 15, mean over heads" in lines
    assert "4 new tokens; row i chooses token i + 1" in lines
    assert "row 4 chooses 5 cat   looks at The 0.850, sat 0.051, on 0.043" in [one.rstrip() for one in lines]
    assert run.err == "smollm2, 30 layers x 9 heads, float32; 5 tokens and 4 new ones\n"
    assert all(cell_len(line) <= 80 for line in lines)


def test_the_whole_row_of_one_new_token(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", PROMPT, "--generate", "4", "--layer", "12", "--head", "4", "--word", "back")
    assert run.code == 0
    assert run.out.startswith("row 6 “'s” chooses token 7 “back”\n")
    assert "layer 12, head 4 of smollm2" in run.out
    assert "adds up to 1.000" in run.out


def test_json_is_what_the_api_returns(heedmap_command: CommandLine, smollm2: Model) -> None:
    expected = smollm2.generate(PROMPT, 3, layers=12)
    run = heedmap_command("read", PROMPT, "--generate", "3", "--layer", "12", "--head", "4", "--json")
    assert run.json == expected.to_json(12, 4)
    row = heedmap_command("read", PROMPT, "--generate", "3", "--layer", "12", "--word", "@5", "--json")
    assert row.json == expected.row("@5", 12).to_json()


def test_the_middle_layer_is_named(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", PROMPT, "--generate", "1")
    assert "layer 15, mean over heads" in run.out
    assert "no layer was given: 15 is the middle one of 30" in run.err


def test_what_does_not_go_together_is_refused(heedmap_command: CommandLine) -> None:
    all_layers = heedmap_command("read", PROMPT, "--generate", "2", "--layer", "all")
    assert (all_layers.code, all_layers.out) == (2, "")
    assert "--generate takes one layer" in all_layers.err
    assert heedmap_command("read", PROMPT, "--generate", "0").code == 2
    encoder = heedmap_command("read", PROMPT, "--generate", "2", "--model", "minilm")
    assert encoder.code == 1
    assert "minilm does not write: it is a BertModel" in encoder.err
    prompt = heedmap_command("read", PROMPT, "--generate", "2", "--word", "sat")
    assert prompt.code == 1
    assert "“sat” stands in the prompt" in prompt.err
