"""Autocast around a reading: every family that runs under it is read, and the reading's own sums stay exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import heedmap
from heedmap.reading import kernel
from tests.families import FAMILIES, tiny_family

TEXT_FAMILIES = [name for name, family in FAMILIES.items() if family.auto != "encoder-decoder"]


@pytest.mark.parametrize("name", TEXT_FAMILIES)
def test_a_reading_under_autocast_is_one_of_bfloat16(name: str, smollm2_tokenizer: Any) -> None:
    model = heedmap.wrap(tiny_family(name, vocab_size=49152), smollm2_tokenizer)
    with torch.autocast("cpu", torch.bfloat16):
        reading = model.read("The cat sat on the mat")
        inside = np.asarray(reading.map(reading.layers[0].number, 0))
    outside = np.asarray(reading.map(reading.layers[0].number, 0))
    np.testing.assert_allclose(inside, outside, atol=1e-6)
    # bfloat16 keeps 8 bits: products of 64 numbers in the layer before are off by some hundredths.
    exact = model.read("The cat sat on the mat")
    np.testing.assert_allclose(outside, np.asarray(exact.map(exact.layers[0].number, 0)), atol=0.1)


def test_a_kernel_is_checked_outside_of_autocast() -> None:
    choose = kernel._kernel_for.__wrapped__  # without what is cached
    for dtype in (torch.float32, torch.bfloat16):
        for masked in (False, True):
            expected = choose("cpu", dtype, masked)
            with torch.autocast("cpu", torch.bfloat16):
                assert choose("cpu", dtype, masked) is expected
