"""The Hugging Face Hub: what its cache has, and fetching a model's files within its own conventions.

`HF_HOME`, `HF_HUB_CACHE`, `HF_ENDPOINT`, tokens and `HF_HUB_OFFLINE` are huggingface_hub's and mean here what they mean
there. Only configuration, tokenizer and safetensors files are fetched, never code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from heedmap.errors import FetchFailed, ModelError, ModelGated, ModelNotFound, ModelNotHere, UnsafeWeights
from heedmap.json_text import parse_json
from heedmap.models.catalogue import CATALOGUE, CatalogueModel, catalogue_names, near_names
from heedmap.models.folder import INDEX, PROCESSOR_FILES, TOKENIZER_FILES, has_inputs, is_pickle, unsafe_message
from heedmap.models.places import HUB_VARIABLE, is_offline, megabytes, require_space, writing
from heedmap.models.progress import Progress, first_line, sizes_under
from heedmap.models.quiet import quiet_hub
from heedmap.models.record import WEIGHTS

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo

PROBE_SECONDS = 5.0
"""How long to wait for the Hub's first answer."""

_WANTED = ("config.json", "generation_config.json", INDEX, *TOKENIZER_FILES, *PROCESSOR_FILES)
_Result = TypeVar("_Result")


def cached_snapshot(repo_id: str, revision: str | None) -> Path | None:
    """The folder of a model in the Hub's cache if all of it is there; its name is the commit."""
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(repo_id, "config.json", revision=revision)
    if not isinstance(config, str):
        return None
    snapshot = Path(config).parent
    return snapshot if _has_weights(snapshot) and has_inputs(snapshot) else None


def fetch_snapshot(repo_id: str, revision: str | None, progress: Progress) -> tuple[Path, bool]:
    """The folder of a model in the Hub's cache, fetched if it is not there; and whether it was fetched just now.

    Raises:
        ModelNotFound: the Hub has no such model or revision.
        ModelGated: it wants a login or an accepted licence.
        ModelNotHere: offline, or the Hub does not answer.
        UnsafeWeights: there are only pickled weights.
        FetchFailed: the download broke.
        FileError: no room on the disk.
    """
    _check_name(repo_id)
    snapshot = cached_snapshot(repo_id, revision)
    if snapshot is not None:
        return snapshot, False
    if is_offline():
        raise ModelNotHere(
            f"{_not_here(repo_id)}, and HF_HUB_OFFLINE (or TRANSFORMERS_OFFLINE) forbids to ask the Hub: "
            f"unset it, or name a model that is here (`heedmap models` lists them){_hint(repo_id)}"
        )
    info = _asking(repo_id, revision, lambda: _within(PROBE_SECONDS, lambda: _model_info(repo_id, revision)))
    files = _choose_files(repo_id, info)
    return _download(repo_id, revision, files, progress), True


def fetch_configuration(repo_id: str, revision: str | None) -> Path:
    """The config.json of a model in the Hub's cache, fetched alone if it is not there: no weights.

    Raises:
        ModelNotFound, ModelGated, ModelNotHere, FetchFailed: as `fetch_snapshot`.
    """
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    _check_name(repo_id)
    cached = try_to_load_from_cache(repo_id, "config.json", revision=revision)
    if isinstance(cached, str):
        return Path(cached)
    if is_offline():
        raise ModelNotHere(f"{_not_here(repo_id)}, and HF_HUB_OFFLINE (or TRANSFORMERS_OFFLINE) forbids to ask the Hub")

    def fetch() -> Path:
        with quiet_hub():
            return Path(hf_hub_download(repo_id, "config.json", revision=revision, etag_timeout=PROBE_SECONDS))

    return _asking(repo_id, revision, fetch)


def weights_sha256(snapshot: Path) -> str | None:
    """The hash of a snapshot's weights, if it is known without reading them.

    A snapshot's file is a link to its content, which is named by its SHA-256 if it is large. (The content may be a link
    in turn, to a store shared by several caches, where it goes by another kind of hash.) Weights in several files have
    no single one.
    """
    weights = snapshot / WEIGHTS
    name = weights.readlink().name if weights.is_symlink() else ""
    return name if len(name) == 64 and set(name) <= set("0123456789abcdef") else None


def _model_info(repo_id: str, revision: str | None) -> ModelInfo:
    """The Hub's description of a model: one request, which also tells whether the Hub can be reached."""
    from huggingface_hub import HfApi

    return HfApi().model_info(repo_id, revision=revision, files_metadata=True, timeout=PROBE_SECONDS)


def _choose_files(repo_id: str, info: ModelInfo) -> dict[str, int]:
    """The files to fetch and their sizes: safetensors, configuration, tokenizer, processor.

    Raises:
        UnsafeWeights: there are only pickled weights.
        ModelError: there is nothing that can be loaded.
    """
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    top = [name for name in sizes if "/" not in name]
    if WEIGHTS in top:
        weights = [WEIGHTS]
    elif INDEX in top:
        weights = [name for name in top if fnmatch(name, "model-*.safetensors")]
    elif any(is_pickle(name) for name in top):
        raise UnsafeWeights(unsafe_message(f"{repo_id!r} on the Hub"))
    elif any(name.endswith(".gguf") for name in sizes):
        raise ModelError(
            f"{repo_id!r} on the Hub holds GGUF files: fetch one with `hf download {repo_id} FILE.gguf` and "
            f"give its path"
        )
    else:
        raise ModelError(
            f"{repo_id!r} on the Hub has no weights that can be read: look for a revision with model.safetensors"
        )
    return {name: sizes[name] for name in top if name in _WANTED or name in weights}


def _download(repo_id: str, revision: str | None, files: dict[str, int], progress: Progress) -> Path:
    """Fetch the chosen files into the Hub's cache."""
    from huggingface_hub import constants, snapshot_download

    cache = Path(constants.HF_HUB_CACHE)
    size = sum(files.values())
    require_space(cache, size, repo_id, HUB_VARIABLE)
    progress.say(f"{repo_id} is not here yet: fetching {megabytes(size)} from the Hub ...")
    repo_folder = cache / _cache_name(repo_id)
    before = sum(sizes_under(repo_folder))

    def fetch() -> Path:
        with quiet_hub(), writing(cache, size, repo_id, HUB_VARIABLE):
            return Path(snapshot_download(repo_id, revision=revision, allow_patterns=list(files)))

    with progress.bar(repo_id, size, lambda: sum(sizes_under(repo_folder)) - before):
        snapshot = _asking(repo_id, revision, fetch)
    # Where the network breaks, huggingface_hub may hand back what it has.
    missing = [name for name in files if not (snapshot / name).is_file()]
    if missing:
        raise FetchFailed(f"the download of {repo_id!r} broke off ({', '.join(missing)} did not come): try again")
    return snapshot


def _asking(repo_id: str, revision: str | None, request: Callable[[], _Result]) -> _Result:
    """Make a request of the Hub, and turn each of its failures into one line with the next step."""
    from huggingface_hub import constants, errors

    where = f"revision {revision!r} of {repo_id!r}" if revision else repr(repo_id)
    try:
        return request()
    except errors.GatedRepoError:
        raise ModelGated(
            f"{repo_id!r} is gated: accept its licence at {constants.ENDPOINT}/{repo_id}, then log in with "
            f"`hf auth login` or set HF_TOKEN"
        ) from None
    except errors.RepositoryNotFoundError:
        raise ModelNotFound(_unknown(repo_id)) from None
    except errors.RevisionNotFoundError:
        raise ModelNotFound(f"there is no {where} on the Hub: give a branch, tag or commit of it") from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status == 404:  # from a mirror that does not say which of its things is missing
            raise ModelNotFound(_unknown(repo_id)) from None
        if status in (401, 403):
            raise ModelGated(
                f"the Hub refuses {repo_id!r} (HTTP {status}): log in with `hf auth login`, or check HF_TOKEN"
            ) from None
        raise ModelNotHere(f"{where} is not here and the Hub answered HTTP {status}: try again later") from None
    except (_http_error(), ConnectionError, TimeoutError, errors.LocalEntryNotFoundError) as error:
        raise ModelNotHere(
            f"{_not_here(repo_id)}, and the Hub cannot be asked ({first_line(error)}){_hint(repo_id)}"
        ) from None
    except (RuntimeError, ValueError) as error:  # from its download library
        raise FetchFailed(f"the download of {repo_id!r} broke off: {first_line(error)}; try again") from None


def _http_error() -> type[Exception]:
    """The base of the exceptions of the HTTP client that this version of huggingface_hub uses."""
    from huggingface_hub.errors import HfHubHTTPError

    return next(base for base in HfHubHTTPError.__mro__ if base.__name__ == "HTTPError")


def _check_name(name: str) -> None:
    """Refuse what the Hub would not take as a name."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # public, but not listed there

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise ModelNotFound(
            f"there is no model {name!r}: give a catalogue name, a folder, a .gguf file or a Hub id{_hint(name)}"
        ) from None


def _entry_of(repo_id: str) -> CatalogueModel | None:
    """The catalogue's entry with this Hub id, if there is one."""
    return next((entry for entry in CATALOGUE if entry.hub_id == repo_id), None)


def _not_here(repo_id: str) -> str:
    """What has been looked at before the Hub."""
    if _entry_of(repo_id) is not None:
        return f"{repo_id!r} is not here"
    return f"{repo_id!r} is not in the catalogue and not a folder or file here"


def _unknown(repo_id: str) -> str:
    """The line for a name that is known nowhere."""
    return (
        f"there is no model {repo_id!r}: not in the catalogue, not a folder or file here, not on the Hub (a private "
        f"one needs `hf auth login` or HF_TOKEN){_hint(repo_id)}"
    )


def _hint(repo_id: str) -> str:
    """Names that may have been meant."""
    entry = _entry_of(repo_id)
    if entry is not None:
        return f". PyPI has it too: name it {entry.name}" if entry.wheels else ""
    near = near_names(repo_id)
    if near:
        return f". Did you mean {' or '.join(near)}?"
    return f". The catalogue has {', '.join(catalogue_names())}"


def _within(seconds: float, call: Callable[[], _Result]) -> _Result:
    """The result of a call, or TimeoutError: a name server that does not answer knows no time-out of its own."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append((call(), None))
        except Exception as error:  # handed to the thread that waits
            outcome.append((None, error))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds)
    if not outcome:
        raise TimeoutError(f"no answer within {seconds:g} s")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _has_weights(snapshot: Path) -> bool:
    """Whether the weights are there, with all their parts."""
    if (snapshot / WEIGHTS).is_file():
        return True
    try:
        parts = parse_json((snapshot / INDEX).read_bytes())["weight_map"].values()
        return all((snapshot / part).is_file() for part in parts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _cache_name(repo_id: str) -> str:
    """The name of a model's folder in the Hub's cache."""
    from huggingface_hub.file_download import repo_folder_name

    return str(repo_folder_name(repo_id=repo_id, repo_type="model"))
