"""A model's folder before it is loaded: what it lacks, and what would be unsafe in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedmap.errors import FileError, ModelError, TokenizerMissing, UnsafeWeights, UnsupportedModel
from heedmap.json_form import shown
from heedmap.json_text import parse_json
from heedmap.models.record import WEIGHTS
from heedmap.models.sizes import check_counts

INDEX = "model.safetensors.index.json"
"""The table of contents of weights in several files."""

TOKENIZER_FILES = (
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "spiece.model",
    "tekken.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
"""The files that a tokenizer may be made of."""

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")
"""The files that say how pictures or sounds are prepared; a model of text has none of them."""

_VOCABULARIES = {"sentencepiece.bpe.model", "spiece.model", "tekken.json", "tokenizer.json", "tokenizer.model",
                 "vocab.json", "vocab.txt"}  # fmt: skip
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack")


def check_folder(folder: Path) -> dict[str, Any]:
    """Refuse a folder that cannot be loaded, or not safely, before anything of it is; return its config.json.

    Raises:
        ModelError: it holds no model.
        FileError: its config.json is unreadable.
        UnsafeWeights: only pickled weights, or it needs its own code.
        UnsupportedModel: transformers here does not know its kind.
        TokenizerMissing: there is no tokenizer in it.
    """
    config = read_config(folder)
    _refuse_foreign_code(folder, config)
    check_counts(config, folder / "config.json")
    if not (folder / WEIGHTS).is_file() and not (folder / INDEX).is_file():
        if any(is_pickle(file.name) for file in folder.iterdir()):
            raise UnsafeWeights(unsafe_message(str(folder)))
        raise ModelError(f"{folder} has a config.json but no weights: {WEIGHTS} (or {INDEX} and its parts) is missing")
    if not has_inputs(folder):
        raise TokenizerMissing(
            f"{folder} holds no tokenizer (tokenizer.json, tokenizer.model, vocab.txt ...): put the model's own "
            f"there, or load both yourself and use heedmap.wrap(module, tokenizer)"
        )
    return config


def has_inputs(folder: Path) -> bool:
    """Whether a folder holds what makes a model's inputs: a tokenizer's vocabulary, or a processor of pictures."""
    return any((folder / name).is_file() for name in (*_VOCABULARIES, *PROCESSOR_FILES))


def is_pickle(name: str) -> bool:
    """Whether a file of this name holds weights in a format that may run code, or that is not read here.

    Example:
        >>> is_pickle("pytorch_model.bin"), is_pickle("training_args.bin"), is_pickle("model.safetensors")
        (True, False, False)
    """
    return name.lower().endswith(_PICKLES) and name not in {"training_args.bin", "optimizer.pt", "scheduler.pt"}


def unsafe_message(what: str) -> str:
    """The line for weights that are only there in a pickled form."""
    return (
        f"{what} has only pickled weights, and unpickling can run any code: convert them where you trust "
        f"them, for example `AutoModel.from_pretrained(FOLDER).save_pretrained(NEW_FOLDER)`, which writes {WEIGHTS}"
    )


def read_config(folder: Path) -> dict[str, Any]:
    """The folder's config.json.

    Raises:
        ModelError: there is none.
        FileError: it cannot be read.
    """
    file = folder / "config.json"
    if not file.is_file():
        names = [name.name for name in folder.iterdir()]
        found = next((name for name in names if name.endswith(".gguf")), None)
        if found:
            raise ModelError(f"{folder} has no config.json, but it holds {found}: give the path of that file")
        if "adapter_config.json" in names:
            raise ModelError(f"{folder} holds a PEFT adapter, not a model: merge it into its base model first")
        raise ModelError(f"{folder} holds no model: there is no config.json in it")
    try:
        config = parse_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {file}: {error}") from None
    if not isinstance(config, dict):
        raise FileError(f"{file} is not a model's configuration: it holds no table")
    return config


def _refuse_foreign_code(folder: Path, config: dict[str, Any]) -> None:
    """Refuse a kind of model that transformers does not know itself, by itself or by code that comes along."""
    from transformers import CONFIG_MAPPING, __version__

    kind = config.get("model_type")
    if isinstance(kind, str) and kind in CONFIG_MAPPING:
        return  # transformers' own code is used, even where the folder brings some
    if config.get("auto_map"):
        raise UnsafeWeights(
            f"{folder} needs code of its own ({', '.join(sorted(config['auto_map']))}), and no code of a model is run "
            f"here: load it yourself if you trust it, and use heedmap.wrap(module, tokenizer)"
        )
    if kind is None:
        raise UnsupportedModel(
            f"{folder / 'config.json'} names no model_type, so that its kind is unknown: give a folder "
            "that transformers saved"
        )
    raise UnsupportedModel(
        f"transformers {__version__} does not know models of the type {shown(kind)} ({folder}): a newer one may "
        f"(`pip install --upgrade transformers`)"
    )
