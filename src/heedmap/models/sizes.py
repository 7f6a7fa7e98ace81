"""Sizes in a configuration that no model has: refused before a module is built for them, in minutes and gigabytes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heedmap.errors import FileError, MissingWeights, ModelError
from heedmap.json_form import shown
from heedmap.models.progress import first_line

MOST_LAYERS = 4096
"""More layers, or experts in one, than any model has; each is an object that must be built."""

_COUNTS = ("n_layer", "depth", "n_blocks")
_WIDTHS = ("hidden_size", "intermediate_size", "vocab_size", "n_embd", "d_model", "n_inner", "ffn_dim", "head_dim")
_BEYOND = 4
"""So many times the bytes of the weights on the disk a model may be: half precision doubles when it is widened."""


def check_counts(config: dict[str, Any], where: Path) -> None:
    """Refuse a configuration with more layers or experts than any model has.

    Raises:
        ModelError: naming the entry.
    """
    for name, value in _numbers(config):
        if _is_count(name) and value > MOST_LAYERS:
            raise ModelError(f"{where} says {name} = {shown(value)}: no model has more than {MOST_LAYERS:,}")


def check_sizes(folder: Path, config: dict[str, Any]) -> None:
    """Refuse a configuration of a model that is much larger than its weights.

    What is missing from the weights would be made up at random before it is counted: memory for a model that is not
    there. Where no size in the configuration is larger than those of the tensors, nothing is built for this.

    Args:
        folder: of the model.
        config: its config.json.

    Raises:
        ModelError: as `check_counts`, or it cannot be built.
        MissingWeights: it describes another model than the weights hold.
        FileError: the weights are damaged.
    """
    check_counts(config, folder / "config.json")
    shapes = _shapes(sorted(folder.glob("*.safetensors")))
    largest = max((max(shape, default=0) for shape in shapes), default=0)
    if not any(
        (_is_count(name) and value > len(shapes)) or (name in _WIDTHS and value > largest)
        for name, value in _numbers(config)
    ):
        return
    held, wanted = sum(math.prod(shape) for shape in shapes), _parameters(folder)
    if wanted > _BEYOND * max(held, 1 << 20):
        raise MissingWeights(
            f"{folder / 'config.json'} describes a model of {wanted:,} parameters, and its weights hold {held:,}: the "
            f"configuration and the weights do not belong together, so get both from one place"
        )


def _numbers(config: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Every whole number of a configuration, also of those inside it, by its name."""
    for name, value in config.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, value
        elif isinstance(value, dict):
            yield from _numbers(value)


def _is_count(name: str) -> bool:
    """Whether an entry counts layers or experts."""
    return name.endswith("layers") or name in _COUNTS or (name.endswith("experts") and "_per_" not in name)


def _shapes(files: list[Path]) -> list[list[int]]:
    """The shapes of all tensors, from the files' headers alone."""
    from safetensors import SafetensorError, safe_open

    found = []
    for path in files:
        try:
            with safe_open(path, framework="np") as file:
                found += [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - not a dict
        except (SafetensorError, OSError) as error:
            raise FileError(
                f"the weights in {path.parent} are damaged ({first_line(error)}): fetch or copy them again"
            ) from None
    return found


def _parameters(folder: Path) -> int:
    """How many parameters the model of a configuration has; it is built without numbers (torch's "meta" device)."""
    import torch
    import transformers

    from heedmap.models.quiet import quiet_transformers

    try:
        with torch.device("meta"), quiet_transformers():
            configuration = transformers.AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            return sum(one.numel() for one in transformers.AutoModel.from_config(configuration).parameters())
    except Exception as error:  # a config.json may be wrong in any way
        raise ModelError(f"the model in {folder} cannot be built: {first_line(error)}") from None
