"""From a name to a loaded model: which class, which type, which device, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, BertConfig, BertForMaskedLM, LlamaForCausalLM, PreTrainedModel

from heedmap.errors import (
    MissingWeights,
    ModelError,
    ModelNotFound,
    TokenizerMissing,
    UnsafeWeights,
)
from heedmap.models import hub
from heedmap.models.load import LoadedModel, load_model
from tests.models.fake_hub import COMMIT, FakeHub
from tests.models.making import edit_json, save_tiny_model, sha256, tiny_tokenizer, write_gguf


def logits(loaded: LoadedModel) -> torch.Tensor:
    with torch.no_grad():
        return loaded.module(torch.arange(2, 12)[None]).logits  # type: ignore[no-any-return]


def test_a_folder_is_loaded_as_transformers_would(folder: Path) -> None:
    loaded = load_model(folder)
    assert isinstance(loaded.module, LlamaForCausalLM)
    assert not loaded.module.training
    assert loaded.module.config._attn_implementation == "sdpa"
    assert loaded.source.kind == "folder"
    assert (loaded.source.name, loaded.source.location) == (str(folder), str(folder))
    assert (loaded.source.revision, loaded.source.sha256) == (None, None)
    assert loaded.tokenizer is not None
    assert loaded.tokenizer.is_fast
    with torch.no_grad():
        expected = LlamaForCausalLM.from_pretrained(folder)(torch.arange(2, 12)[None]).logits
    torch.testing.assert_close(logits(loaded), expected)


def test_paths_in_every_spelling(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("HOME", str(folder.parent))
    for name in ("my model", "./my model", "~/my model", f"{folder}/", Path("my model"), Path("~/my model")):
        assert Path(load_model(name).source.location).samefile(folder)


def test_the_catalogue_comes_before_a_folder_and_a_folder_before_the_hub(
    fake_hub: FakeHub, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("distilbert", "org/tiny"):
        shutil.copytree(tiny_folder, tmp_path / name)
    fake_hub.add("org/tiny", tiny_folder)
    fake_hub.add("distilbert-base-uncased", tiny_folder)
    assert load_model("org/tiny", progress=False).source.kind == "folder"
    assert fake_hub.requests == []
    catalogue = load_model("distilbert", progress=False).source
    assert (catalogue.kind, catalogue.revision) == ("catalogue", COMMIT)
    assert load_model(Path("distilbert")).source.kind == "folder"
    assert load_model("./distilbert").source.kind == "folder"


def test_a_hub_id(fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    source = load_model("org/tiny", revision="main", progress=False).source
    assert (source.name, source.kind, source.location, source.revision) == ("org/tiny", "hub", "org/tiny", COMMIT)
    assert source.sha256 == sha256((tiny_folder / "model.safetensors").read_bytes())


def test_a_gguf_file(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "tiny model.gguf"
    write_gguf(file)
    loaded = load_model(file, progress=False)
    assert isinstance(loaded.module, LlamaForCausalLM)
    assert (loaded.source.kind, loaded.source.location) == ("gguf", str(file))
    (copy,) = (cache / "gguf").glob("*/model.safetensors")
    assert loaded.source.sha256 == sha256(copy.read_bytes())


@pytest.mark.parametrize(
    "name", ["./nowhere", "~/nowhere", "/nowhere/at/all", "model.gguf", "folder/", Path("smollm2")]
)
def test_a_path_that_does_not_exist_is_not_asked_of_the_hub(
    name: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hub, "fetch_snapshot", lambda *arguments: pytest.fail("asked the Hub"))
    with pytest.raises(ModelNotFound, match=r"there is no folder or file .* \(looked in /"):
        load_model(name)


def test_a_revision_is_for_the_hub(folder: Path) -> None:
    for name in ("smollm2", folder):
        with pytest.raises(ModelError, match=r"revision 'main' is for Hub ids; .* is found without the Hub"):
            load_model(name, revision="main")


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("auto", torch.float32), ("float16", torch.float16), ("bfloat16", torch.bfloat16), ("float64", torch.float64)],
)
def test_dtypes(folder: Path, dtype: str, expected: torch.dtype) -> None:
    module = load_model(folder, dtype=dtype).module
    assert {parameter.dtype for parameter in module.parameters()} == {expected}


def test_auto_is_the_type_in_which_the_weights_are_stored(folder: Path) -> None:
    LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).save_pretrained(folder)
    assert next(load_model(folder).module.parameters()).dtype == torch.bfloat16


def test_an_unknown_dtype_lists_those_there_are(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"no dtype 'int8': give one of auto, float32, float16, bfloat16, float64"):
        load_model(folder, dtype="int8")


@pytest.mark.parametrize("device", ["cuda:99", "gpu", "tpu", "cpu:zero", "xpu", "meta", ""])
def test_an_unknown_device_lists_those_there_are(folder: Path, device: str) -> None:
    with pytest.raises(ModelError, match=f"there is no device '{device}' here: give auto, spread or one of cpu"):
        load_model(folder, device=device)


def test_devices(folder: Path) -> None:
    for name in ("cpu", "cpu:0"):
        assert next(load_model(folder, device=name).module.parameters()).device.type == "cpu"
    best = "cuda" if torch.cuda.is_available() else "cpu"
    assert next(load_model(folder).module.parameters()).device.type == best


@pytest.mark.parametrize(("device", "device_map"), [("spread", "auto"), ("cpu", None)])
def test_a_model_is_spread_by_accelerate_where_that_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, device: str, device_map: str | None
) -> None:
    given: dict[str, Any] = {}
    load = LlamaForCausalLM.from_pretrained

    def recorded(*args: Any, **options: Any) -> Any:
        given.update(options)
        return load(*args, **options)

    monkeypatch.setattr(LlamaForCausalLM, "from_pretrained", recorded)
    found = load_model(folder, device=device)
    assert given.get("device_map") == device_map
    torch.testing.assert_close(logits(found).cpu(), logits(load_model(folder, device="cpu")))


def test_the_class_that_the_checkpoint_names_is_used(tmp_path: Path) -> None:
    configuration = BertConfig(
        vocab_size=300, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    BertForMaskedLM(configuration).save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    assert type(load_model(tmp_path).module) is BertForMaskedLM


@pytest.mark.parametrize("architectures", [None, ["NoSuchModel"], ["LlamaConfig"], ["torch"]])
def test_otherwise_a_language_model_of_its_kind(folder: Path, architectures: list[str] | None) -> None:
    edit_json(folder / "config.json", architectures=architectures)
    assert type(load_model(folder).module) is LlamaForCausalLM


def test_or_else_the_bare_model(tmp_path: Path) -> None:
    from transformers import CLIPTextConfig

    configuration = CLIPTextConfig(
        vocab_size=300, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    auto: Any = AutoModel
    bare = auto.from_config(configuration)
    bare.save_pretrained(tmp_path)
    edit_json(tmp_path / "config.json", architectures=None)
    tiny_tokenizer().save_pretrained(tmp_path)
    assert type(load_model(tmp_path).module) is type(bare)


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_missing_weights_are_counted_and_named(folder: Path) -> None:
    def drop(weights: dict[str, torch.Tensor]) -> None:
        for name in [name for name in weights if ".mlp." in name]:
            del weights[name]

    change_weights(folder, drop)
    with pytest.raises(MissingWeights) as caught:
        load_model(folder)
    assert str(caught.value) == (
        f"the checkpoint in {folder} lacks 6 tensors (model.layers.0.mlp.down_proj.weight, "
        f"model.layers.0.mlp.gate_proj.weight, model.layers.0.mlp.up_proj.weight ...), which would be newly "
        f"initialised at random: get the whole checkpoint, or pass allow_random=True (--allow-random) if random "
        f"weights are what you want"
    )
    assert isinstance(load_model(folder, allow_random=True).module, PreTrainedModel)


def test_weights_of_the_wrong_shape_count_too(folder: Path) -> None:
    change_weights(folder, lambda weights: weights.update({"model.norm.weight": torch.ones(3)}))
    with pytest.raises(MissingWeights, match=r"has 1 of the wrong shape \(model.norm.weight\), which would be newly"):
        load_model(folder)
    assert load_model(folder, allow_random=True).module is not None


def test_tied_weights_are_not_missing(folder: Path) -> None:
    assert "lm_head.weight" not in load_file(folder / "model.safetensors")
    module: Any = load_model(folder).module
    assert module.lm_head.weight is module.model.embed_tokens.weight


def test_untied_they_are(folder: Path) -> None:
    edit_json(folder / "config.json", tie_word_embeddings=False)
    with pytest.raises(MissingWeights, match=r"lacks 1 tensors \(lm_head.weight\)"):
        load_model(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", "model.ckpt", "weights.pt"])
def test_pickled_weights_are_refused_with_the_next_step(folder: Path, name: str) -> None:
    (folder / "model.safetensors").rename(folder / name)
    for given in (folder, folder / name):
        with pytest.raises(UnsafeWeights, match=r"has only pickled weights, and unpickling can run any code: convert"):
            load_model(given)


def test_pickles_beside_safetensors_are_not_touched(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"not even a pickle")
    (folder / "training_args.bin").write_bytes(b"nor this")
    assert load_model(folder).source.kind == "folder"


def test_code_that_comes_along_is_refused(folder: Path) -> None:
    (folder / "modeling_odd.py").write_text("raise SystemExit('ran code of the model')")
    edit_json(folder / "config.json", model_type="odd", auto_map={"AutoModelForCausalLM": "modeling_odd.Odd"})
    with pytest.raises(
        UnsafeWeights, match=r"needs code of its own \(AutoModelForCausalLM\), and no code of a model is"
    ):
        load_model(folder)


def test_code_beside_a_kind_that_transformers_knows_is_not_run(folder: Path) -> None:
    (folder / "modeling_odd.py").write_text("raise SystemExit('ran code of the model')")
    (folder / "tokenization_odd.py").write_text("raise SystemExit('ran code of the tokenizer')")
    edit_json(folder / "config.json", auto_map={"AutoModelForCausalLM": "modeling_odd.Odd"})
    edit_json(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": [None, "tokenization_odd.Odd"]})
    assert isinstance(load_model(folder).module, LlamaForCausalLM)


def test_a_tokenizer_that_is_only_code_is_refused_without_asking(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda *arguments: pytest.fail("asked whether to run code"))
    edit_json(
        folder / "tokenizer_config.json",
        auto_map={"AutoTokenizer": [None, "tokenization_odd.Odd"]},
        tokenizer_class="OddTokenizer",
    )
    (folder / "tokenization_odd.py").write_text("raise SystemExit('ran code of the tokenizer')")
    edit_json(folder / "config.json", auto_map={"AutoTokenizer": "tokenization_odd.Odd"})
    with pytest.raises(TokenizerMissing, match=r"cannot be loaded \(.*custom code"):
        load_model(folder)


def test_nothing_of_transformers_is_said(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    edit_json(folder / "config.json", tie_word_embeddings=False)  # so that it would warn of a new lm_head
    load_model(folder, allow_random=True)
    assert capfd.readouterr() == ("", "")


def test_an_unknown_name_is_told_before_torch_is_loaded(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from heedmap.errors import ModelError\n"
        "from heedmap.models.load import load_model\n"
        "try:\n    load_model('./nowhere')\n"
        "except ModelError:\n    print(sorted({'torch', 'transformers', 'rich'} & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_weights_in_several_files(folder: Path) -> None:
    LlamaForCausalLM.from_pretrained(folder).save_pretrained(folder, max_shard_size="100KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    assert len(json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]) > 5
    assert logits(load_model(folder)).shape[-1] > 0


def test_another_kind_of_attention_is_left_as_the_model_has_it(tmp_path: Path) -> None:
    save_tiny_model(tmp_path, attn_implementation="eager")
    module: Any = load_model(tmp_path).module
    assert module.config._attn_implementation == "sdpa"


def test_the_real_default_model() -> None:
    """Fetched if it is not here, as for any user."""
    loaded = load_model("smollm2")
    assert loaded.source.kind == "catalogue"
    assert loaded.source.sha256 == "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd"
    assert loaded.tokenizer is not None
    ids = loaded.tokenizer("The capital of France is", return_tensors="pt").input_ids
    assert ids.shape == (1, 5)  # no begin-of-text
    with torch.no_grad():
        odds = loaded.module(ids).logits[0, -1].softmax(-1)
    # Published to three digits for these very weights.
    assert odds[loaded.tokenizer(" Paris").input_ids[0]].item() == pytest.approx(0.773, abs=5e-4)


def test_the_real_encoder_separates_meanings() -> None:
    loaded = load_model("minilm")
    assert type(loaded.module).__name__ == "BertModel"

    def embed(text: str) -> torch.Tensor:
        assert loaded.tokenizer is not None
        with torch.no_grad():
            vectors = loaded.module(**loaded.tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        return torch.nn.functional.normalize(vectors.mean(0), dim=0)

    cat, kitten, tax = map(embed, ("A cat sleeps.", "A kitten is asleep.", "Tax law was changed."))
    assert cat @ kitten > 0.6
    assert cat @ tax < 0.3
