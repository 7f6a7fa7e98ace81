"""A model's configuration alone, without its weights: what its cost can be told from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from heedmap.errors import ModelError, ModelNotFound, ModelNotHere, UnsupportedModel
from heedmap.models import hub
from heedmap.models.catalogue import find_entry
from heedmap.models.fetch import find_copy
from heedmap.models.folder import read_config
from heedmap.models.progress import first_line
from heedmap.models.quiet import quiet_transformers
from heedmap.models.sizes import check_counts


def find_configuration(name_or_path: str | os.PathLike[str], *, revision: str | None = None) -> Any:
    """The configuration of a model: of the catalogue, a folder, a config.json, or the Hub; no weights are fetched.

    Args:
        name_or_path: a catalogue name, a folder, a `config.json`, or a Hub id.
        revision: branch, tag or commit, for Hub ids.

    Returns:
        transformers' configuration object.

    Raises:
        ModelNotFound, ModelGated, ModelNotHere, FetchFailed: there is none, or it cannot be fetched.
        FileError: its config.json cannot be read.
        ModelError: it is the configuration of no model.
        UnsupportedModel: transformers does not know its kind.

    Example:
        >>> find_configuration("smollm2").num_hidden_layers
        30
    """
    name = os.fspath(name_or_path)
    entry = find_entry(name) if isinstance(name_or_path, str) else None
    path = Path(name).expanduser()
    if entry is not None:
        copy = find_copy(entry)
        if copy is not None:
            return _load(copy.folder)
        if entry.hub_id is None:
            raise ModelNotHere(
                f"{name} is not here yet, and its configuration comes with it: heedmap models fetch {name}"
            )
        name = entry.hub_id
    elif path.is_dir() or path.name == "config.json":
        if not path.exists():
            raise ModelNotFound(f"there is no file {name!r}")
        return _load(path)
    elif path.exists():
        raise ModelError(f"{name!r} is no configuration: give a folder, a config.json, a catalogue name or a Hub id")
    return _load(hub.fetch_configuration(name, revision))


def _load(path: Path) -> Any:
    """The configuration in a folder or file."""
    from transformers import AutoConfig

    folder = path if path.is_dir() else path.parent
    if (folder / "config.json").is_file():
        check_counts(read_config(folder), folder / "config.json")
    try:
        with quiet_transformers():
            return AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except KeyError as error:
        raise UnsupportedModel(f"transformers does not know the kind of {path}: {first_line(error)}") from None
    except Exception as error:  # a config.json may be wrong in any way
        raise ModelError(f"the configuration in {path} cannot be read: {first_line(error)}") from None
