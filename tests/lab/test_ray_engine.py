"""Runs on a real local Ray of two workers give the report of one machine, also when one of them is killed."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from heedmap.errors import MissingExtra, OutOfRange
from heedmap.lab.folder import read_json
from heedmap.lab.plan import Shard
from heedmap.lab.run import RunPlace
from tests.lab.making import FakeModel, Toy, toy_request

HERE = Path(__file__).parents[2]


def on_ray(folder: Path, mode: str) -> subprocess.CompletedProcess[str]:
    """Run `sink` on a cluster of its own, which no network reaches."""
    token = folder.with_suffix(".token")
    token.write_text(secrets.token_hex(16))
    token.chmod(0o600)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    command = ["unshare", "-n", sys.executable, "-m", "tests.lab.ray_run", str(folder), mode]
    return subprocess.run(command, capture_output=True, text=True, cwd=HERE, env=environment, timeout=500)


@pytest.fixture
def _ray() -> None:
    """Ray, and a network of its own to run it in."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'heedmap[ray]'")
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
        pytest.skip(
            "a network of its own (unshare -n) needs rights that are not there: Ray would listen to the outside"
        )


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_ray")
@pytest.mark.parametrize("mode", ["whole", "killed"])
def test_two_workers_give_the_report_of_one_machine(tmp_path: Path, mode: str) -> None:
    ran = on_ray(tmp_path / "ray", mode)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ("killed []" in ran.stderr) == (mode == "whole"), ran.stderr[-2000:]
    alone = subprocess.run(
        [
            sys.executable,
            "-m",
            "heedmap",
            "lab",
            "sink",
            "--model",
            "minilm",
            "--batch-size",
            "1",
            "-o",
            tmp_path / "one",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert alone.returncode == 0, alone.stderr[-2000:]
    here, there = (read_json(tmp_path / name / "report.json") for name in ("one", "ray"))
    assert there["figures"] == here["figures"]
    assert there["findings"] == here["findings"]


def test_a_shard_is_not_shared_out_again(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'heedmap[ray]'")
    from heedmap.lab.ray_engine import run_on_ray

    request = toy_request(shard=Shard(1, 2))
    with pytest.raises(OutOfRange, match="both share out the run: give one of them"):
        run_on_ray(RunPlace(request, FakeModel(), tmp_path), request.parts()[0])  # type: ignore[arg-type]


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from heedmap.lab.ray_engine import run_on_ray

    monkeypatch.setitem(sys.modules, "ray", None)
    request = toy_request()
    with pytest.raises(MissingExtra, match=r"pip install 'heedmap\[ray\]'"):
        run_on_ray(RunPlace(request, FakeModel(), tmp_path), request.parts()[0])  # type: ignore[arg-type]


def test_a_task_measures_its_batches_and_hands_back_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heedmap.lab import ray_engine
    from heedmap.lab.row_files import RowFiles

    model = FakeModel()
    monkeypatch.setattr(ray_engine, "_model", lambda asked, sha256: model)
    request = toy_request(bad="i007", skip_bad=True)
    part = request.parts()[0]
    files = RowFiles(tmp_path, Toy.name)
    skipped: dict[str, str] = {}
    asked = {**request.to_json(), "sha256": model.sha256}
    for group in (range(4), range(4, len(part.batches))):
        content, failed = ray_engine.measure_batches(asked, "toy", list(group))
        files.adopt(content)
        skipped |= failed
    assert len(files.done()) == 39
    assert skipped == {"i007": "text 7 cannot be read"}
    files.close()
