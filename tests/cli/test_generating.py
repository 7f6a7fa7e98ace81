"""`heedmap read --generate`: one line a new token, the whole row of one, and as JSON."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.printed import assert_same_json

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
    assert_same_json(run.json, expected.to_json(12, 4))
    row = heedmap_command("read", PROMPT, "--generate", "3", "--layer", "12", "--word", "@5", "--json")
    assert_same_json(row.json, expected.row("@5", 12).to_json())


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


def test_sampling_is_that_of_transformers_with_the_same_seed(heedmap_command: CommandLine, smollm2: Model) -> None:
    given = ("--generate", "5", "--layer", "12", "--sample", "--temperature", "0.7", "--top-p", "0.9", "--top-k", "40")
    run = heedmap_command("read", PROMPT, *given, "--seed", "3", "--json")
    assert run.code == 0
    torch.manual_seed(3)
    ids = torch.tensor([smollm2.tokenize(PROMPT).ids])
    settings: dict[str, Any] = {"do_sample": True, "temperature": 0.7, "top_p": 0.9, "top_k": 40}
    expected = smollm2.module.generate(ids, max_new_tokens=5, **settings)
    assert run.json["text"] == smollm2.tokenizer.decode(expected[0])
    assert run.json["options"] == {**settings, "seed": 3}
    again = heedmap_command("read", PROMPT, *given, "--seed", "3", "--json")
    assert_same_json(again.json, run.json)


def test_a_seed_that_was_drawn_is_named_and_gives_the_same_text(heedmap_command: CommandLine) -> None:
    run = heedmap_command("read", PROMPT, "--generate", "4", "--layer", "12", "--sample")
    found = re.search(r"sampled with --seed (\d+): the same seed", run.err)
    assert found is not None
    again = heedmap_command("read", PROMPT, "--generate", "4", "--layer", "12", "--sample", "--seed", found[1])
    assert again.out == run.out


def test_beams_are_those_of_transformers(heedmap_command: CommandLine, smollm2: Model) -> None:
    run = heedmap_command("read", PROMPT, "--generate", "4", "--layer", "12", "--beams", "3", "--json")
    ids = torch.tensor([smollm2.tokenize(PROMPT).ids])
    expected = smollm2.module.generate(ids, max_new_tokens=4, num_beams=3, do_sample=False)
    assert run.json["text"] == smollm2.tokenizer.decode(expected[0])
    assert run.json["options"] == {"do_sample": False, "num_beams": 3}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sample",), "--sample goes with --generate"),
        (("--beams", "2"), "--beams goes with --generate"),
        (("--top-p", "0.5"), "--top-p goes with --generate"),
        (("--generate", "2", "--seed", "1"), "--seed goes with --sample: without it the likeliest token is taken"),
        (("--generate", "2", "--temperature", "2"), "--temperature goes with --sample"),
        (("--generate", "2", "--sample", "--temperature", "0"), "'--temperature'"),
        (("--generate", "2", "--sample", "--top-p", "1.5"), "'--top-p'"),
        (("--generate", "2", "--beams", "0"), "'--beams'"),
    ],
)
def test_options_that_do_not_go_together(heedmap_command: CommandLine, options: tuple[str, ...], message: str) -> None:
    run = heedmap_command("read", PROMPT, *options)
    assert (run.code, run.out) == (2, "")
    assert message in run.err
