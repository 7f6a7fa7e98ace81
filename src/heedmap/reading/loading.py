"""From a name, or a module of your own, to a `Model`."""

from __future__ import annotations

import os
from typing import Any

import torch

from heedmap.errors import UnsupportedModel
from heedmap.models.load import LoadedModel, ModelSource, load_model
from heedmap.models.processor import is_processor, tokenizer_of
from heedmap.reading.model import Model
from heedmap.reading.tap import outermost_models


def load(
    name_or_path: str | os.PathLike[str],
    *,
    revision: str | None = None,
    dtype: str | torch.dtype = "auto",
    device: str | torch.device = "auto",
    allow_random: bool = False,
) -> Model:
    """Load a model by catalogue name, Hub id, folder or `.gguf` file, and check that it is read rightly.

    A catalogue model that is not here yet is fetched first, unless offline or its terms must be accepted.

    Args:
        name_or_path: "smollm2", "org/name", "./my model", "weights.gguf" ...
        revision: branch, tag or commit on the Hub.
        dtype: "auto" (as stored), "float32", "float16", "bfloat16", "float64", or a dtype of torch.
        device: "auto" (a GPU when there is one), "cpu", "cuda:1" ..., or "spread" over all GPUs and the main memory.
        allow_random: accept weights that the checkpoint lacks and that are therefore random.

    Raises:
        ModelError: it cannot be found, fetched or loaded, or its attention cannot be read; the kinds are in
            `heedmap.errors`.

    Example:
        >>> import heedmap
        >>> heedmap.load("smollm2")
        Model(smollm2: LlamaForCausalLM, 30 layers x 9 heads, float32 on cpu)
    """
    loaded = load_model(name_or_path, revision=revision, dtype=dtype, device=device, allow_random=allow_random)
    return Model(loaded)


def wrap(module: torch.nn.Module, tokenizer: Any, *, name: str | None = None, processor: Any = None) -> Model:
    """Read a model that your own code has loaded.

    Args:
        module: a transformers model; of one in `torch.nn.DataParallel`, or that `torch.compile` made, the model in it
            is read, on one device and uncompiled.
        tokenizer: its fast tokenizer; or, of a model of pictures or sound, its processor, which may hold one.
        name: what to call it in the output; its class by default.
        processor: what prepares pictures or sounds, where the tokenizer was given beside it.

    Raises:
        UnsupportedModel: it is no module (a pipeline, a name), or its attention cannot be read rightly.

    Example:
        >>> import heedmap
        >>> smollm2 = heedmap.load("smollm2")
        >>> wrap(smollm2.module, smollm2.tokenizer, name="mine")
        Model(mine: LlamaForCausalLM, 30 layers x 9 heads, float32 on cpu)
    """
    _refuse_another_object(module)
    if isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
        module = module.module
    module = getattr(module, "_orig_mod", module)  # torch.compile wraps the model, and shares its tables
    if processor is None and is_processor(tokenizer):
        tokenizer, processor = tokenizer_of(tokenizer), tokenizer
    called = name or type(module).__name__
    return Model(LoadedModel(module, tokenizer, ModelSource(called, "wrapped", called, None, None), processor))


def _refuse_another_object(given: Any) -> None:
    """Refuse what is no model, and say what to pass instead.

    Raises:
        UnsupportedModel: naming what was given.
    """
    kind = type(given).__name__
    if isinstance(given, str | os.PathLike):
        raise UnsupportedModel(
            f"{str(given)!r} is a name, and wrap takes a loaded module: heedmap.load({str(given)!r})"
        )
    if hasattr(given, "encode") and hasattr(given, "similarity"):
        raise UnsupportedModel(
            f"a {kind} holds the transformers model in its first part: heedmap.wrap(it[0].auto_model, it.tokenizer)"
        )
    if isinstance(given, torch.nn.Module):
        inside = [] if hasattr(given, "config") else outermost_models(given)
        if inside and inside != ["module"]:  # which is where DataParallel has it
            raise UnsupportedModel(
                f"a {kind} is not a transformers model, but holds {', '.join(map(repr, inside))}: "
                f"heedmap.wrap(it.get_submodule({inside[0]!r}), tokenizer)"
            )
        return
    if isinstance(getattr(given, "model", None), torch.nn.Module):
        raise UnsupportedModel(f"a {kind} is not a module, but holds one: heedmap.wrap(it.model, it.tokenizer)")
    raise UnsupportedModel(
        f"wrap takes a loaded transformers model, a torch.nn.Module, not {'None' if given is None else kind}"
    )
