"""Architectures: what tools have got wrong about how heads share keys."""

from __future__ import annotations

import numpy as np
import torch

from heedmap.reading.model import Model

CAT = "The cat sat on the mat"


def test_d5_query_heads_share_the_key_head_of_their_group(smollm2: Model) -> None:
    """D5: 9 query heads read 3 key heads, head // 3 each; laid out as tiles they give other weights."""
    reading = smollm2.read(CAT, layers=0)
    call = reading.call(0)
    assert (call.heads, call.key_value_heads) == (9, 3)
    assert [reading.row("mat", 0, head).key_value_head for head in range(9)] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    found = np.stack([np.asarray(reading.map(0, head)) for head in range(9)])
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)

    def rebuilt(key: torch.Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        scores = (call.query @ key.transpose(-1, -2) * call.scale).masked_fill(later, -torch.inf)
        return np.asarray(scores.softmax(-1)[0])

    # Scores of a few units in float32.
    np.testing.assert_allclose(found, rebuilt(call.key.repeat_interleave(3, 1)), atol=1e-5)
    assert np.abs(found - rebuilt(call.key.repeat(1, 3, 1, 1))).max() > 0.5
