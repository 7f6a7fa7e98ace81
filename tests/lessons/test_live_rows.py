"""Live rows, differences, tokens and odds of a model, against eager attention and the logits of transformers alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from heedmap.lessons.live import compute
from heedmap.reading.model import Model
from tests.lessons.eager import eager_maps, ids_of, tokens_of

TROPHY = "The trophy did not fit in the suitcase because it was too big."
SMALL = TROPHY.replace("big", "small")
PARIS = "The capital of France is"

FLOAT = 1e-5
"""Weights are float32; the project's tolerance for them."""

SHOWN = 5.1e-4
"""Three digits after the point are shown."""


def columns_of(text: str, *places: int) -> list[list[str]]:
    """Some columns of a table, counted from the right, without its head."""
    return [[line.split()[place] for place in places] for line in text.splitlines()[1:]]


def logits_of(model: Model, text: str, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The logits of what comes next, by the module alone; `mask` [query, key] says who may look at whom."""
    ids, module = ids_of(model, text), model.module
    given = {} if mask is None else {"attention_mask": torch.where(mask, 0.0, -torch.inf)[None, None]}
    with torch.no_grad():
        logits: torch.Tensor = module(input_ids=ids, **given).logits[0, -1].double()
    return logits


def table_of(model: Model, logits: torch.Tensor) -> list[list[str]]:
    """The five likeliest tokens, each with its probability, as a table shows them."""
    odds, tokens = torch.softmax(logits, -1).topk(5)
    names = [model.tokenizer.decode([token]).strip() for token in tokens.tolist()]
    return [[name, f"{one:.3f}"] for name, one in zip(names, odds.tolist(), strict=True)]


def shown(text: str) -> list[list[str]]:
    """The same, from a table that was computed."""
    return [[line[:-5].strip().removeprefix("␣"), line[-5:]] for line in text.splitlines()]


def test_a_weight_is_that_of_eager_attention(tiny_stands_in: Model) -> None:
    maps, (it,) = eager_maps(tiny_stands_in, TROPHY), tokens_of(tiny_stands_in, TROPHY, "it")
    for word in ("trophy", "suitcase", "it"):
        on = tokens_of(tiny_stands_in, TROPHY, word)
        for layer, head in ((0, 0), (2, 3)):
            found = compute(f'looks "{TROPHY}" it {word} layer={layer} head={head}').value
            assert found == pytest.approx(maps[layer, head, it, on].sum(), abs=FLOAT)
        mean = compute(f'head-mean "{TROPHY}" it {word} layer=1').value
        assert mean == pytest.approx(maps[1, :, it, on].sum(axis=0).mean(), abs=FLOAT)
    assert len(tokens_of(tiny_stands_in, TROPHY, "suitcase")) == 2, "a word of two tokens is among them"
    assert compute(f'looks "{TROPHY}" it @0 layer=1 head=2').value == pytest.approx(maps[1, 2, it, 0], abs=FLOAT)
    row = maps[1, 2, it, : it + 1]
    ordinary = compute(f'ordinary "{TROPHY}" it layer=1 head=2').value
    assert ordinary == pytest.approx((1 - row[0]) / it, abs=FLOAT)
    cells = [line.split()[:2] for line in compute(f'head-row "{TROPHY}" it layer=1 head=2').text.splitlines()]
    np.testing.assert_allclose([float(one) for _, one in cells], [*row, 1], atol=SHOWN)
    order = [cells[place][0] for place in np.argsort(-row)]
    for place in (1, 2, 3):
        assert compute(f'head-largest "{TROPHY}" it {place} layer=1 head=2').text == order[place - 1]
    down = maps[1, 2, :, it].sum()
    assert compute(f'head-sum "{TROPHY}" it layer=1 head=2 read=column').value == pytest.approx(down, abs=FLOAT)


@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_differences_are_those_of_eager_maps(tiny_stands_in: Model, tiny_encoder: Model, name: str) -> None:
    model = {"smollm2": tiny_stands_in, "minilm": tiny_encoder}[name]
    one, two = (eager_maps(model, text) for text in (TROPHY, SMALL))
    apart = np.abs(one - two).max(axis=(0, 1, 3))
    table = columns_of(compute(f'rows-differ-table "{TROPHY}" "{SMALL}" model={name}').text, -1)
    np.testing.assert_allclose([float(cell) for (cell,) in table], apart, atol=SHOWN)
    (it,) = tokens_of(model, TROPHY, "it")
    found = compute(f'rows-differ "{TROPHY}" "{SMALL}" it model={name}').value
    assert found == pytest.approx(apart[it], abs=FLOAT)
    exact = [cell for (cell,) in table[:it]] == ["0"] * it
    assert exact == (name == "smollm2"), "bit for bit where nothing looks forward, and only there"
    beside = columns_of(compute(f'rows-beside "{TROPHY}" "{SMALL}" it layer=1 head=2 model={name}').text, -2, -1)
    rows = np.stack([maps[1, 2, it, : len(beside)] for maps in (one, two)], axis=1)
    np.testing.assert_allclose(np.array(beside, dtype=float), rows, atol=FLOAT)


def test_tokens_are_those_of_the_tokenizer_and_sizes_those_of_the_configuration(tiny_stands_in: Model) -> None:
    for text in (TROPHY, "Unbelievable, isn't it?"):
        ids = ids_of(tiny_stands_in, text)[0].tolist()
        assert compute(f'token-count "{text}"').value == len(ids)
        pieces = [tiny_stands_in.tokenizer.decode([one]).strip() for one in ids]
        assert compute(f'tokens "{text}"').text == " | ".join(pieces)
    config: Any = tiny_stands_in.module.config
    heads, width = config.num_attention_heads, config.hidden_size
    sizes = {
        "layers": config.num_hidden_layers,
        "heads": heads,
        "key-value-heads": config.num_key_value_heads,
        "width": width,
        "head-width": tiny_stands_in.module.model.layers[0].self_attn.q_proj.out_features // heads,
    }
    assert {what: compute(f"model-size {what}").value for what in sizes} == sizes


def test_what_comes_next_is_softmax_of_the_logits(tiny_stands_in: Model) -> None:
    logits = logits_of(tiny_stands_in, PARIS)
    for temperature in (0.5, 1, 2):
        table = shown(compute(f'next-table "{PARIS}" temperature={temperature}').text)
        assert table == table_of(tiny_stands_in, logits / temperature)
    best = torch.softmax(logits, -1).topk(2)
    for place, odds in enumerate(best.values.tolist(), 1):
        assert compute(f'next-odds "{PARIS}" {place}').value == pytest.approx(odds, abs=FLOAT)
        assert (
            compute(f'next-token "{PARIS}" {place}').text.removeprefix("␣")
            == table_of(tiny_stands_in, logits)[place - 1][0]
        )


def test_a_forbidden_look_is_one_that_a_mask_of_transformers_forbids(tiny_stands_in: Model) -> None:
    count = ids_of(tiny_stands_in, PARIS).shape[1]
    for word in ("The", "France"):
        mask = torch.ones(count, count, dtype=torch.bool).tril()
        place = tokens_of(tiny_stands_in, PARIS, word)[-1]
        mask[place + 1 :, place] = False
        logits = logits_of(tiny_stands_in, PARIS, mask)
        assert shown(compute(f'next-forbidden "{PARIS}" {word}').text) == table_of(tiny_stands_in, logits)
        assert (logits - logits_of(tiny_stands_in, PARIS)).abs().max() > 0.01, "the mask does something"


def test_lengths_and_early_guesses_are_those_of_the_states_that_transformers_hands_out(tiny_stands_in: Model) -> None:
    module = tiny_stands_in.module
    with torch.no_grad():
        states = module(input_ids=ids_of(tiny_stands_in, PARIS), output_hidden_states=True).hidden_states
        early = [module.lm_head(module.model.norm(one[0, -1])).double() for one in states[1:-1]]
    early.append(logits_of(tiny_stands_in, PARIS))  # the last state that is handed out has its norm already
    table = compute(f'stream "{PARIS}"').text.splitlines()[1:]
    for layer, (line, logits) in enumerate(zip(table, early, strict=True)):
        number, length, *_ = line.split()
        assert int(number) == layer
        assert float(length) == pytest.approx(states[layer][0, -1].norm().item(), abs=0.051)  # one digit is shown
        assert shown(line[-12:])[0][1] == table_of(tiny_stands_in, logits)[0][1]
        guess = compute(f'stream-guess "{PARIS}" {layer}').text
        assert guess.removeprefix("␣") == table_of(tiny_stands_in, logits)[0][0]
