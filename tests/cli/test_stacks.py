"""`--target` and `--stack`: encoder-decoders on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from tests.cli.conftest import CommandLine
from tests.conftest import ROUNDING
from tests.families import FAMILIES, tiny_family
from tests.reading.test_two_stacks import SOURCE, TARGET, word_tokenizer


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder-decoder in a folder, with its tokenizer."""
    folder = tmp_path_factory.mktemp("bart")
    tiny_family("bart").save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    return folder


def test_the_rows_of_each_stack(heedmap_command: CommandLine, bart: Path) -> None:
    options = ("--model", str(bart), "--target", TARGET, "--layer", "1", "--head", "0")
    cross = heedmap_command("read", SOURCE, *options, "--word", "chat")
    assert cross.code == 0
    assert "where “chat” looks: cross layer 1, head 0 of" in cross.out
    assert all(word in cross.out for word in ("cat", "mat", "</s>"))
    encoder = heedmap_command("read", SOURCE, *options, "--stack", "encoder", "--word", "cat", "--json").json
    assert (encoder["model"]["stack"], len(encoder["weights"]), "keys" in encoder) == ("encoder", 7, False)
    decoder = heedmap_command("read", SOURCE, *options, "--stack", "decoder", "--word", "chat", "--json").json
    assert decoder["weights"][3] is None
    assert len(decoder["weights"]) == 4


def test_a_cross_map_has_source_columns(heedmap_command: CommandLine, bart: Path, tmp_path: Path) -> None:
    run = heedmap_command("map", SOURCE, "--model", str(bart), "--target", TARGET, "-o", str(tmp_path / "map.csv"))
    assert run.code == 0
    assert "no layer was given: 1 is the middle one of 2" in run.err
    assert (tmp_path / "map.csv").read_text(encoding="utf-8").count("mat") > 0


def test_layer_by_layer_on_source_words(heedmap_command: CommandLine, bart: Path) -> None:
    options = ("--model", str(bart), "--target", TARGET, "--layer", "all", "--on", "cat,mat", "--word", "chat")
    run = heedmap_command("read", SOURCE, *options)
    assert run.code == 0
    assert "layer by layer" in run.out


def test_what_it_writes_by_sampling_and_beams_with_the_rows_on_the_source(
    heedmap_command: CommandLine, bart: Path
) -> None:
    options = ("--model", str(bart), "--layer", "1", "--generate", "4", "--json")
    sampled = heedmap_command("read", SOURCE, *options, "--sample", "--seed", "5").json
    assert sampled["options"] == {"do_sample": True, "seed": 5}
    assert sampled == heedmap_command("read", SOURCE, *options, "--sample", "--seed", "5").json
    beams = heedmap_command("read", SOURCE, *options, "--beams", "3").json
    assert {len(row["weights"]) for row in beams["rows"]} == {7}  # the tokens of the source
    assert [row["sum"] for row in beams["rows"]] == pytest.approx([1.0] * len(beams["rows"]), abs=ROUNDING)
    decoder = heedmap_command("read", SOURCE, *options, "--beams", "3", "--stack", "decoder").json
    assert [row["chooses"] for row in decoder["rows"]] == [1 + row["row"] for row in beams["rows"]]


def test_the_middle_layer_is_one_of_those_that_choose(heedmap_command: CommandLine, tmp_path: Path) -> None:
    """An encoder may have many more layers than its decoder."""
    torch.manual_seed(0)
    settings = {**FAMILIES["bart"].settings, "encoder_layers": 7, "decoder_layers": 2}
    AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model("bart", **settings)).save_pretrained(tmp_path)
    word_tokenizer().save_pretrained(tmp_path)
    run = heedmap_command("read", SOURCE, "--model", str(tmp_path), "--generate", "2")
    assert run.code == 0, run.err
    assert "no layer was given: 1 is the middle one of 2" in run.err


def test_asking_wrongly(heedmap_command: CommandLine, bart: Path) -> None:
    without = heedmap_command("read", SOURCE, "--model", str(bart))
    assert without.code == 1
    assert "--target" in without.err
    assert heedmap_command("read", SOURCE, "--stack", "cross").code == 2
