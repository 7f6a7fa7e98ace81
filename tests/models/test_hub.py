"""The Hub: what its cache has, fetching, and each of its refusals as one clear line."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import huggingface_hub.constants
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

from heedmap.errors import FetchFailed, FileError, ModelError, ModelGated, ModelNotFound, ModelNotHere, UnsafeWeights
from heedmap.models import hub
from heedmap.models.hub import cached_snapshot, fetch_snapshot, weights_sha256
from heedmap.models.progress import Progress
from tests.models.fake_hub import COMMIT, FakeHub
from tests.models.making import sha256

SILENT = Progress(shown=False)


def test_a_model_is_fetched_once_into_the_hubs_own_cache(
    fake_hub: FakeHub, tiny_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    fake_hub.models["org/tiny"] |= {"modeling_tiny.py": b"raise SystemExit", "pytorch_model.bin": b"pickle"}
    snapshot, fetched = fetch_snapshot("org/tiny", None, Progress(shown=True))
    assert fetched
    assert snapshot == tmp_path / "hub" / "models--org--tiny" / "snapshots" / COMMIT
    # Neither code nor pickles come along, even where the model offers them.
    assert sorted(file.name for file in snapshot.iterdir()) == sorted(file.name for file in tiny_folder.iterdir())
    assert weights_sha256(snapshot) == sha256((tiny_folder / "model.safetensors").read_bytes())
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == "heedmap: org/tiny is not here yet: fetching 1 MB from the Hub ...\n"

    asked = len(fake_hub.requests)
    assert fetch_snapshot("org/tiny", None, SILENT) == (snapshot, False)
    assert len(fake_hub.requests) == asked  # no network for what is here
    assert cached_snapshot("org/tiny", COMMIT) == snapshot


def test_a_partial_copy_is_completed(fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    snapshot, _ = fetch_snapshot("org/tiny", None, SILENT)
    (snapshot / "tokenizer.json").unlink()
    assert cached_snapshot("org/tiny", None) is None
    assert fetch_snapshot("org/tiny", None, SILENT) == (snapshot, True)
    assert (snapshot / "tokenizer.json").is_file()


def test_weights_in_parts_must_all_be_there(tiny_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    shutil.copytree(tiny_folder, folder)
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    (folder / "model.safetensors.index.json").write_text(
        '{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}'
    )
    assert not hub._has_weights(folder)
    (folder / "model-00002-of-00002.safetensors").touch()
    assert hub._has_weights(folder)
    assert weights_sha256(folder) is None


def test_no_such_model_names_the_near_ones(fake_hub: FakeHub) -> None:
    with pytest.raises(ModelNotFound) as caught:
        fetch_snapshot("smolm2", None, SILENT)
    assert str(caught.value) == (
        "there is no model 'smolm2': not in the catalogue, not a folder or file here, not on the Hub (a private one "
        "needs `hf auth login` or HF_TOKEN). Did you mean smollm2 or smollm2-full?"
    )
    with pytest.raises(ModelNotFound, match=r"no model 'org/x': .*The catalogue has smollm2, smollm2-full, minilm"):
        fetch_snapshot("org/x", None, SILENT)


def test_a_name_that_the_hub_would_not_take(fake_hub: FakeHub) -> None:
    with pytest.raises(ModelNotFound, match=r"no model 'smollm2 full': give a catalogue name.* Did you mean smollm2"):
        fetch_snapshot("smollm2 full", None, SILENT)
    assert fake_hub.requests == []


def test_no_such_revision(fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    with pytest.raises(ModelNotFound, match=r"there is no revision 'v9' of 'org/tiny' on the Hub: give a branch, tag"):
        fetch_snapshot("org/tiny", "v9", SILENT)
    snapshot, _ = fetch_snapshot("org/tiny", COMMIT, SILENT)
    assert snapshot.name == COMMIT


def test_a_gated_model_says_what_to_do(fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    fake_hub.gated.add("org/tiny")
    with pytest.raises(ModelGated) as caught:
        fetch_snapshot("org/tiny", None, SILENT)
    assert str(caught.value) == (
        f"'org/tiny' is gated: accept its licence at {fake_hub.address}/org/tiny, then log in with "
        f"`hf auth login` or set HF_TOKEN"
    )


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (401, ModelGated, r"the Hub refuses 'org/tiny' \(HTTP 401\): log in with `hf auth login`, or check HF_TOKEN"),
        (403, ModelGated, r"the Hub refuses 'org/tiny' \(HTTP 403\)"),
        (404, ModelNotFound, r"there is no model 'org/tiny'"),
        (503, ModelNotHere, r"'org/tiny' is not here and the Hub answered HTTP 503: try again later"),
    ],
)
def test_other_answers(fake_hub: FakeHub, status: int, kind: type[ModelError], message: str) -> None:
    fake_hub.status = status
    with pytest.raises(kind, match=message):
        fetch_snapshot("org/tiny", None, SILENT)


def test_a_hub_that_does_not_answer_is_not_waited_for(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "PROBE_SECONDS", 0.3)
    fake_hub.delay = 3
    started = time.monotonic()
    with pytest.raises(ModelNotHere, match=r"'org/tiny' is not in the catalogue .* and the Hub cannot be asked \(.*\)"):
        fetch_snapshot("org/tiny", None, SILENT)
    assert time.monotonic() - started < fake_hub.delay


def test_a_name_server_that_hangs_is_not_waited_for(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "PROBE_SECONDS", 0.2)
    monkeypatch.setattr(hub, "_model_info", lambda repo_id, revision: time.sleep(5))
    started = time.monotonic()
    with pytest.raises(ModelNotHere, match=r"the Hub cannot be asked \(no answer within 0.2 s\)"):
        fetch_snapshot("org/tiny", None, SILENT)
    assert time.monotonic() - started < 5


def test_no_network_at_all(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelNotHere, match=r"'smolm2' .*the Hub cannot be asked \(.*refused\)\. Did you mean smollm2"):
        fetch_snapshot("smolm2", None, SILENT)


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_nothing_is_asked(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(
        ModelNotHere, match=r"'org/tiny' is not in .* forbids to ask the Hub: unset it, or name a model"
    ):
        fetch_snapshot("org/tiny", None, SILENT)
    assert fake_hub.requests == []


@pytest.mark.parametrize("error", [OfflineModeIsEnabled("offline"), LocalEntryNotFoundError("not cached")])
def test_the_librarys_own_words_for_offline(cache: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(repo_id: str, revision: str | None) -> None:
        raise error

    monkeypatch.setattr(hub, "_model_info", refuse)
    with pytest.raises(ModelNotHere, match="the Hub cannot be asked"):
        fetch_snapshot("org/tiny", None, SILENT)


def test_pickles_alone_are_refused_before_they_are_fetched(fake_hub: FakeHub) -> None:
    fake_hub.models["org/old"] = {"config.json": b"{}", "pytorch_model.bin": b"pickle"}
    with pytest.raises(
        UnsafeWeights, match=r"'org/old' on the Hub has only pickled weights, and unpickling can run any"
    ):
        fetch_snapshot("org/old", None, SILENT)
    assert len(fake_hub.requests) == 1


def test_gguf_files_on_the_hub_and_no_weights_at_all(fake_hub: FakeHub) -> None:
    fake_hub.models["org/gguf"] = {"model.Q4_K_M.gguf": b"GGUF"}
    fake_hub.models["org/none"] = {"README.md": b"soon"}
    with pytest.raises(ModelError, match=r"fetch one with `hf download org/gguf FILE.gguf` and give its path"):
        fetch_snapshot("org/gguf", None, SILENT)
    with pytest.raises(ModelError, match=r"'org/none' on the Hub has no weights that can be read"):
        fetch_snapshot("org/none", None, SILENT)


def test_a_download_that_breaks_off(fake_hub: FakeHub, tiny_folder: Path) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    fake_hub.broken.add("model.safetensors")
    with pytest.raises((FetchFailed, ModelNotHere), match=r"'org/tiny'"):
        fetch_snapshot("org/tiny", None, SILENT)
    assert cached_snapshot("org/tiny", None) is None
    fake_hub.broken.clear()
    assert fetch_snapshot("org/tiny", None, SILENT)[1]


def test_too_little_room_names_the_hubs_variable(
    fake_hub: FakeHub, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_hub.add("org/tiny", tiny_folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(FileError, match=r"org/tiny needs 1 MB of disk and .* set HF_HOME to a folder on a larger disk"):
        fetch_snapshot("org/tiny", None, SILENT)
