"""Watching somebody's own forward calls: what is read equals eager attention, and nothing else changes."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from transformers import pipeline

import heedmap
from heedmap.errors import EmptyText, OutOfRange, ReadingError, UnsupportedModel
from heedmap.reading.model import Model
from tests.conformance import TOLERANCE
from tests.conftest import ROUNDING
from tests.pictures import word_tokenizer
from tests.tiny import FAMILIES, tiny_ids, tiny_model
from tests.tiny_stacks import tiny_pixels, tiny_t5, tiny_vit


def padded(side: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Two texts of 12 tokens, the second with 5 of padding."""
    ids = tiny_ids(12, batch=2)
    mask = torch.ones_like(ids)
    mask[1, slice(0, 5) if side == "left" else slice(-5, None)] = 0
    return ids.masked_fill(mask == 0, 0), mask


def eager_attentions(family: str, **inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        output = tiny_model(family, implementation="eager")(**inputs, output_attentions=True)
    return tuple(output.attentions)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_weights_of_a_padded_batch_are_those_of_eager(family: str, side: str) -> None:
    model = tiny_model(family)
    ids, mask = padded(side)
    with heedmap.watch(model) as watched, torch.no_grad():
        model(input_ids=ids, attention_mask=mask)
    (forward,) = watched.forwards
    expected = eager_attentions(family, input_ids=ids, attention_mask=mask)
    live = mask.bool()[:, None, :].expand(expected[0].shape[:3])
    for found, weights in zip(forward.attentions(), expected, strict=True):
        torch.testing.assert_close(found[live], weights[live], atol=TOLERANCE, rtol=0)
        assert (found[~live] == 0).all()
    head = forward.weights(2, 1)
    np.testing.assert_allclose(head[mask.bool()].sum(-1), 1, atol=ROUNDING)
    assert (head[~mask.bool()] == 0).all()


@pytest.mark.parametrize("side", ["left", "right"])
def test_each_text_of_a_batch_becomes_a_reading_without_its_padding(smollm2: Model, side: str) -> None:
    texts = ["The cat sat on the mat because it was tired.", "It was big."]
    batch = smollm2.tokenizer(texts, padding=True, padding_side=side, return_tensors="pt")
    with heedmap.watch(smollm2.module, smollm2.tokenizer) as watched, torch.no_grad():
        smollm2.module(**batch)
    assert [reading.text for reading in watched.readings] == texts
    for reading, text in zip(watched.readings, texts, strict=True):
        alone = smollm2.read(text)
        assert reading.tokens.ids == alone.tokens.ids
        for layer in (0, 15, 29):
            found, expected = np.asarray(reading.map(layer, 4)), np.asarray(alone.map(layer, 4))
            # A batch is multiplied in blocks of other sizes, and scores in smollm2 reach some hundreds.
            np.testing.assert_allclose(found, expected, rtol=0, atol=2e-4)
            np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
        assert [one.id for one in reading.candidates[:3]] == [one.id for one in alone.candidates[:3]]
        assert reading.explain("@-1", 15, 4).weight_difference < 1e-5


def test_a_window_moves_with_the_padding_that_is_taken_off(smollm2_tokenizer: Any) -> None:
    model = tiny_model("mistral", vocab_size=49152)
    ids, mask = padded("left")
    with heedmap.watch(model, smollm2_tokenizer) as watched:
        model(input_ids=ids, attention_mask=mask)
    short = watched.readings[1]
    assert len(short.tokens) == 7
    assert (np.asarray(short.map(1, 0)) > 0).sum(1).tolist() == [1, 2, 3, 4, 5, 6, 6]
    np.testing.assert_allclose(np.asarray(short.map(1, 0)).sum(1), 1, atol=ROUNDING)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("family", ["llama", "gpt2", "bert"])
def test_a_training_step_is_the_same_with_and_without(family: str, implementation: str) -> None:
    dropouts: dict[str, Any] = {
        "llama": {"attention_dropout": 0.5},
        "gpt2": {"attn_pdrop": 0.5, "resid_pdrop": 0.1, "embd_pdrop": 0.1},
        "bert": {"attention_probs_dropout_prob": 0.5, "hidden_dropout_prob": 0.1},
    }
    model = tiny_model(family, implementation=implementation, **dropouts[family]).train()
    ids, mask = padded("right") if family != "bert" else (tiny_ids(12, 2), torch.ones(2, 12, dtype=torch.long))

    def step() -> dict[str, torch.Tensor]:
        torch.manual_seed(7)
        model.zero_grad()
        output = model(input_ids=ids, attention_mask=mask)
        answer = output.logits if "logits" in output else output.last_hidden_state
        answer[mask.bool()].square().mean().backward()
        grads = {name: part.grad.clone() for name, part in model.named_parameters() if part.grad is not None}
        return {**grads, "answer": answer.detach()[mask.bool()], "random": torch.rand(3)}

    before = step()
    with heedmap.watch(model) as watched:
        during = step()
    after = step()
    assert before.keys() == during.keys()
    for name in before:
        torch.testing.assert_close(during[name], before[name], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(after[name], before[name], atol=1e-5, rtol=1e-4)
    (forward,) = watched.forwards
    assert forward.dropout == 0.5
    assert "weights before a dropout of 0.5" in str(forward)
    weights = forward.weights(0, 1)
    np.testing.assert_allclose(weights[mask.bool()].sum(-1), 1, atol=1e-5)  # a dropped row would not add up to 1


def test_the_first_layer_of_a_training_step_has_the_weights_of_eval_mode() -> None:
    model = tiny_model("llama", attention_dropout=0.5)
    ids = tiny_ids()
    with heedmap.watch(model) as watched:
        model(input_ids=ids)
        model.train()
        model(input_ids=ids)
        assert model.training
    evaluated, trained = watched.forwards
    # Nothing random comes before the first layer's weights; what comes after its dropout is another text's.
    np.testing.assert_allclose(trained.weights(0, 2), evaluated.weights(0, 2), atol=ROUNDING)
    assert np.abs(trained.weights(2, 2) - evaluated.weights(2, 2)).max() > 1e-2
    assert (evaluated.dropout, trained.dropout) == (0.0, 0.5)


def test_the_settings_are_left_alone_after_an_error() -> None:
    model = tiny_model("gpt2").train()
    model.transformer.h[1].eval()
    modes = [part.training for part in model.modules()]
    with pytest.raises(ZeroDivisionError), heedmap.watch(model):
        1 / 0  # noqa: B018
    assert [part.training for part in model.modules()] == modes
    assert model.config._attn_implementation == "sdpa"
    assert not model._forward_hooks
    assert not model._forward_pre_hooks


def test_a_forward_call_that_fails_is_not_counted() -> None:
    model = tiny_model("llama")
    with heedmap.watch(model) as watched:
        with pytest.raises(IndexError):
            model(input_ids=torch.tensor([[100_000]]))
        model(input_ids=tiny_ids(5))
    assert [forward.weights(0).shape for forward in watched.forwards] == [(1, 5, 5)]


@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_each_step_of_generation_is_a_row_of_the_whole_map(cache: str) -> None:
    model = tiny_model("llama")
    ids = tiny_ids(6)
    with heedmap.watch(model) as watched:
        written = model.generate(
            ids, max_new_tokens=4, min_new_tokens=4, do_sample=False, cache_implementation=cache, disable_compile=True
        )
    expected = eager_attentions("llama", input_ids=written)
    assert [forward.weights(1, 3).shape[1:] for forward in watched.forwards] == [(6, 6), (1, 7), (1, 8), (1, 9)]
    for layer, weights in enumerate(expected):
        for forward in watched.forwards:
            found = forward.attentions()[layer][0]
            keys = found.shape[-1]
            rows = weights[0, :, keys - found.shape[1] : keys, :keys]
            torch.testing.assert_close(found, rows, atol=TOLERANCE, rtol=0)


def test_a_sliding_cache_does_not_write_over_what_was_read() -> None:
    model = tiny_model("mistral")
    ids = tiny_ids(9)
    with heedmap.watch(model) as watched:
        written = model.generate(
            ids,
            max_new_tokens=4,
            min_new_tokens=4,
            do_sample=False,
            cache_implementation="static",
            disable_compile=True,
        )
    expected = eager_attentions("mistral", input_ids=written)
    assert len(watched.forwards) == 4
    for step, forward in enumerate(watched.forwards):
        found = forward.attentions()[2][0, :, -1]
        row = expected[2][0, :, 8 + step]
        seen = row[row > 0].view(4, 6)  # the window, wherever the cache put it
        torch.testing.assert_close(found[found > 0].view(4, 6), seen, atol=TOLERANCE, rtol=0)


def test_readings_of_generation_are_those_of_the_prompt(smollm2: Model) -> None:
    batch = smollm2.tokenizer(["The capital of France is"], return_tensors="pt")
    with heedmap.watch(smollm2.module, smollm2.tokenizer, layers=20) as watched:
        smollm2.module.generate(**batch, max_new_tokens=2, do_sample=False)
    assert [reading.text for reading in watched.readings] == ["The capital of France is"]
    assert watched.readings[0].candidates[0].text == smollm2.read("The capital of France is").candidates[0].text
    with pytest.raises(ReadingError, match="a step of generation runs one new token"):
        _ = watched.forwards[1].readings


def test_a_pipeline_is_watched_through_its_model(minilm: Model) -> None:
    texts = ["The cat sat on the mat.", "It was big."]
    vectors = pipeline("feature-extraction", model=minilm.module, tokenizer=minilm.tokenizer, device="cpu")
    expected = vectors(texts, batch_size=2)
    with heedmap.watch(vectors.model, vectors.tokenizer, layers=3) as watched:
        found = vectors(texts, batch_size=2)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert [len(reading.tokens) for reading in watched.readings] == [9, 6]
    for reading, text in zip(watched.readings, texts, strict=True):
        alone = np.asarray(minilm.read(text).map(3))
        np.testing.assert_allclose(np.asarray(reading.map(3)), alone, rtol=0, atol=TOLERANCE)


def test_recomputation_for_gradients_is_no_forward_call() -> None:
    model = tiny_model("llama").train()
    # Newer versions of transformers call it by another name.
    enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})
    ids = tiny_ids()
    with heedmap.watch(model) as watched:
        model(input_ids=ids, labels=ids).loss.backward()
    assert len(watched.forwards) == 1
    assert len(watched.forwards[0].calls) == 3
    assert all(part.grad is not None for part in model.parameters())


def test_another_thread_is_heard_too() -> None:
    model = tiny_model("llama")

    def run(length: int) -> None:
        with torch.no_grad():
            model(input_ids=tiny_ids(length))

    with heedmap.watch(model) as watched:
        threads = [threading.Thread(target=run, args=(length,)) for length in (5, 6, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(forward.weights(2).shape[1] for forward in watched.forwards) == [5, 6, 7]
    assert all(len(forward.calls) == 3 for forward in watched.forwards)


def test_a_reading_made_inside_the_block_is_its_own(smollm2: Model) -> None:
    model = smollm2.module
    with heedmap.watch(model, layers=0) as watched, torch.no_grad():
        inner = smollm2.read("Four words are here")
        model(input_ids=torch.tensor([[504, 2644]]))
        assert model.config._attn_implementation == "heedmap_tap"
    assert len(inner.calls) == 30
    assert [forward.weights(0).shape for forward in watched.forwards] == [(1, 2, 2)]
    assert model.config._attn_implementation == "sdpa"


def test_only_the_layers_asked_for_are_kept() -> None:
    model = tiny_model("llama")
    with heedmap.watch(model, layers=[1]) as watched:
        model(input_ids=tiny_ids())
    (forward,) = watched.forwards
    assert [one.layer.number for one in forward.calls] == [1]
    assert forward.weights(1).shape == (1, 12, 12)
    with pytest.raises(ReadingError, match=r"layer 2 was not kept \(kept: 1\): watch with layers=2"):
        forward.weights(2)
    with pytest.raises(OutOfRange, match="layer 3 was not heard in this forward call: there are 0, 1, 2"):
        forward.weights(3)
    with pytest.raises(OutOfRange, match="head 4 is out of range: layer 1 has 4 heads, 0 to 3"):
        forward.weights(1, 4)
    with pytest.raises(OutOfRange, match="layer 7 is out of range"), heedmap.watch(model, layers=7):
        pass


def test_a_part_that_is_called_by_itself_is_a_forward_call() -> None:
    model = tiny_model("llama")
    with heedmap.watch(model) as watched:
        model.model(input_ids=tiny_ids(4))
        model(input_ids=tiny_ids(5))
    assert [(forward.part, forward.weights(0).shape[1]) for forward in watched.forwards] == [("model", 4), ("", 5)]


def test_a_module_around_a_model_can_be_watched(smollm2_tokenizer: Any) -> None:
    class Classifier(torch.nn.Module):
        """Somebody's own head on a model of transformers."""

        def __init__(self) -> None:
            super().__init__()
            self.body = tiny_model("bert")
            self.head = torch.nn.Linear(64, 2)

        def forward(self, features: dict[str, torch.Tensor]) -> torch.Tensor:
            result: torch.Tensor = self.head(self.body(**features).last_hidden_state[:, 0])
            return result

    classifier = Classifier().eval()
    ids, mask = padded("right")
    with heedmap.watch(classifier, smollm2_tokenizer) as watched:
        classifier({"input_ids": ids, "attention_mask": mask})
    assert [len(reading.tokens) for reading in watched.readings] == [12, 7]
    expected = eager_attentions("bert", input_ids=ids, attention_mask=mask)
    np.testing.assert_allclose(np.asarray(watched.readings[1].map(2, 3)), expected[2][1, 3, :7, :7], atol=TOLERANCE)


def test_weights_that_do_not_give_the_output_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from heedmap.reading import call as call_module

    exact = call_module.AttentionCall.weights
    monkeypatch.setattr(call_module.AttentionCall, "weights", lambda *given: exact(*given) * 0.9)
    model = tiny_t5()
    with (
        pytest.raises(
            UnsupportedModel, match=r"layer 0 of T5ForConditionalGeneration .*: the weights read do not give"
        ),
        heedmap.watch(model),
        torch.no_grad(),
    ):
        model(input_ids=tiny_ids(9), decoder_input_ids=tiny_ids(5))


def test_what_cannot_be_watched_is_refused_by_name(smollm2: Model) -> None:
    with pytest.raises(UnsupportedModel, match=r"Model is not a torch module: give the model itself"):
        heedmap.watch(smollm2).__enter__()  # type: ignore[arg-type]
    with (
        pytest.raises(UnsupportedModel, match="Linear is not a transformers model"),
        heedmap.watch(torch.nn.Linear(2, 2)),
    ):
        pass


def test_a_model_that_is_never_heard_is_no_empty_result(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_vit()
    monkeypatch.setattr(type(model.layers[0].attention), "forward", lambda self, states, *_, **__: (states, None))
    with (
        pytest.raises(UnsupportedModel, match="ViTModel ran, and never called an attention function that can be read"),
        heedmap.watch(model),
    ):
        model(pixel_values=tiny_pixels())


def test_what_readings_cannot_be_had_is_said(smollm2_tokenizer: Any) -> None:
    model = tiny_model("llama")
    with heedmap.watch(model, smollm2_tokenizer) as watched:
        with pytest.raises(ReadingError, match="no forward call of the model was made inside the block"):
            _ = watched.readings
        model(inputs_embeds=torch.randn(1, 4, 64))
        with pytest.raises(ReadingError, match="was given no input_ids"):
            _ = watched.readings
        ids, mask = padded("right")
        model(input_ids=ids, attention_mask=mask * torch.tensor([[1], [0]]))
    with pytest.raises(EmptyText, match="text 1 of the batch is nothing but padding"):
        _ = watched.readings


def test_a_reading_of_a_training_step_says_so(smollm2_tokenizer: Any) -> None:
    model = tiny_model("gpt2", attn_pdrop=0.5, vocab_size=49152).train()
    with heedmap.watch(model, smollm2_tokenizer) as watched:
        model(input_ids=tiny_ids())
    assert watched.readings[0].model["dropout"] == 0.5


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_window_of_one_with_a_cache_looks_at_all_that_the_cache_kept(implementation: str) -> None:
    """transformers' cache for a window of 1 keeps every key, and its mask of one cell forbids none of them."""
    module = tiny_model("mistral", sliding_window=1, implementation=implementation)
    ids = word_tokenizer()("the cat sat on a mat", return_tensors="pt")
    plain = module.generate(**ids, max_new_tokens=3, do_sample=False)
    with heedmap.watch(module, word_tokenizer()) as watched:
        assert torch.equal(module.generate(**ids, max_new_tokens=3, do_sample=False), plain)
    eager = tiny_model("mistral", sliding_window=1, implementation="eager")
    eager.load_state_dict(module.state_dict())
    steps = eager.generate(
        **ids, max_new_tokens=3, do_sample=False, output_attentions=True, return_dict_in_generate=True
    ).attentions
    for forward, step in zip(watched.forwards, steps, strict=True):
        np.testing.assert_allclose(forward.weights(0)[0, -1], step[0][0, :, -1].mean(0), atol=1e-5)


@pytest.mark.parametrize("family", ["llama", "bert", "gpt2"])
def test_numbers_around_a_model_are_no_layers(family: str) -> None:
    module = tiny_model(family)
    ids = tiny_ids()
    with heedmap.watch(module) as alone:
        module(ids)
    for around in (torch.nn.Sequential(module), torch.nn.ModuleDict({"7": torch.nn.Sequential(module)})):
        with heedmap.watch(around, layers=[2]) as watched:
            module(ids)
        forward = watched.forwards[0]
        assert [one.layer.number for one in forward.heard] == [0, 1, 2]
        np.testing.assert_allclose(forward.weights(2), alone.forwards[0].weights(2), atol=ROUNDING)


def test_two_models_in_one_module_are_told_apart() -> None:
    one, two = tiny_model("llama"), tiny_model("bert")
    both = torch.nn.ModuleList([one, two])
    with heedmap.watch(both) as watched:
        one(tiny_ids())
        two(tiny_ids())
    assert [forward.part for forward in watched.forwards] == ["0", "1"]
    assert [forward.stacks[0][:2] for forward in watched.forwards] == ["0.", "1."]
    for forward, module in zip(watched.forwards, (one, two), strict=True):
        with heedmap.watch(module) as alone:
            module(tiny_ids())
        np.testing.assert_allclose(forward.weights(1), alone.forwards[0].weights(1), atol=ROUNDING)


def test_two_models_called_together_have_a_stack_each() -> None:
    class Pair(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList([tiny_model("llama"), tiny_model("llama")])

        def forward(self, ids: torch.Tensor) -> Any:
            return [part(ids).logits for part in self.parts]

    pair = Pair()
    with heedmap.watch(pair) as watched:
        pair(tiny_ids())
    forward = watched.forwards[0]
    assert forward.stacks == [f"parts.{number}.model.layers.*.self_attn" for number in (0, 1)]
    for number, part in enumerate(pair.parts):
        with heedmap.watch(part) as alone:
            part(tiny_ids())
        found = forward.weights(2, stack=f"parts.{number}.")
        np.testing.assert_allclose(found, alone.forwards[0].weights(2), atol=ROUNDING)


@pytest.mark.parametrize("family", ["llama", "bert", "mistral"])
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_an_attention_function_set_inside_the_block_is_no_way_around_it(family: str, implementation: str) -> None:
    module = tiny_model(family)
    with heedmap.watch(module) as watched:
        module(tiny_ids())
        module.set_attn_implementation(implementation)
        module(tiny_ids())
        module(tiny_ids())
    assert len(watched.forwards) == 3
    for forward in watched.forwards[1:]:
        np.testing.assert_allclose(forward.weights(2), watched.forwards[0].weights(2), atol=ROUNDING)
    assert module.config._attn_implementation == implementation


@pytest.mark.parametrize("inner_part", ["", "model"])
def test_a_watch_hears_what_a_watch_inside_it_hears(inner_part: str) -> None:
    module = tiny_model("llama")
    with heedmap.watch(module) as outer:
        module(tiny_ids())
        with heedmap.watch(module.get_submodule(inner_part)) as inner:
            module(tiny_ids())
        module(tiny_ids())
    assert (len(outer.forwards), len(inner.forwards)) == (3, 1)
    assert [len(forward.heard) for forward in outer.forwards] == [3, 3, 3]
    assert [one.layer.module for one in outer.forwards[1].heard] == [
        one.layer.module for one in outer.forwards[0].heard
    ]
    np.testing.assert_allclose(inner.forwards[0].weights(1), outer.forwards[1].weights(1), atol=ROUNDING)
    assert module.config._attn_implementation == "sdpa"
    assert "forward" not in module.__dict__


def test_forward_called_without_the_module_is_heard() -> None:
    """As sentence-transformers does, so that no hook of the module runs."""

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = tiny_model("bert")

        def encode(self, texts: list[str]) -> torch.Tensor:
            inputs = word_tokenizer()(texts, padding=True, return_tensors="pt")
            hidden: torch.Tensor = self.model.forward(**inputs).last_hidden_state
            return hidden.mean(1)

    encoder, texts = Encoder(), ["the cat sat", "a mat"]
    plain = encoder.encode(texts)
    with heedmap.watch(encoder, word_tokenizer()) as watched:
        torch.testing.assert_close(encoder.encode(texts), plain)
    assert [reading.tokens.ids for reading in watched.readings] == [
        word_tokenizer()(text)["input_ids"] for text in texts
    ]
    assert "forward" not in encoder.model.__dict__


def test_what_ran_unheard_is_named_beside_what_was_heard() -> None:
    class Silent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = tiny_model("llama")

        def forward(self, ids: torch.Tensor, runs: bool) -> Any:
            return self.model(ids) if runs else ids

    module = Silent()
    with heedmap.watch(module) as watched:
        module(tiny_ids(), True)
        module(tiny_ids(), False)
    assert dict(watched.unheard) == {"Silent": 1}
    assert "Silent ran 1 times without attention that can be read" in str(watched)
