"""The models that the application may load: those of the catalogue and the cache that are here, and folders named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedmap.errors import ModelNotHere

_CACHED = re.compile(r"models--(?P<owner>[^/]+?)--(?P<name>[^/]+)")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that may be asked for.

    Attributes:
        name: what the page calls it.
        source: what is given to `heedmap.load`.
        title: what it is, in a line.
        here: whether its files are on this machine; the application fetches nothing.
    """

    name: str
    source: str
    title: str
    here: bool

    def to_json(self) -> dict[str, Any]:
        """What the page is told; where the files lie is not."""
        get = {} if self.here else {"get": f"heedmap models get {self.name}"}
        return {"name": self.name, "title": self.title, "here": self.here, **get}


def served_models(folders: Sequence[Path]) -> list[ServedModel]:
    """All models that may be asked for, those of the catalogue first.

    Args:
        folders: folders and `.gguf` files that were named at the start.
    """
    return [*_named(folders), *_of_catalogue(), *_of_hub_cache()]


def find_served(models: Sequence[ServedModel], name: str) -> ServedModel:
    """The model of a name.

    Raises:
        ModelNotHere: the application does not serve it, or its files are not here.
    """
    for model in models:
        if model.name == name and model.here:
            return model
    there = ", ".join(model.name for model in models if model.here) or "none"
    if any(model.name == name for model in models):
        raise ModelNotHere(f"{name} is not on this machine: `heedmap models get {name}` fetches it; here are {there}")
    raise ModelNotHere(
        f"this application does not serve {name[:80]!r}: it serves what is in the cache ({there}), and what it was "
        "started with (`heedmap serve --model FOLDER`)"
    )


def _named(folders: Sequence[Path]) -> Iterator[ServedModel]:
    """Folders and files by their own names, told apart by a number where they are the same."""
    names: dict[str, int] = {}
    for folder in folders:
        count = names[folder.name] = names.get(folder.name, 0) + 1
        name = folder.name if count == 1 else f"{folder.name} ({count})"
        yield ServedModel(name, str(folder), "named when the application was started", here=True)


def _of_catalogue() -> Iterator[ServedModel]:
    from heedmap.models.catalogue import CATALOGUE
    from heedmap.models.fetch import find_copy

    for entry in CATALOGUE:
        yield ServedModel(entry.name, entry.name, entry.title, here=find_copy(entry) is not None)


def _of_hub_cache() -> Iterator[ServedModel]:
    """Whole models in the Hub's own cache that the catalogue does not name."""
    from huggingface_hub.constants import HF_HUB_CACHE

    from heedmap.models.catalogue import CATALOGUE
    from heedmap.models.hub import cached_snapshot

    known = {entry.hub_id for entry in CATALOGUE}
    for folder in sorted(Path(HF_HUB_CACHE).glob("models--*")):
        match = _CACHED.fullmatch(folder.name)
        repository = "" if match is None else f"{match['owner']}/{match['name']}"
        if repository and repository not in known and cached_snapshot(repository, None) is not None:
            yield ServedModel(repository, repository, "in the Hub's cache", here=True)
