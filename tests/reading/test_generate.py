"""Generation: the words are those of the untouched model, and each row is that of one pass over the whole text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from heedmap.errors import OutOfRange, ReadingError, TextError, TextTooLong, UnsupportedModel
from heedmap.reading import generate as generating
from heedmap.reading import generation_check
from heedmap.reading.generate import NOT_ONE_ROW, generate, what_was_written
from heedmap.reading.generation import Generation
from heedmap.reading.loading import wrap
from heedmap.reading.model import Model
from heedmap.reading.two_stacks import read_two_stacks
from heedmap.text.tokenize import from_ids
from heedmap.text.tokens import Token, Tokens
from tests.conftest import ROUNDING
from tests.families import tiny_family
from tests.tiny import DECODERS, tiny_ids
from tests.tiny_stacks import tiny_t5

_WINDOWED: dict[str, Any] = {
    **{key: value for key, value in DECODERS["qwen2"].items() if key != "rope_theta"},
    "head_dim": 16,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
FAMILIES: dict[str, dict[str, Any]] = {
    **{family: DECODERS[family] for family in ("llama", "qwen3", "mistral", "gemma3_text", "gpt2", "gpt_neox")},
    "gemma2": {**_WINDOWED, "sliding_window": 6, "attn_logit_softcapping": 2.0},
    "gpt_oss": {**_WINDOWED, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "static cache": {"cache_implementation": "static"},
    "no cache": {"use_cache": False},
    "sampling": {"do_sample": True, "temperature": 1.5, "seed": 7},
    "beams": {"num_beams": 3},
    "sampled beams": {"num_beams": 2, "do_sample": True, "seed": 7},
    "repetition penalty": {"repetition_penalty": 1.3},
}
PROMPT, NEW = 9, 7


def model_of(family: str, tokenizer: Any) -> Model:
    """A tiny model that does not end its text by itself."""
    torch.manual_seed(0)
    module: Any = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **FAMILIES[family])).eval()
    for parameter in module.parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.15)
    module.generation_config.eos_token_id = None
    module.generation_config.pad_token_id = 0
    return wrap(module, tokenizer)


def written(family: str, tokenizer: Any, way: dict[str, Any], new_tokens: int = NEW) -> tuple[Model, Generation]:
    model = model_of(family, tokenizer)
    prompt = from_ids(tokenizer, tiny_ids(PROMPT)[0].tolist())
    return model, generate(model, prompt, new_tokens, **way)


def untouched(model: Model, ids: list[int], way: dict[str, Any], new_tokens: int = NEW) -> list[int]:
    """What transformers writes with nothing of ours near it."""
    options = {key: value for key, value in way.items() if key != "seed"}
    if "seed" in way:
        torch.manual_seed(way["seed"])
    whole = model.module.generate(torch.tensor([ids]), max_new_tokens=new_tokens, **{"do_sample": False, **options})
    return [int(number) for number in whole[0, len(ids) :]]


def assert_rows_of_one_pass(model: Model, generation: Generation) -> None:
    """Teacher forcing: one full pass over the tokens gives the same rows, in every layer and head."""
    whole = model.read_tokens(generation.tokens)
    for layer in model.layers:
        rows = slice(generation.prompt - 1, len(generation.tokens) - 1)
        call = whole.call(layer.number)
        expected = call.weights(rows, slice(None))[0].transpose(0, 1).numpy()
        found = generation.rows_of[layer.number]
        np.testing.assert_allclose(found.weights, expected, atol=ROUNDING, rtol=0)
        allowed = call.rule.allowed(torch.arange(len(whole.tokens))[rows], torch.arange(len(whole.tokens)))[0, 0]
        np.testing.assert_array_equal(found.allowed, allowed.numpy())
        np.testing.assert_allclose(found.weights.sum(-1) + found.sinks, 1, atol=ROUNDING)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", FAMILIES)
def test_words_and_rows(family: str, way: str, smollm2_tokenizer: Any) -> None:
    model, generation = written(family, smollm2_tokenizer, WAYS[way])
    assert [token.id for token in generation.new] == untouched(model, generation.tokens.ids[:PROMPT], WAYS[way])
    assert_rows_of_one_pass(model, generation)


def test_there_are_as_many_steps_as_new_tokens(smollm2_tokenizer: Any) -> None:
    """Lengths are not one less than the sequence: four new tokens are four rows, each shown with what it chose."""
    _, generation = written("llama", smollm2_tokenizer, {}, new_tokens=4)
    assert len(generation.new) == 4
    assert generation.rows(0).shape == (4, PROMPT + 4)
    assert [generation.row(step).chooses for step in range(4)] == [9, 10, 11, 12]


def test_rows_follow_their_beam(smollm2_tokenizer: Any) -> None:
    """A beam's text moves between rows of the batch: always taking row 0 would give another text's weights."""
    way = {"num_beams": 3}
    model, generation = written("llama", smollm2_tokenizer, way)
    assert_rows_of_one_pass(model, generation)
    ids = torch.tensor([generation.tokens.ids[:PROMPT]])
    output = model.module.generate(ids, max_new_tokens=NEW, num_beams=3, return_dict_in_generate=True)
    _, beams = what_was_written(output, PROMPT)
    assert set(beams) != {0}, "the case shows nothing where the text never moves"


def test_places_without_a_beam_are_left_out(smollm2_tokenizer: Any) -> None:
    """A text that ended before the others has -1 as its row from there on: no token stands there."""
    model = model_of("llama", smollm2_tokenizer)
    output = model.module.generate(
        tiny_ids(PROMPT), max_new_tokens=NEW, num_beams=2, num_return_sequences=2, return_dict_in_generate=True
    )
    output.beam_indices[0, 4:] = -1
    ids, beams = what_was_written(output, PROMPT)
    assert len(ids) == len(beams) == 4


def test_a_text_that_ends_itself_has_fewer_tokens(smollm2_tokenizer: Any) -> None:
    ways: list[dict[str, Any]] = [{}, {"num_beams": 3}]
    for way in ways:
        model, generation = written("llama", smollm2_tokenizer, way)
        end = generation.new[2].id
        shorter = generate(
            model, from_ids(smollm2_tokenizer, generation.tokens.ids[:PROMPT]), NEW, eos_token_id=end, **way
        )
        assert_rows_of_one_pass(model, shorter)
        assert shorter.rows(0).shape[0] == len(shorter.new)
        if not way:
            assert [one.id for one in shorter.new] == [one.id for one in generation.new[:3]]


def test_rows_of_a_fixed_cache_end_at_their_token(smollm2_tokenizer: Any) -> None:
    """A fixed cache is as long as the whole text from the first step on: the cells behind are no tokens yet."""
    _, generation = written("gemma2", smollm2_tokenizer, {"cache_implementation": "static"})
    for step in range(NEW):
        row = generation.row(step, layer=1)
        assert row.query == (PROMPT + step - 1,)
        assert not row.allowed[PROMPT + step :].any()
        assert (row.weights[PROMPT + step :] == 0).all()
        assert row.to_json()["weights"][PROMPT + step :] == [None] * (NEW - step)


@pytest.mark.parametrize("cache", [None, "static"])
def test_windowed_rows_stand_at_their_places_in_the_text(cache: str | None, smollm2_tokenizer: Any) -> None:
    """A window of 6 keeps the last 6 keys: row n looks at places n - 5 to n, wherever the cache holds them."""
    _, generation = written("mistral", smollm2_tokenizer, {"cache_implementation": cache} if cache else {})
    for step in range(NEW):
        row = generation.row(step, layer=0, head=1)
        place = PROMPT + step - 1
        assert np.flatnonzero(row.allowed).tolist() == list(range(place - 5, place + 1))
        assert (row.weights[row.allowed] > 0).all()
        assert row.sum == pytest.approx(1, abs=ROUNDING)


def test_the_label_says_which_row_chose_which_token(smollm2: Model) -> None:
    """The last row already is the look of the token to come: row i chooses token i + 1."""
    generation = smollm2.generate("The cat sat on the", 3, layers=[12, 20])
    row = generation.row(0, layer=12, head=4)
    assert row.says == "row 4 “the” chooses token 5 “cat”"
    assert str(row).startswith(f"{row.says}\nwhere “the” looks: layer 12, head 4 of smollm2")
    assert row.to_json()["chooses"] == 5
    assert "row i chooses token i + 1" in str(generation)
    assert "row 4 chooses 5 cat" in str(generation)
    assert generation.row("@5", 12, 4).query == generation.row(-3, 12, 4).query == (4,)
    assert generation.text.startswith("The cat sat on the cat")
    found = generation.to_json(20, 4)
    assert (found["schema"], found["prompt_tokens"], found["layer"]) == ("heedmap/generation/1", 5, 20)
    assert [(one["row"], one["chooses"]) for one in found["rows"]] == [(4, 5), (5, 6), (6, 7)]
    assert found["rows"][0]["weights"][5:] == [None] * 3


def test_the_real_model_writes_what_it_writes_and_looks_as_in_one_pass(smollm2: Model) -> None:
    prompt = "The trophy did not fit in the suitcase because"
    for way in ({}, {"num_beams": 2}, {"cache_implementation": "static"}):
        generation = smollm2.generate(prompt, 6, **way)
        ids = generation.tokens.ids[: generation.prompt]
        assert [token.id for token in generation.new] == untouched(smollm2, ids, way, 6)
        assert_rows_of_one_pass(smollm2, generation)


def test_sampling_begins_with_its_seed_and_leaves_torch_as_it_was(smollm2_tokenizer: Any) -> None:
    model = model_of("llama", smollm2_tokenizer)
    prompt = from_ids(smollm2_tokenizer, tiny_ids(PROMPT)[0].tolist())
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    first = generate(model, prompt, NEW, do_sample=True, temperature=3.0, seed=5)
    assert torch.equal(torch.rand(1), expected)
    _, second = written("llama", smollm2_tokenizer, {"do_sample": True, "temperature": 3.0, "seed": 5})
    _, third = written("llama", smollm2_tokenizer, {"do_sample": True, "temperature": 3.0, "seed": 6})
    assert first.tokens == second.tokens != third.tokens
    assert first.options == {"do_sample": True, "temperature": 3.0, "seed": 5}


def test_a_model_that_writes_other_words_when_it_is_read_is_refused(
    smollm2_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a cache hands over its keys under another name: words change, and nothing else says so."""
    model = model_of("llama", smollm2_tokenizer)
    rule_of = generating.run_generation
    runs = []

    def forgetful(module: Any, ids: torch.Tensor, new_tokens: int, **options: Any) -> Any:
        runs.append(options)
        if len(runs) == 2:
            ids = ids.flip(1)
        return rule_of(module, ids, new_tokens, **options)

    monkeypatch.setattr(generating, "run_generation", forgetful)
    with pytest.raises(UnsupportedModel, match=r"LlamaForCausalLM writes something else when its attention is read"):
        generate(model, from_ids(smollm2_tokenizer, [5, 6, 7]), 3)


def test_rows_that_are_not_those_of_one_pass_are_refused(
    smollm2_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of("llama", smollm2_tokenizer)
    last_row = generating._last_row

    def shifted(call: Any) -> Any:
        row = last_row(call)
        return generating._StepWeights(row.weights.roll(1, -1), row.allowed, row.first, row.sinks)

    monkeypatch.setattr(generating, "_last_row", shifted)
    with pytest.raises(UnsupportedModel, match=r"layer 0 of LlamaForCausalLM .* are not those of one pass"):
        generate(model, from_ids(smollm2_tokenizer, [5, 6, 7]), 3)


def test_the_check_runs_once_a_kind_of_cache(smollm2_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("llama", smollm2_tokenizer)
    prompt = from_ids(smollm2_tokenizer, [5, 6, 7])
    runs: list[Any] = []
    check = generation_check._check

    def counted(module: Any, cache: str | None, ids: torch.Tensor) -> None:
        runs.append(cache)
        check(module, cache, ids)

    monkeypatch.setattr(generation_check, "_check", counted)
    ways: list[dict[str, Any]] = [{}, {}, {"cache_implementation": "static"}, {"cache_implementation": "static"}]
    for way in ways:
        generate(model, prompt, 2, **way)
    assert runs == [None, "static"]


def test_what_cannot_be_generated_is_refused_with_the_way_on(smollm2: Model, minilm: Model) -> None:
    with pytest.raises(ReadingError, match=r"minilm does not write: it is a BertModel, so take a causal model"):
        minilm.generate("The cat")
    with pytest.raises(OutOfRange, match=r"0 new tokens were asked for: take 1 or more"):
        smollm2.generate("The cat", 0)
    with pytest.raises(TextTooLong, match=r"more than the model's 8192 positions: ask for 8190 at most"):
        smollm2.generate("The cat", 9000)
    with pytest.raises(ReadingError, match=r"max_length is not given here: give new_tokens"):
        smollm2.generate("The cat", 2, max_length=9)
    with pytest.raises(
        ReadingError, match=r"with prompt_lookup_num_tokens, several tokens are proposed at once, .* leave"
    ):
        smollm2.generate("The cat", 2, prompt_lookup_num_tokens=2)
    with pytest.raises(ReadingError, match=r"one text comes back"):
        smollm2.generate("The cat", 2, num_beams=2, num_return_sequences=2)
    with pytest.raises(ReadingError, match=r"LlamaForCausalLM cannot generate so: .*no_such_option"):
        smollm2.generate("The cat", 2, no_such_option=1)
    generation = smollm2.generate("The cat sat on the", 2, layers=12)
    with pytest.raises(ReadingError, match=r"layer 3 was not kept \(kept: 12\): generate again with layers=3"):
        generation.row(0, layer=3)
    with pytest.raises(OutOfRange, match=r"“sat” stands in the prompt.*the new tokens are @5 to @6"):
        generation.row("sat", layer=12)
    with pytest.raises(OutOfRange, match=r"new token 2 is out of range: there are 2, 0 to 1"):
        generation.row(2)
    with pytest.raises(OutOfRange, match=r"layer 40 is out of range"):
        generation.row(0, layer=40)
    with pytest.raises(OutOfRange, match=r"head 9 is out of range: layer 12 has 9 heads"):
        generation.row(0, layer=12, head=9)


TWO_STACKS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "three beams": {"num_beams": 3},
    "sampling": {"do_sample": True, "temperature": 2.0, "seed": 3},
}


@pytest.mark.parametrize("way", TWO_STACKS)
def test_an_encoder_decoder_writes_and_looks_at_the_source_as_in_one_pass(way: str, smollm2_tokenizer: Any) -> None:
    """Rows of the steps, stacked and following their beam, are those of teacher forcing, of both of its stacks."""
    module = tiny_t5()
    for parameter in module.parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.3)
    module.generation_config.eos_token_id = None
    model = wrap(module, smollm2_tokenizer)
    source = from_ids(smollm2_tokenizer, tiny_ids(PROMPT)[0].tolist())
    generation = generate(model, source, 4, **TWO_STACKS[way])
    options = {key: value for key, value in TWO_STACKS[way].items() if key != "seed"}
    torch.manual_seed(3)
    expected = module.generate(torch.tensor([source.ids]), max_new_tokens=4, **{"do_sample": False, **options})
    assert generation.tokens.ids == expected[0].tolist()
    assert generation.prompt == 1
    forced = read_two_stacks(model, source, generation.tokens)
    assert generation.cross is not None
    for found, reading in ((generation, forced.decoder), (generation.cross, forced.cross)):
        assert list(found.rows_of) == list(reading.calls) == [0, 1]
        for layer, rows in found.rows_of.items():
            whole = reading.call(layer).weights(slice(0, 4), slice(None))[0].transpose(0, 1).numpy()
            np.testing.assert_allclose(rows.weights, whole, atol=ROUNDING, rtol=0)
    row = generation.cross.row(2, layer=1, head=0)
    assert (len(row.weights), row.query, row.chooses, row.key_tokens) == (PROMPT, (2,), 3, source)
    assert row.sum == pytest.approx(1, abs=ROUNDING)
    assert "row 2 chooses 3" in str(generation.cross)


def test_families_with_code_of_their_own_are_refused_by_name(smollm2_tokenizer: Any) -> None:
    prompt = from_ids(smollm2_tokenizer, [5, 6, 7])
    with pytest.raises(UnsupportedModel, match=r"BloomForCausalLM has attention code of its own.*read the whole text"):
        generate(wrap(tiny_family("bloom", implementation="eager"), smollm2_tokenizer), prompt, 2)


def test_progress_counts_the_new_tokens(smollm2_tokenizer: Any) -> None:
    told: list[tuple[int, int, str]] = []
    written("llama", smollm2_tokenizer, {"progress": lambda *state: told.append(state)}, new_tokens=3)
    assert told == [(done, 3, "writing tokens") for done in range(4)]


@pytest.mark.parametrize("name", NOT_ONE_ROW)
def test_ways_in_which_no_one_row_chooses_are_refused_asked_for_or_set_in_the_model(
    name: str, smollm2: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    value: Any = 2.0 if name == "guidance_scale" else 2
    with pytest.raises(ReadingError, match=rf"with {name}, {NOT_ONE_ROW[name]}: leave it out"):
        smollm2.generate("The cat", 2, **{name: value})
    # What is left behind, even as None, transformers refuses in every later call.
    monkeypatch.setattr(smollm2.module.generation_config, name, value, raising=False)
    with pytest.raises(ReadingError, match=rf"generation_config sets {name}, and {NOT_ONE_ROW[name]}: set it to"):
        smollm2.generate("The cat", 2)


def test_a_cache_or_settings_of_your_own_are_given_in_another_way(smollm2: Model) -> None:
    with pytest.raises(ReadingError, match="past_key_values is not given here: the model begins with an empty cache"):
        smollm2.generate("The cat", 2, past_key_values=object())
    with pytest.raises(ReadingError, match="generation_config is not given here: give its settings by name"):
        smollm2.generate("The cat", 2, generation_config=object())


def test_settings_of_the_model_that_cannot_be_used_are_an_error_of_ours(smollm2_tokenizer: Any) -> None:
    """As from a generation_config.json that holds "eos_token_id": Infinity."""
    model = model_of("llama", smollm2_tokenizer)
    kept = model.module.generation_config.eos_token_id
    model.module.generation_config.eos_token_id = float("inf")
    try:
        with pytest.raises(ReadingError, match=r"LlamaForCausalLM cannot generate so: "):
            model.generate("one two", 2)
    finally:
        model.module.generation_config.eos_token_id = kept


def test_ids_that_the_model_has_no_vector_for_are_refused(smollm2_tokenizer: Any) -> None:
    """As of a tokenizer that is another model's."""
    model = model_of("llama", smollm2_tokenizer)
    size = model.module.get_input_embeddings().num_embeddings
    unknown = Tokens("one", (Token(0, size, "one", 0, 3),))
    for ask in (lambda: model.read_tokens(unknown), lambda: generate(model, unknown, 2)):
        with pytest.raises(TextError, match=rf"has the number {size:,} in the vocabulary, where the model has vectors"):
            ask()
