"""`load_model`: from a name to a loaded torch module and its tokenizer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap.errors import (
    FileError,
    MissingExtra,
    MissingWeights,
    ModelError,
    ModelNotFound,
    TokenizerMissing,
    UnsafeWeights,
)
from heedmap.models import hub
from heedmap.models.catalogue import find_entry
from heedmap.models.fetch import fetch
from heedmap.models.folder import check_folder, is_pickle, unsafe_message
from heedmap.models.gguf import gguf_copy
from heedmap.models.processor import load_processor, tokenizer_of
from heedmap.models.progress import Progress, first_line
from heedmap.models.quiet import quiet_transformers
from heedmap.models.sizes import check_sizes

if TYPE_CHECKING:
    import torch

DTYPES = ("auto", "float32", "float16", "bfloat16", "float64")
"""What `dtype` may be; "auto" is the type in which the weights are stored."""

SPREAD = "spread"
"""The `device` for models larger than one: over all GPUs and the main memory, by accelerate's device map."""


@dataclass(frozen=True)
class ModelSource:
    """Where a model came from.

    Attributes:
        name: what was asked for.
        kind: "catalogue", "hub", "folder", "gguf" or "wrapped".
        location: the folder, file or Hub id that it was loaded from.
        revision: the Hub's commit.
        sha256: hash of the weights file, where it is known.
    """

    name: str
    kind: str
    location: str
    revision: str | None
    sha256: str | None


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to run.

    Attributes:
        module: the transformers model, in eval mode.
        tokenizer: its tokenizer.
        source: where it came from.
        processor: what prepares its pictures or sounds; None for a model of text.
        lacking: why there is no processor, where the model wants one.
    """

    module: torch.nn.Module
    tokenizer: Any | None
    source: ModelSource
    processor: Any | None = None
    lacking: str = ""


@dataclass(frozen=True)
class _Place:
    """A folder to load from, and what is known of it."""

    folder: Path
    source: ModelSource


def load_model(
    name_or_path: str | os.PathLike[str],
    *,
    revision: str | None = None,
    dtype: str | torch.dtype = "auto",
    device: str | torch.device = "auto",
    allow_random: bool = False,
    progress: bool = True,
) -> LoadedModel:
    """Load a model and its tokenizer, fetching it first if it is not on this machine.

    Args:
        name_or_path: a name of the catalogue, else an existing folder or `.gguf` file, else a Hub id. A path object
            is only looked for as a path.
        revision: branch, tag or commit, for Hub ids.
        dtype: "auto" (as stored), "float32", "float16", "bfloat16", "float64", or a dtype of torch.
        device: "auto" (cuda if there is one, else cpu), a torch device such as "cpu", "cuda:1", "mps", or "spread" over
            all GPUs and the main memory.
        allow_random: load also where the checkpoint lacks tensors, which are then random.
        progress: say on stderr what is fetched or converted, with a bar on a terminal.

    Raises:
        ModelNotFound: no such name, folder, file or Hub id.
        ModelGated, ModelNotHere, TermsNotAccepted, FetchFailed: it cannot be fetched.
        UnsafeWeights: only pickled weights, or code from the Hub.
        MissingWeights: the checkpoint lacks tensors.
        TokenizerMissing: there is no tokenizer, or it cannot be loaded.
        UnsupportedModel: transformers does not know its kind.
        FileError: a damaged file, or no room on the disk.
        ModelError: an unknown dtype or device, or anything else that keeps it from being loaded.

    Example:
        >>> loaded = load_model("smollm2")              # doctest: +SKIP
        >>> type(loaded.module).__name__                # doctest: +SKIP
        'LlamaForCausalLM'
    """
    dtype, device = str(dtype).removeprefix("torch."), str(device)
    if dtype not in DTYPES:
        raise ModelError(f"there is no dtype {dtype!r}: give one of {', '.join(DTYPES)}")
    place = _locate(name_or_path, revision, Progress(progress))
    chosen_device = None if device == SPREAD else _find_device(device)
    config = check_folder(place.folder)
    if not allow_random:
        check_sizes(place.folder, config)
    processor, lacking = load_processor(place.folder)
    tokenizer = tokenizer_of(processor) if processor is not None else _load_tokenizer(place.folder)
    module = _load_module(place.folder, config, dtype, allow_random, spread=chosen_device is None)
    module = module if chosen_device is None else module.to(chosen_device)
    return LoadedModel(module, tokenizer, place.source, processor, lacking)


def _locate(name_or_path: str | os.PathLike[str], revision: str | None, progress: Progress) -> _Place:
    """Find the model, fetching or converting it if need be: catalogue, then path, then Hub."""
    name = os.fspath(name_or_path)
    entry = find_entry(name) if isinstance(name_or_path, str) else None
    path = Path(name).expanduser()
    if revision is not None and (entry is not None or path.exists()):
        raise ModelError(f"revision {revision!r} is for Hub ids; {name!r} is found without the Hub, so leave it out")
    if entry is not None:
        copy = fetch(entry, progress)
        return _Place(copy.folder, ModelSource(name, "catalogue", str(copy.folder), copy.revision, copy.sha256))
    if path.exists():
        return _locate_path(name, path, progress)
    if not isinstance(name_or_path, str) or _looks_like_path(name):
        raise ModelNotFound(f"there is no folder or file {name!r} (looked in {path.absolute().parent})")
    snapshot, _ = hub.fetch_snapshot(name, revision, progress)
    return _Place(snapshot, ModelSource(name, "hub", name, snapshot.name, hub.weights_sha256(snapshot)))


def _locate_path(name: str, path: Path, progress: Progress) -> _Place:
    """A folder, or a GGUF file; anything else is refused with the next step."""
    if path.is_dir():
        return _Place(path, ModelSource(name, "folder", str(path.absolute()), None, None))
    if path.suffix.lower() == ".gguf":
        folder, record = gguf_copy(path, progress)
        return _Place(folder, ModelSource(name, "gguf", str(path.absolute()), None, record.sha256))
    if is_pickle(path.name):
        raise UnsafeWeights(unsafe_message(str(path)))
    if path.suffix == ".safetensors":
        raise ModelError(f"{name!r} is one file of a model: give its folder, {str(path.parent)!r}")
    raise ModelError(f"{name!r} is neither a folder nor a .gguf file: give one of these, or a name")


def _looks_like_path(name: str) -> bool:
    """Whether a name that does not exist was surely meant as a path."""
    return name.startswith((".", "~", "/", "\\")) or name.endswith((".gguf", ".safetensors", "/")) or "\\" in name


def _find_device(device: str) -> torch.device:
    """The torch device of this name, if this machine has it.

    Raises:
        ModelError: it has not; the message lists those it has.
    """
    import torch

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, NotImplementedError):  # what back ends raise that are not there
        chosen = None
    if chosen is None or chosen.type == "meta":
        here = ["cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count()))]
        here += ["mps"] if torch.backends.mps.is_available() else []
        raise ModelError(f"there is no device {device!r} here: give auto, {SPREAD} or one of {', '.join(here)}")
    return chosen


def _load_tokenizer(folder: Path) -> Any:
    """The folder's tokenizer."""
    from transformers import AutoTokenizer

    try:
        with quiet_transformers():
            return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except ImportError as error:
        raise MissingExtra(f"the tokenizer in {folder} needs a package that is not here: {first_line(error)}") from None
    except Exception as error:  # damaged files fail in as many ways as there are tokenizers
        raise TokenizerMissing(
            f"the tokenizer in {folder} cannot be loaded ({first_line(error)}): repair it, or load both yourself and "
            f"use heedmap.wrap(module, tokenizer)"
        ) from None


def _load_module(
    folder: Path, config: dict[str, Any], dtype: str, allow_random: bool, *, spread: bool
) -> torch.nn.Module:
    """The folder's model in eval mode, with the default attention of transformers.

    Where it is spread, accelerate puts as much as fits on the GPUs, and the rest into the main memory.

    Raises:
        MissingWeights: tensors are missing or have other shapes, unless random ones are allowed.
    """
    import torch
    from safetensors import SafetensorError

    wanted = dtype if dtype == "auto" else getattr(torch, dtype)
    try:
        with quiet_transformers():
            # Mismatched shapes are let through here, to be counted below.
            module, report = _model_class(config).from_pretrained(
                folder,
                dtype=wanted,
                local_files_only=True,
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                **({"device_map": "auto"} if spread else {}),
            )
    except SafetensorError as error:
        raise FileError(
            f"the weights in {folder} are damaged ({first_line(error)}): fetch or copy them again"
        ) from None
    except ImportError as error:
        raise MissingExtra(f"the model in {folder} needs a package that is not here: {first_line(error)}") from None
    except Exception as error:  # a config.json may be wrong in any way
        raise ModelError(f"the model in {folder} cannot be loaded: {first_line(error)}") from None
    if not allow_random:
        _refuse_missing(folder, report)
    return module.eval()  # type: ignore[no-any-return]


def _model_class(config: dict[str, Any]) -> Any:
    """The class that the checkpoint was saved from, so that no weights are lacking; else what fits its kind best."""
    import transformers

    for name in config.get("architectures") or []:
        found = getattr(transformers, name, None)
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found
    causal = transformers.CONFIG_MAPPING[config["model_type"]] in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    return transformers.AutoModelForCausalLM if causal else transformers.AutoModel


def _refuse_missing(folder: Path, report: dict[str, Any]) -> None:
    """Raise MissingWeights if tensors had to be made up; tied ones are not among those that transformers reports."""
    missing = sorted(report["missing_keys"])
    # The entries are (name, shape in the file, shape in the model).
    mismatched = sorted(entry[0] if isinstance(entry, tuple) else entry for entry in report["mismatched_keys"])
    lacking = missing + mismatched
    if not lacking:
        return
    kinds = [f"lacks {len(missing)} tensors"] if missing else []
    kinds += [f"has {len(mismatched)} of the wrong shape"] if mismatched else []
    named = ", ".join(lacking[:3]) + (" ..." if len(lacking) > 3 else "")
    raise MissingWeights(
        f"the checkpoint in {folder} {' and '.join(kinds)} ({named}), which would be newly initialised at random: get "
        f"the whole checkpoint, or pass allow_random=True (--allow-random) if random weights are what you want"
    )
