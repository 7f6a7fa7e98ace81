"""What a figure was measured on: the weights by their hash, and the versions of what measured it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedmap._version import __version__

if TYPE_CHECKING:
    from heedmap.reading.model import Model

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "pyarrow", "matplotlib")
"""Packages whose versions a report names."""


def describe(model: Model) -> dict[str, Any]:
    """What `Model.describe` says, always with a hash of the weights: of their files, or else of the tensors."""
    about = model.describe()
    if about["sha256"] is None:
        folder = Path(about["location"])
        files = sorted(folder.glob("*.safetensors")) if about["kind"] in ("folder", "hub") else []
        about["sha256"] = _hash_of_files(files) if files else _hash_of_tensors(model.module)
    about["tokenizer"] = _hash_of_tokenizer(model.tokenizer)
    return about


def _hash_of_files(files: list[Path]) -> str:
    """The SHA-256 of one file, or over those of several."""
    hashes = []
    for path in files:
        with path.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def _hash_of_tensors(module: Any) -> str:
    """The SHA-256 over the tensors of a module in memory, by name."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _hash_of_tokenizer(tokenizer: Any) -> str | None:
    """The SHA-256 of what a tokenizer does; None for one that cannot say."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return None if backend is None else hashlib.sha256(backend.to_str().encode()).hexdigest()


def versions() -> dict[str, str]:
    """The versions of Heedmap, Python and the packages that numbers depend on."""
    found = {"heedmap": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The machine, without anything that names it or its user."""
    return {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
