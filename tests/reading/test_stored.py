"""What a saved reading says is checked field by field; what no reading says is refused, and ends no process."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.errors import ReadingError
from heedmap.reading.call import AttentionCall
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.reading.stored import check_rule, check_sums
from heedmap.reading.two_stacks import EncoderDecoderReading
from tests.fuzz.headers import MISSING, saved_files, write_changed
from tests.fuzz.run import ROOT
from tests.models.making import tiny_tokenizer
from tests.tiny import tiny_model

RULE = ("calls", "0", "rule")
TOKENS, FAR = 15, 2**61
"""How many tokens the text of `saved_files` has."""


def _set(*place: Any, to: Any) -> tuple[str, Any, Any]:
    return ("set", place, to)


HOSTILE: dict[str, tuple[str, list[tuple[str, Any, Any]]]] = {
    "queries beyond the keys of a window": ("window", [_set(*RULE, "query_offset", to=100)]),
    "keys beyond the queries of a window": ("window", [_set(*RULE, "key_offset", to=100), _set(*RULE, "back", to=2)]),
    "queries beyond all keys": ("causal", [_set(*RULE, "query_offset", to=1)]),
    "places that are no 64 bits when added": ("window", [_set(*RULE, "back", to=FAR)]),
    "a negative window": ("window", [_set(*RULE, "back", to=-1)]),
    "more queries than tokens": ("window", [_set(*RULE, "queries", to=TOKENS + 1)]),
    "no keys": ("window", [_set(*RULE, "keys", to=0)]),
    "a wider window than the log-sum-exp knows": ("window", [_set(*RULE, "back", to=None)]),
    "a causal layer that looks ahead": ("causal", [_set(*RULE, "ahead", to=None)]),
    "cross-attention with places": ("bart", [_set("stacks", "cross", *RULE, "query_offset", to=1)]),
    "cross-attention of another text": ("bart", [_set("stacks", "cross", "cut_off", to=1)]),
    "stacks exchanged": ("bart", [_set("stacks", "encoder", "model", "stack", to="decoder")]),
    "another scale": ("causal", [_set("calls", "0", "scale", to=3.0)]),
    "an enormous scale": ("causal", [_set("calls", "0", "scale", to=1e308)]),
    "another cap": ("cap", [_set("calls", "0", "softcap", to=0.5)]),
    "a cap of 0": ("cap", [_set("calls", "0", "softcap", to=0.0)]),
    "no cap": ("cap", [_set("calls", "0", "softcap", to=None)]),
    "no tokens": ("float16", [_set("tokens", to=[])]),
    "no layers": ("causal", [_set("layers", to=[]), _set("calls", to={})]),
    "a layer too few": ("causal", [_set("model", "layers", to=2)]),
    "heads that cannot share": ("window", [_set("layers", 0, "key_value_heads", to=3)]),
    "a model of other heads": ("window", [_set("model", "heads", to=5)]),
    "a negative part": ("window", [_set("layers", 0, "parts", to=0)]),
    "one module twice": ("window", [_set("layers", 1, "module", to="model.layers.0.self_attn")]),
    "layers without attention that are a list": ("window", [_set("model", "layers_without_attention", to=["0"])]),
    "what no model says": ("window", [_set("model", "junk", to=1)]),
    "a token of another text": ("causal", [_set("tokens", 0, "text", to="x")]),
    "tokens out of order": ("causal", [_set("tokens", 0, "start", to=1), _set("tokens", 0, "text", to="")]),
    "a label that drives a terminal": ("causal", [_set("tokens", 0, "label", to="\x1b[31mred")]),
    "another likeliest token": ("causal", [_set("candidates", 0, "id", to=5)]),
    "another probability": ("causal", [_set("candidates", 0, "probability", to=0.9)]),
    "candidates without logits": ("causal", [("drop", "logits", 0)]),
    "logits without candidates": ("causal", [_set("candidates", to=[])]),
    "a missing entry": ("causal", [_set("calls", "0", "scale", to=MISSING)]),
    "a log-sum-exp of nothing": ("causal", [("fill", "0.logsumexp", 0.0)]),
    "a log-sum-exp that is not a number": ("causal", [("fill", "0.logsumexp", float("nan"))]),
    "a log-sum-exp off in one row": ("causal", [("cell", "0.logsumexp", 3.0)]),
    "other sinks": ("sinks", [("times", "0.sinks", 10.0)]),
    "no sinks": ("sinks", [("drop", "0.sinks", 0)]),
    "another bias": ("own code", [("times", "0.bias", 0.5)]),
    "a bias of one key": ("own code", [("cut", "0.bias", 3)]),
    "a table that forbids all": ("own code", [("fill", "0.table", 0.0)]),
    "a table of other numbers": ("own code", [("take", "0.table", "key")]),
    "a log-sum-exp of half precision": ("causal", [("to", "0.logsumexp", torch.bfloat16)]),
    "queries of 8 bits": ("causal", [("to", "0.query", torch.float8_e4m3fn)]),
    "complex keys": ("causal", [("to", "0.key", torch.complex64)]),
    "whole numbers": ("causal", [("to", "0.logsumexp", torch.int32)]),
    "queries and keys of two kinds": ("causal", [("to", "0.key", torch.float64)]),
    "queries without width": ("causal", [("empty", "0.query", 3), ("empty", "0.key", 3)]),
    "values without width": ("causal", [("empty", "0.value", 3), ("empty", "0.output", 3)]),
    "a tensor of no layer": ("causal", [("rename", "0.value", "7.value")]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return saved_files(tmp_path_factory.mktemp("saved"))


def open_hostile(folder: str) -> None:
    """Open every hostile file and ask for what ended the process once, in a process that may end."""
    found = {}
    for number, (name, (kind, _)) in enumerate(HOSTILE.items()):
        path = Path(folder) / f"{number}.safetensors"
        try:
            reading = (EncoderDecoderReading if kind in ("t5", "bart") else Reading).open(path)
            stack = reading if isinstance(reading, Reading) else reading.cross
            found[name] = f"opened: {stack.map(0)[-1].sum()} {stack.stats(received=True)}"
        except ReadingError as error:
            found[name] = f"refused: {error}"
    print(json.dumps(found))  # noqa: T201


def test_no_hostile_file_is_believed(files: dict[str, Path], tmp_path: Path) -> None:
    for number, (kind, changes) in enumerate(HOSTILE.values()):
        write_changed(files[kind], tmp_path / f"{number}.safetensors", changes)
    code = f"from tests.reading.test_stored import open_hostile; open_hostile({str(tmp_path)!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    found = json.loads(ended.stdout.splitlines()[-1])
    assert [name for name in HOSTILE if not found[name].startswith("refused: ")] == []
    assert all("damaged, or not a reading: " in said for said in found.values())


def test_what_is_saved_opens_and_answers_the_same_wherever_its_places_begin(
    files: dict[str, Path], tmp_path: Path
) -> None:
    for kind in set(files) - {"t5", "bart"}:
        original = Reading.open(files[kind])
        for further in (0, 7, 2**60):
            changes = [
                _set("calls", str(layer), "rule", name, to=further)
                for layer in original.calls
                for name in ("query_offset", "key_offset")
            ]
            write_changed(files[kind], tmp_path / "further.safetensors", changes)
            opened = Reading.open(tmp_path / "further.safetensors")
            for layer in original.calls:
                np.testing.assert_array_equal(np.asarray(opened.map(layer)), np.asarray(original.map(layer)))
            assert str(opened.spans(split="sentences")) == str(original.spans(split="sentences"))


def _small_rules() -> Iterator[MaskRule]:
    sizes, windows = range(1, 4), (None, 0, 1, 3)
    for queries, keys, first, begin in itertools.product(sizes, sizes, range(5), range(5)):
        for back, ahead in itertools.product(windows, windows):
            yield MaskRule(queries, keys, query_offset=first, key_offset=begin, back=back, ahead=ahead)


@pytest.mark.parametrize("same_text", [True, False])
def test_a_band_that_passes_leaves_no_row_without_a_key(same_text: bool) -> None:
    """Of one text just those pass whose tokens all stand among the keys: then each can look at itself at least."""
    passed = 0
    for rule in _small_rules():
        rows, columns = torch.arange(rule.queries), torch.arange(rule.keys)
        try:
            check_rule(rule, 0, rule.queries, rule.keys, same_text)
        except ValueError:
            own = rows + rule.query_offset - rule.key_offset
            assert not same_text or bool(((own < 0) | (own >= rule.keys)).any())
            continue
        assert bool(rule.allowed(rows, columns).any(-1).all()), rule
        passed += 1
    assert passed > 100


def _long_call(queries: int = 3000) -> AttentionCall:
    random = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, 2, queries, 8, generator=random) for _ in range(2))
    call = AttentionCall(query, key, MaskRule(queries, queries, ahead=0), 8**-0.5)
    return replace(call, logsumexp=call.compute(torch.zeros(1, 2, queries, 8))[1])


@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_of_a_long_text_the_first_middle_and_last_rows_are_added_up(place: int) -> None:
    call, layer = _long_call(), AttentionLayer(4, "module", 2, 2)
    check_sums(call, layer)
    assert call.logsumexp is not None
    wrong = call.logsumexp.clone()
    wrong[0, 1, place] -= 1.0
    with pytest.raises(ValueError, match=rf"layer 4: row {place} of head 1 sums to 2\.72"):
        check_sums(replace(call, logsumexp=wrong), layer)


def test_a_reading_whose_odds_are_not_numbers_is_saved_and_shown(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    module = tiny_model("mistral", vocab_size=len(tokenizer))
    with torch.no_grad():
        module.model.layers[1].self_attn.q_proj.weight[0, 0] = float("nan")
    reading = heedmap.wrap(module, tokenizer).read("the cat sat")
    reading.save(tmp_path / "broken.safetensors")
    opened = Reading.open(tmp_path / "broken.safetensors")
    assert opened.not_a_number() == reading.not_a_number() != {}
    assert [one["probability"] for one in opened.next(2).to_json()["next"]] == [None, None]
    assert "nan" in str(opened.next(2))


def test_a_reading_without_layers_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    reading = Reading.open(files["causal"])
    empty = Reading(reading.tokens, reading.layers, OrderedDict(), reading.model)
    with pytest.raises(ReadingError, match=r"none of the layers \(0, 1, 2\) was kept"):
        empty.save(tmp_path / "empty.safetensors")


def cut_while_open(path: str) -> None:
    """Open a reading, cut its file, and ask the reading, in a process that may end."""
    reading = Reading.open(path)
    before = np.asarray(reading.map(0))
    Path(path).write_bytes(b"")
    np.testing.assert_array_equal(np.asarray(reading.map(0)), before)


def test_a_file_that_is_cut_while_its_reading_is_open_changes_nothing(files: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "cut.safetensors"
    path.write_bytes(files["window"].read_bytes())
    code = f"from tests.reading.test_stored import cut_while_open; cut_while_open({str(path)!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
