"""A real application: started, found by a second start, killed in its worker, interrupted; memory comes back."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from heedmap.cli.main import main
from heedmap.errors import ServerError
from heedmap.server.instance import Instance, announce, find_running, withdraw
from heedmap.server.serving import addresses, listen, names_of, reached_as
from tests.faults.processes import all_end
from tests.server.conftest import Asker, end, start


def second(state: Path) -> subprocess.CompletedProcess[str]:
    """`heedmap serve` where another may run already."""
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    command = [sys.executable, "-m", "heedmap", "serve", "--no-open"]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


def test_a_second_start_finds_the_first(asker: Asker) -> None:
    found = second(asker.state)
    assert found.returncode == 0
    assert found.stdout == f"http://127.0.0.1:{asker.port}/\n"
    assert "runs already" in found.stderr


@pytest.mark.slow  # the application of all tests is ended the same way
def test_an_interrupt_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    code, errors = end(start(tmp_path))
    assert code == 130
    assert "Traceback" not in errors
    assert find_running(tmp_path / "heedmap") is None
    assert not (tmp_path / "heedmap" / "application.json").exists()


@pytest.mark.parametrize("presses", [1, 2])
def test_an_interrupt_during_a_pass_and_a_run_answers_whoever_waits(tmp_path: Path, presses: int) -> None:
    asker = start(tmp_path)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(asker.ask, "POST", "/api/readings", {"model": "smollm2", "text": "a " * 4000})
        run = asker.ask("POST", "/api/lab/runs", {"experiment": "causal", "model": "smollm2"}).json["run"]
        watching = pool.submit(asker.ask, "GET", f"/api/lab/runs/{run}/events")
        time.sleep(0.5)
        for _ in range(presses - 1):
            asker.process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        code, errors = end(asker)
        assert (code, errors.split()) == (130, ["heedmap:", "interrupted"])
        if presses == 1:  # a second one cuts off what is still open
            assert reading.result().lines[-1]["error"]["kind"] == "WorkerDied"
            assert watching.result().lines[-1]["state"] == "stopped"


@pytest.mark.slow  # among the fast, a browser sees the same
def test_a_killed_worker_is_told_and_started_again(asker: Asker) -> None:
    answer = asker.read("The cat sat on the mat.")
    before = asker.ask("GET", "/api/status").json
    os.kill(before["worker"], signal.SIGKILL)
    deadline = time.monotonic() + 60
    while (gone := asker.ask("GET", f"/api/readings/{answer['id']}/row?layer=1&query=1")).status == 503:
        assert "ask again" in gone.json["error"]["message"]
        assert time.monotonic() < deadline
    assert gone.status == 410
    assert asker.read("The cat sat on the mat.")["texts"][0]["labels"][1] == "cat"
    assert asker.ask("GET", "/api/status").json["workerStarts"] == before["workerStarts"] + 1


def test_what_it_started_ends_when_it_is_killed(tmp_path: Path) -> None:
    asker = start(tmp_path)
    asker.read("The cat sat.")
    asker.ask("POST", "/api/lab/runs", {"experiment": "causal", "model": "smollm2"})
    children = psutil.Process(asker.process.pid).children(recursive=True)
    assert len(children) >= 2
    asker.process.kill()
    asker.process.communicate()
    assert all_end(children)


def test_memory_returns_after_a_long_text_is_closed(asker: Asker) -> None:
    def resident() -> int:
        worker = asker.ask("GET", "/api/status").json["worker"]
        line = next(line for line in Path(f"/proc/{worker}/status").read_text().splitlines() if "VmRSS" in line)
        return int(line.split()[1]) << 10

    short = asker.read("The cat sat.")
    before = resident()
    long = asker.read("The cat sat on the mat and looked at the dog. " * 120)
    assert resident() - before > long["bytes"] // 2
    asker.ask("DELETE", f"/api/readings/{long['id']}")
    # What torch's allocator and threads keep for themselves is not the reading: it stays below a quarter of it.
    assert resident() - before < long["bytes"] // 4
    asker.ask("DELETE", f"/api/readings/{short['id']}")


def test_a_note_that_proves_nothing_is_not_believed(tmp_path: Path) -> None:
    assert find_running(tmp_path) is None
    with socket.create_server(("127.0.0.1", 0)) as other:
        instance = Instance(f"http://127.0.0.1:{other.getsockname()[1]}/", 1, "word")
        announce(instance, tmp_path)
        assert (tmp_path / "application.json").stat().st_mode & 0o777 == 0o600
        assert find_running(tmp_path) is None
    for wrong in ("", "{", "[]", '{"address": "file:///etc/", "process": 1, "identity": "x"}'):
        (tmp_path / "application.json").write_text(wrong)
        assert find_running(tmp_path) is None
    withdraw(instance, tmp_path)
    assert (tmp_path / "application.json").exists()


def test_another_port_is_taken_where_the_usual_one_is(asker: Asker) -> None:
    with listen("127.0.0.1", None) as found:
        assert found.getsockname()[1] != asker.port
    with pytest.raises(ServerError, match=f"port {asker.port} .*--port"):
        listen("127.0.0.1", asker.port)


def test_the_network_must_be_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "0.0.0.0", "--no-open"]) == 1
    assert "--allow-network" in capsys.readouterr().err


def test_a_machine_is_asked_for_by_its_own_names_alone() -> None:
    """Listening everywhere, it answers to each of its addresses; a name from elsewhere that points here stays out."""
    assert names_of("127.0.0.1") == {"127.0.0.1", "localhost"}
    assert names_of("192.0.2.7") == {"192.0.2.7"}
    everywhere = names_of("0.0.0.0")
    assert everywhere >= {socket.gethostname(), "localhost", "127.0.0.1", "::1"} | addresses()
    assert not everywhere & {"", "0.0.0.0", "evil.example"}
    assert reached_as("192.0.2.7") == "192.0.2.7"
    assert reached_as("0.0.0.0") in everywhere - {"127.0.0.1", "::1"}


def test_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--model", "nowhere", "--no-open"]) == 1
    assert "there is no nowhere" in capsys.readouterr().err
