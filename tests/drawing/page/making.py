"""Readings with no model behind them, of every kind that a page can hold, and what the page must say of them.

`python -m tests.drawing.page.making` writes viewer/tests/data/page.json: header, blocks and numbers as Python computes
them, for the tests of the page's own decoder.
"""

from __future__ import annotations

import base64
import json
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import Carried, Shown, fill
from heedmap.reading.call import AttentionCall
from heedmap.reading.listening import AttentionLayer
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Token, Tokens

FIXTURE = Path(__file__).parents[3] / "viewer" / "tests" / "data" / "page.json"

TEXT = "The trophy did not fit in the suit case because it was too big , they say now or later"
WORDS = TEXT.split()
HEADS, SHARED = 4, 2
STEPS = [1, 5]


def tokens(count: int) -> Tokens:
    """So many words, cut between "suit" and "case" as tokenizers do."""
    found, text = [], ""
    for index, word in enumerate(WORDS[:count]):
        text += "" if index == 0 or word == "case" else " "
        found.append(Token(index, index, word, len(text), len(text) + len(word)))
        text += word
    return Tokens(text, tuple(found))


def call(rule: MaskRule, dim: int, seed: int, *, strength: float = 1.5, **more: Any) -> AttentionCall:
    """A call of random queries, keys and values, with its own log-sum-exp."""
    random = torch.Generator().manual_seed(seed)
    query = strength * torch.randn(1, HEADS, rule.queries, dim, generator=random) + 3.0
    key = strength * torch.randn(1, SHARED, rule.keys, dim, generator=random) - 2.0
    value = torch.randn(1, SHARED, rule.keys, dim + 1, generator=random)
    made = AttentionCall(query, key, rule, scale=dim**-0.5, value=value, **more)
    output, logsumexp = made.compute(value)
    return replace(made, logsumexp=logsumexp, output=output)


def random_mask(size: int, heads: int) -> torch.Tensor:
    """A causal mask with holes, another one a head, in which every token may look at itself."""
    holes = torch.rand(1, heads, size, size, generator=torch.Generator().manual_seed(9)) < 0.7
    return (holes & torch.ones(size, size).tril().bool()) | torch.eye(size).bool()


def reading(size: int = 19) -> Reading:
    """Self-attention in eight layers, each of its own kind; layer 7 was not kept."""
    causal = MaskRule(size, size, ahead=0)
    sinks = torch.linspace(-1, 1, HEADS).reshape(1, HEADS, 1)
    bias = torch.randn(1, HEADS, size, size, generator=torch.Generator().manual_seed(3))
    broken = call(replace(causal, present=torch.arange(size)[None] > 1), 2, seed=6)
    broken.query[0, 1, 7] = torch.nan
    _, logsumexp = broken.compute(torch.zeros(1, SHARED, size, 2))
    calls = {
        0: call(causal, 16, seed=0),
        1: call(causal, 8, seed=1),
        2: call(replace(causal, back=4), 8, seed=2, sinks=sinks - 17),
        3: call(causal, 2, seed=3, softcap=2.0),
        4: call(replace(causal, table=random_mask(size, 1)), 8, seed=4, bias=bias),
        5: call(replace(causal, table=random_mask(size, HEADS)), 4, seed=5, bias=bias, sinks=sinks, softcap=3.0),
        6: replace(broken, logsumexp=logsumexp),
    }
    layers = tuple(AttentionLayer(number, f"layers.{number}", HEADS, SHARED) for number in range(8))
    return Reading(tokens(size), layers, OrderedDict(calls), about(layers))


def cross_reading(queries: int = 7, keys: int = 5) -> Reading:
    """A look at other tokens, with no mask."""
    layers = (AttentionLayer(0, "layers.0", HEADS, SHARED),)
    calls = OrderedDict({0: call(MaskRule(queries, keys), 3, seed=8)})
    return Reading(tokens(queries), layers, calls, about(layers), keys=tokens(keys))


def about(layers: tuple[AttentionLayer, ...]) -> dict[str, Any]:
    return {"name": "made", "class": "Made", "layers": len(layers), "heads": HEADS, "dtype": "float32"}


def made_contents(precision: str = "float16") -> tuple[Contents, dict[str, Reading]]:
    """A page with both readings."""
    readings = {"self": reading(), "cross": cross_reading()}
    contents = Contents(start={"reading": "self", "layer": 1, "head": 2, "query": 10})
    table = readings["self"].stats(only=["first", "entropy"])
    shown = [
        Shown("self", "Self-attention", readings["self"], 1, statistics=table),
        Shown("cross", "Cross-attention", readings["cross"], 0),
    ]
    fill(contents, shown, Carried(precision=precision, steps=STEPS))
    return contents, readings


def expected(readings: dict[str, Reading]) -> dict[str, list[dict[str, Any]]]:
    """What Python itself says of some rows, of all layers zoomed out, and of the vectors of one row a layer."""
    rows, tiles, vectors = [], [], []
    for name, one in readings.items():
        for layer in one.calls:
            for head in (0, HEADS - 1, None):
                rows += [_row(name, one, layer, head, query) for query in (0, 4, len(one.tokens) - 1)]
                tiles += [_tile(name, one, layer, head, how) for how in ("mean", "max")]
        vectors += [_vectors(name, one, layer, 3, 6) for layer in one.calls if layer in STEPS]
    return {"rows": rows, "tiles": tiles, "vectors": vectors}


def _place(name: str, layer: int, head: int | None, **more: Any) -> dict[str, Any]:
    return {"reading": name, "layer": layer, "head": head, **more}


def _row(name: str, one: Reading, layer: int, head: int | None, query: int) -> dict[str, Any]:
    the_map = one.map(layer, head)
    share = one.call(layer).sink_share(slice(query, query + 1), the_map.heads)
    weights = np.asarray(the_map[query])
    allowed = one.call(layer).rule.allowed(torch.tensor([query]), torch.arange(the_map.shape[1]))[0, :, 0].numpy()
    mine = allowed.any(0) if head is None else allowed[head if len(allowed) > 1 else 0]
    return _place(
        name, layer, head, query=query, weights=_listed(weights, mine), sum=_number(weights.sum()),
        sink=None if share is None else _number(float(share.double().mean())),
    )  # fmt: skip


def _tile(name: str, one: Reading, layer: int, head: int | None, how: str) -> dict[str, Any]:
    pooled = one.map(layer, head).pool(6, 4, how)
    return _place(name, layer, head, how=how, weights=[_listed(*row) for row in zip(*pooled, strict=True)])


def _vectors(name: str, one: Reading, layer: int, head: int, query: int) -> dict[str, Any]:
    found = one.call(layer)
    assert found.value is not None
    shared = head // (HEADS // SHARED)
    scores = found.scores(slice(query, query + 1), slice(None), slice(head, head + 1))[0, 0, 0]
    return _place(
        name, layer, head, query=query, vector=found.query[0, head, query].tolist(),
        keys=found.key[0, shared].tolist(), values=found.value[0, shared].tolist(),
        scores=[None if score == -torch.inf else float(score) for score in scores],
    )  # fmt: skip


def _listed(weights: Any, allowed: Any) -> list[Any]:
    """Numbers as JSON: null where forbidden, "NaN" where not a number."""
    return [_number(weight) if may else None for weight, may in zip(weights, allowed, strict=True)]


def _number(number: Any) -> float | str:
    return "NaN" if np.isnan(number) else float(number)


def fixture() -> dict[str, Any]:
    contents, readings = made_contents()
    blocks = [base64.b64encode(block).decode() for block in contents.blocks]
    return {"header": contents.header(), "blocks": blocks, **expected(readings)}


if __name__ == "__main__":
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(fixture(), allow_nan=False, separators=(",", ":")) + "\n", encoding="utf-8")
