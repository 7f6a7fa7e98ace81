"""A second pass shows what the first one was, over families and kinds of input, or is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import heedmap
from heedmap.drawing.page import page as pages
from heedmap.drawing.page.bundle import Bundle
from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.again import with_values
from heedmap.reading.edits import remove
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.drawing.page.decoding import header_and_blocks, page_weights
from tests.families import FAMILIES, tiny_family
from tests.reading.test_two_stacks import SOURCE, TARGET, word_tokenizer
from tests.tiny import tiny_ids

NOT_WATCHED = {"albert", "diffllama"}
"""Families that call attention several times in a module: a watched call makes no reading of them."""

ONE_STACK = [name for name, family in FAMILIES.items() if family.auto != "encoder-decoder" and name not in NOT_WATCHED]
MASKS_OF_THEIR_OWN = {"lfm2", "jamba", "qwen3_next"}
"""Hybrids: their other layers mind the padding in ways of their own, and take no mask of 4 dimensions."""


@pytest.fixture
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "load_bundle", lambda: Bundle("export default {}", "p {}"))


def pair(model: Any) -> dict[str, torch.Tensor]:
    """Two texts, the second with padding after it; token types where the model has them."""
    ids = tiny_ids(9, batch=2)
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    inputs = {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.tensor([[0] * 4 + [1] * 5] * 2)
    return inputs


def left_padded(model: Any) -> dict[str, torch.Tensor]:
    """Two texts, the first with padding before it."""
    ids = tiny_ids(9, batch=2)
    mask = torch.ones_like(ids)
    mask[0, :3] = 0
    return {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask}


def shaped_by_a_table(model: Any) -> dict[str, torch.Tensor]:
    """A mask of 4 dimensions, that forbids one more look than the model would."""
    table = torch.zeros(2, 1, 9, 9)
    if getattr(model.config, "is_decoder", True) and model.can_generate():
        table = table.masked_fill(torch.ones(9, 9).triu(1).bool(), torch.finfo(torch.float32).min)
    table[:, :, 5:, 2] = torch.finfo(torch.float32).min
    return {"input_ids": tiny_ids(9, batch=2), "attention_mask": table}


def packed(model: Any) -> dict[str, torch.Tensor]:
    """Two texts in one row, told apart by positions that begin anew."""
    return {"input_ids": tiny_ids(9), "position_ids": torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]])}


def watched(model: Any, inputs: dict[str, torch.Tensor], **options: Any) -> list[Reading]:
    with heedmap.watch(model, word_tokenizer(), **options) as watched, torch.no_grad():
        model(**inputs)
    return watched.readings


def blend_is_the_output(reading: Reading) -> None:
    """The reading's own weights times the values of the second pass give the output."""
    for call in with_values(reading, reading.calls).values():
        assert call.value is not None
        assert call.output is not None
        weights = call.weights(slice(None), slice(None))
        values = call.value.repeat_interleave(call.heads // call.key_value_heads, 1)
        # Values of a few units: a weight is off by 2e-5 at most, and a sum over them by that times their size.
        torch.testing.assert_close(weights @ values, call.output, atol=2e-5 * float(values.abs().max()), rtol=0)


@pytest.mark.parametrize("call", [pair, left_padded, shaped_by_a_table, packed])
@pytest.mark.parametrize("family", ONE_STACK)
def test_values_are_those_of_the_watched_call(family: str, call: Callable[[Any], dict[str, torch.Tensor]]) -> None:
    model = tiny_family(family)
    if call is not pair and family in MASKS_OF_THEIR_OWN:
        pytest.skip("a hybrid")
    if call is shaped_by_a_table and family == "opt":
        pytest.skip("it counts positions from a mask of 2 dimensions")
    if call is packed and "position_ids" not in inspect.signature(model.forward).parameters:
        pytest.skip("it takes no positions")
    for reading in watched(model, call(model)):
        blend_is_the_output(reading)


EXPLAINED = ["llama", "qwen3", "mistral", "gemma3_text", "gpt2", "gpt_neox", "bert", "distilbert"]


@pytest.mark.parametrize("call", [pair, left_padded])
@pytest.mark.parametrize("family", EXPLAINED)
def test_the_steps_and_the_norms_are_those_of_the_row(
    family: str, call: Callable[[Any], dict[str, torch.Tensor]]
) -> None:
    model = tiny_family(family)
    for reading in watched(model, call(model)):
        for layer, head in ((0, 1), (2, 3)):
            row = reading.row("@-1", layer, head)
            found = reading.explain("@-1", layer, head, from_vector=True)
            np.testing.assert_allclose(found.trace.weights[0], row.weights[list(found.keys)], atol=1e-6)
            assert found.output_difference < 1e-5
            assert max(one.difference for one in found.projections) < 1e-5
            query, key = found.projections
            np.testing.assert_allclose(query.final, found.trace.query[0], atol=1e-6)
            np.testing.assert_allclose(key.final, found.trace.key[found.largest], atol=1e-6)
            norms = reading.value_norms("@-1", layer, head)
            assert norms.norms is not None
            np.testing.assert_allclose(norms.products, row.weights * norms.norms, rtol=1e-12)
            call_kept = with_values(reading, [layer])[layer]
            assert call_kept.value is not None
            table = model.get_submodule(norms.table)
            width = call_kept.value.shape[-1]
            joined = torch.zeros(len(reading.tokens), call_kept.heads * width)
            shared = head // (call_kept.heads // call_kept.key_value_heads)
            joined[:, head * width : (head + 1) * width] = call_kept.value[0, shared]
            with torch.no_grad():
                expected = (table(joined) - table(torch.zeros_like(joined))).norm(dim=-1)
            np.testing.assert_allclose(norms.norms, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("_program")
def test_a_pair_of_sentences_is_explained_as_it_ran(minilm: Model) -> None:
    """Without its token types [CLS] would get 0.445."""
    batch = minilm.tokenizer(
        [("The cat sat on it", "It was happy"), ("It", "rains")], padding=True, return_tensors="pt"
    )
    with heedmap.watch(minilm.module, minilm.tokenizer) as watched, torch.no_grad():
        minilm.module(**batch)
    reading = watched.readings[0]
    assert reading.row("happy", 0, 11).weights[0] == pytest.approx(0.707, abs=1e-3)
    assert reading.explain("happy", 0, 11).trace.weights[0, 0] == pytest.approx(0.707, abs=1e-3)
    html = reading.page(word="happy", layer=0, head=11, precision="float32")
    own = reading.call(0).weights(slice(None), slice(None))[0].double().numpy()
    assert np.abs(page_weights(html, "self", 0) - own).max() <= 1e-5


def second_half(model: nn.Module) -> list[nn.Parameter]:
    """The tables of the last layer's values: nothing else of that layer shows them."""
    named = dict(model.named_parameters())
    return [
        part
        for name, part in named.items()
        if name.endswith(("2.self_attn.v_proj.weight", "2.attention.self.value.weight"))
    ]


@pytest.mark.parametrize("family", ["llama", "bert"])
@pytest.mark.parametrize("way", ["read", "read_batch", "watch"])
def test_weights_that_changed_are_refused(family: str, way: str) -> None:
    model = tiny_family(family)
    reading = read(model, way)
    blend_is_the_output(reading)
    (table,) = second_half(model)
    table.data.mul_(1.0001)
    with pytest.raises(ReadingError, match=r"2\..*(v_proj|value)\.weight changed since this was read") as refused:
        reading.explain("@-1", 2, 0)
    assert ("heedmap.watch(model, tokenizer, values=True)" if way == "watch" else "values=True") in str(refused.value)
    with pytest.raises(ReadingError, match="changed since this was read"):
        reading.value_norms("@-1", 0, 0)
    with pytest.raises(ReadingError, match="changed since this was read"):
        reading.explain("@-1", 0, 0, from_vector=True)


def read(model: Any, way: str, **options: Any) -> Reading:
    """Some words, read or watched."""
    wrapped = heedmap.wrap(model, word_tokenizer())
    if way == "read":
        reading: Reading = wrapped.read(SOURCE, **options)
        return reading
    if way == "read_batch":
        return wrapped.read_batch([SOURCE, TARGET], **options)[0]
    ids = torch.tensor([wrapped.tokenize(SOURCE).ids])
    with heedmap.watch(model, word_tokenizer(), **options) as watched, torch.no_grad():
        model(input_ids=ids)
    return watched.readings[0]


class Adapter(nn.Module):
    """An adapter around a table that is switched off without a change of any weight, as PEFT's are."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base_layer = base
        self.more = nn.Linear(base.in_features, base.out_features, bias=False)
        self._disable_adapters = False

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.base_layer(hidden)
        return made if self._disable_adapters else made + self.more(hidden)


@pytest.mark.parametrize("table", ["v_proj", "o_proj"])
def test_an_adapter_that_was_switched_off_is_refused(table: str) -> None:
    model = tiny_family("llama")
    attention = model.model.layers[2].self_attn
    setattr(attention, table, Adapter(getattr(attention, table)))
    reading = read(model, "watch")
    blend_is_the_output(reading)
    getattr(attention, table)._disable_adapters = True
    with pytest.raises(ReadingError, match=rf"layers\.2\.self_attn\.{table} \(adapter\) changed since this was read"):
        reading.explain("@-1", 2, 0)


def double(_: nn.Module, __: Any, output: Any) -> Any:
    return output * 2


def test_an_edit_by_a_hook_that_is_gone_is_refused() -> None:
    model = tiny_family("llama")
    for table in ("v_proj", "q_proj"):
        handle = getattr(model.model.layers[1].self_attn, table).register_forward_hook(double)
        reading = read(model, "watch")
        handle.remove()
        what = "outputs" if table == "v_proj" else "queries"
        with pytest.raises(
            ReadingError, match=rf"a second pass gives other {what} \(off by .*\) in layer 1"
        ) as refused:
            reading.explain("@-1", 1, 0)
        assert "heedmap.watch(model, tokenizer, values=True)" in str(refused.value)


def test_training_mode_is_refused() -> None:
    model = tiny_family("llama", attention_dropout=0.5).train()
    with pytest.raises(ReadingError, match=r"training mode with a dropout of 0\.5, and no second pass drops the same"):
        read(model, "watch").explain("@-1", 1, 0)


@pytest.mark.parametrize("way", ["read", "watch"])
def test_autocast_is_that_of_the_first_pass(way: str) -> None:
    reading = read(tiny_family("llama"), way)
    with torch.autocast("cpu", torch.bfloat16):
        calls = with_values(reading, [1])
    assert calls[1].value is not None
    assert calls[1].value.dtype == torch.float32


@pytest.mark.parametrize("family", ["llama", "bert"])
def test_an_edited_reading_is_run_again_with_its_edits(family: str) -> None:
    model = heedmap.wrap(tiny_family(family), word_tokenizer())
    reading = model.read(SOURCE, edit=remove(0, 1, zero=True))
    calls = with_values(reading, [1, 2])
    kept = model.read(SOURCE, edit=remove(0, 1, zero=True), values=True)
    for layer, call in calls.items():
        assert call.value is not None
        torch.testing.assert_close(call.value, kept.calls[layer].value)
    plain = replace(reading, reader=model)
    with pytest.raises(ReadingError, match="a second pass gives other outputs"):
        plain.explain("@-1", 1, 0)


@pytest.mark.parametrize("family", ["llama", "bert"])
def test_a_watch_that_keeps_values_needs_no_second_pass(family: str) -> None:
    model = tiny_family(family)
    reading = read(model, "watch", values=True)
    (table,) = second_half(model)
    table.data.mul_(2)
    blend_is_the_output(reading)
    assert reading.explain("@-1", 2, 0).output_difference < 1e-5


@pytest.mark.usefixtures("_program")
def test_a_page_says_why_its_steps_do_not_unfold() -> None:
    model = tiny_family("llama")
    reading = read(model, "watch", layers=[0, 1])
    (table,) = second_half(model)
    table.data.mul_(2)
    header, _ = header_and_blocks(reading.page(layer=1))
    notes = " ".join(header["readings"][0]["notes"])
    assert "The four steps do not unfold: model.layers.2.self_attn.v_proj.weight changed since this was read" in notes
    assert "The statistics are those of the layers that were kept: model.layers.2" in notes
    assert not any(layer["hasSteps"] for layer in header["readings"][0]["layers"])
    with pytest.raises(ReadingError, match="changed since this was read"):
        reading.page(layer=1, steps=[1])


@pytest.mark.usefixtures("_program")
def test_statistics_of_layers_that_were_not_kept_are_those_of_the_watched_call() -> None:
    model = tiny_family("bert", type_vocab_size=2)
    (some, _), (all_kept, _) = watched(model, pair(model), layers=[1]), watched(model, pair(model))
    shown = [header_and_blocks(one.page())[0]["readings"][0]["statistics"] for one in (some, all_kept)]
    for one, other in zip(*shown, strict=True):
        assert one["name"] == other["name"]
        found, expected = (np.array(values["values"], float) for values in (one, other))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_half_precision_is_run_again() -> None:
    for family in ("llama", "bert"):
        for way in ("read", "read_batch", "watch"):
            reading = read(tiny_family(family).to(torch.bfloat16), way)
            assert reading.explain("@-1", 1, 0).output_difference < 5e-2


@pytest.mark.parametrize("family", ["bloom", "xlnet"])
def test_what_has_no_values_says_so(family: str) -> None:
    reading = heedmap.wrap(tiny_family(family), word_tokenizer()).read(SOURCE)
    with pytest.raises(UnsupportedModel, match="its weights are read, but not its values"):
        reading.explain("@-1", 1, 0)
