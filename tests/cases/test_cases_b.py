"""Long texts: where others ran out of memory, and what is kept, told and refused instead."""

from __future__ import annotations

import gc
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from heedmap.errors import TooLarge
from heedmap.reading import memory, tiles
from heedmap.reading.call import AttentionCall
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Token, Tokens
from tests.cli.conftest import CommandLine
from tests.cli.conftest import heedmap_command as heedmap_command
from tests.conftest import ROUNDING, TROPHY


def test_b2_a_chosen_layer_keeps_its_number(smollm2: Model) -> None:
    """B2: of a reading of layer 7 alone, everything still says layer 7."""
    reading = smollm2.read(TROPHY, layers=7)
    assert reading.row("it").to_json()["layer"] == 7
    assert "layer 7" in str(reading.row("it"))
    assert "layer 7" in repr(reading.map(head=2))
    whole = smollm2.read(TROPHY)
    # Two passes: another layer is off by tenths.
    np.testing.assert_allclose(np.asarray(reading.map(7, 2)), np.asarray(whole.map(7, 2)), atol=1e-5)


def test_b4_the_cost_of_a_long_text_is_known_before_it_runs(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """B4: 8,192 tokens, whose maps would be 67.5 GiB: the cost comes first, and parts are offered instead."""
    cost = smollm2.cost(8192)
    assert cost.memory < 1 << 30  # what a reading needs
    assert cost.operations == pytest.approx(4.1e12, rel=0.02)
    monkeypatch.setattr(memory, "free_memory", lambda _: 24 << 30)
    vectors = torch.zeros(()).expand(1, 9, 8192, 64)
    sums = torch.zeros(()).expand(1, 9, 8192)
    call = AttentionCall(vectors, vectors[:, :3], MaskRule(8192, 8192, ahead=0), 0.125, logsumexp=sums)
    calls = OrderedDict((number, call) for number in range(30))
    tokens = Tokens("", tuple(Token(place, 0, "x", None, None) for place in range(8192)))
    reading = Reading(tokens, smollm2.layers, calls, smollm2.describe())
    with pytest.raises(TooLarge, match=r"needs about 67\.5 GiB, and 24\.0 GiB are free") as refused:
        reading.attentions()
    for part in ("layers=[12]", "reading.map(layer, head)", "reading.row(word)", ".pool(64, 64)"):
        assert part in str(refused.value)


def test_b5_the_mean_over_heads_is_made_block_by_block(smollm2: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """B5: the mean over heads equals the mean of the whole maps, and no more heads are in memory than a block holds."""
    reading = smollm2.read(TROPHY, layers=12)
    expected = np.mean([np.asarray(reading.map(12, head)) for head in range(9)], axis=0)
    monkeypatch.setattr(tiles, "BLOCK_CELLS", 300)
    largest = 0
    weights_of_tile = AttentionCall.weights

    def measured(self: AttentionCall, *where: slice) -> torch.Tensor:
        nonlocal largest
        weights = weights_of_tile(self, *where)
        largest = max(largest, weights.numel())
        return weights

    monkeypatch.setattr(AttentionCall, "weights", measured)
    np.testing.assert_allclose(np.asarray(reading.map(12)), expected, rtol=0, atol=ROUNDING)
    assert 0 < largest <= 300


def test_b6_a_command_keeps_only_the_layer_it_shows(
    heedmap_command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B6: nobody has to ask for less memory: a command keeps what it shows."""
    kept: list[list[int]] = []
    read_tokens = Model.read_tokens

    def noted(self: Model, *given: Any, **options: Any) -> Reading:
        reading = read_tokens(self, *given, **options)
        kept.append(list(reading.calls))
        return reading

    monkeypatch.setattr(Model, "read_tokens", noted)
    assert heedmap_command("read", TROPHY, "--word", "it").code == 0
    assert heedmap_command("map", TROPHY, "--layer", "7").code == 0
    assert kept == [[15], [7]]


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def test_b7_memory_does_not_grow_with_the_number_of_texts(minilm: Model) -> None:
    """B7: ten texts in a loop: after the tenth there is no more in memory than after the second."""
    after = []
    for number in range(10):
        reading = minilm.read(f"{TROPHY} " * 15 + str(number))
        np.asarray(reading.map(3))
        del reading
        after.append(resident())
    assert after[-1] < 1.05 * after[1]
