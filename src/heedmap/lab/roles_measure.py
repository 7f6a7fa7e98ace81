"""What `roles` measures: each head's mean share on the token that a role is about, with repetition and without."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from heedmap.lab.random_tokens import RandomTokens
from heedmap.lab.roles_names import ROLES
from heedmap.lab.rows import Row
from heedmap.reading.call import AttentionCall
from heedmap.reading.statistics_call import raised, text_call
from heedmap.reading.statistics_cells import share_at_distance, share_on_key
from heedmap.reading.tap import Heard
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model


def measure_sequence(model: Model, drawn: RandomTokens) -> Row:
    """The scores of all heads on one sequence.

    Args:
        model: what is measured.
        drawn: the sequence.

    Returns:
        "layer" and "head", [head] over all layers; "repeated", "unrepeated" and "even", [role, head]: the scores where
        the tokens repeat, where they do not, and of a head that looks evenly at all it may.
    """
    names, repeated, even = _scores(model, drawn.repeated, drawn)
    _, unrepeated, _ = _scores(model, drawn.unrepeated, drawn)
    return {
        "layer": names[0],
        "head": names[1],
        "repeated": repeated,
        "unrepeated": unrepeated,
        "even": even,
        "tokens": len(drawn.repeated),
    }


def _scores(model: Model, tokens: Tokens, drawn: RandomTokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[2, head] layer and head numbers, [role, head] scores, and [role, head] those of an even look."""
    names: list[tuple[int, int]] = []
    scores: list[np.ndarray] = []
    even: list[np.ndarray] = []

    def receive(layer: int, heard: Heard) -> None:
        cut = text_call(heard.call.made_exact())
        assert cut is not None
        call = raised(cut.call)
        names.extend((layer, head) for head in range(call.heads))
        scores.append(_of_call(call, drawn))
        even.append(_of_call(_even(call), drawn))

    model.listen(tokens, receive)
    return np.array(names, np.int32).T, np.concatenate(scores, 1), np.concatenate(even, 1)


def _even(call: AttentionCall) -> AttentionCall:
    """The call of heads that look evenly at all that they may: the causal mask and the window still count."""
    blank = replace(
        call, query=torch.zeros_like(call.query), bias=None, softcap=None, sinks=None, value=None, output=None
    )
    _, logsumexp = blank.compute(blank.key)
    return replace(blank, logsumexp=logsumexp)


def _of_call(call: AttentionCall, drawn: RandomTokens) -> np.ndarray:
    """The mean share over the second half of the sequence, [role, head]."""
    back = {"previous": 1, "self": 0, "duplicate": drawn.length, "induction": drawn.length - 1}
    shares = [share_on_key(call, 0) if role == "first" else share_at_distance(call, back[role]) for role in ROLES]
    return np.stack([share[:, drawn.second].double().mean(-1).cpu().numpy() for share in shares])
