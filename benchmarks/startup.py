"""Where the time of one `heedmap read` goes, beside transformers alone; and what each command takes and holds."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.measure import markdown_table

TROPHY = "The trophy did not fit in the suitcase because it was too big."

BARE = "pass"
HELP = "from heedmap.cli.main import main; main(['--help'])"
PLAIN = """
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder = {folder!r}
model = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
with torch.no_grad():
    model(**tokenizer({text!r}, return_tensors="pt"), use_cache=False)
"""
PHASES = """
import time
start = time.perf_counter()
def lap(name):
    global start
    now = time.perf_counter()
    print(name, now - start, sep="\\t")
    start = now
import torch, transformers
from transformers import AutoModelForCausalLM, AutoTokenizer
lap("import torch and transformers")
import heedmap
from heedmap.reading.model import Model
from heedmap.models.load import load_model
lap("import Heedmap")
loaded = load_model("smollm2")
lap("load weights and tokenizer")
model = Model(loaded)
lap("check that the model is read rightly")
reading = model.read({text!r}, layers=16)
lap("read")
from heedmap.cli.common import show
from heedmap.drawing.bars import row_bars
from heedmap.drawing.readings import row_picture
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()):
    show(row_bars(row_picture(reading.row("it", 16, 3))))
lap("row and bars")
"""


def seconds(command: list[str], repeats: int = 5) -> float:
    """Median wall time of a process, after one run that warms the disk cache."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


COMMANDS: dict[str, list[str]] = {
    "heedmap --help": ["--help"],
    "heedmap completion bash": ["completion", "bash"],
    "heedmap compute --example cat": ["compute", "--example", "cat"],
    "heedmap models": ["models"],
    "heedmap cost smollm2": ["cost", "smollm2"],
    "heedmap learn": ["learn"],
    "heedmap read": ["read", TROPHY, "--word", "it", "--layer", "16", "--head", "3"],
    "heedmap read --generate 8": ["read", TROPHY, "--layer", "16", "--generate", "8"],
    "heedmap map -o map.png": ["map", TROPHY, "--layer", "16", "--head", "3", "-o", "map.png"],
    "heedmap explain": ["explain", TROPHY, "--word", "it", "--layer", "5", "--head", "4"],
    "heedmap next": ["next", TROPHY],
    "heedmap stats": ["stats", TROPHY],
    "heedmap spans": ["spans", TROPHY, "--split", "sentences"],
    "heedmap view -o view.html": ["view", TROPHY, "--word", "it", "--layer", "16", "-o", "view.html"],
    "heedmap lab": ["lab"],
    "heedmap lab causal --limit 4": ["lab", "causal", "--limit", "4"],
    "heedmap serve, until it answers": ["serve", "--no-open"],
}
"""Every command, with the default model where it takes one; `picture` wants a model that is not in the catalogue."""


def each_command(repeats: int = 3) -> str:
    """Seconds and peak memory of each command, as a table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in COMMANDS.items():
            found = [_time_and_memory(arguments, folder) for _ in range(repeats + 1)][1:]
            seconds, memory = (statistics.median(values) for values in zip(*found, strict=True))
            command, comma, more = name.partition(",")
            rows.append([f"`{command}`{comma}{more}", f"{seconds:.2f} s", f"{memory:,.0f} MB"])
    return markdown_table(["command", "time", "memory at the peak"], rows)


def _time_and_memory(arguments: list[str], folder: str) -> tuple[float, float]:
    """Seconds of a command and the megabytes it held at most; one that serves is ended once it tells its address."""
    surroundings = {**os.environ, "XDG_STATE_HOME": folder, "HEEDMAP_LEARN": folder}
    command = [sys.executable, "-m", "heedmap", *arguments]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    if arguments[0] == "serve":
        process.stdout.readline()
        seconds = time.perf_counter() - start
        process.send_signal(signal.SIGINT)
    else:
        process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if arguments[0] != "serve":
        seconds = time.perf_counter() - start
        assert process.returncode == 0, command
    return seconds, used.ru_maxrss / 1024


def report() -> str:
    """The breakdown and the comparison, measured now."""
    from heedmap.models.catalogue import find_entry
    from heedmap.models.fetch import find_copy

    entry = find_entry("smollm2")
    assert entry is not None
    copy = find_copy(entry)
    assert copy is not None, "fetch it first: heedmap models get smollm2"
    python = [sys.executable, "-c"]
    read = [sys.executable, "-m", "heedmap", "read", TROPHY, "--word", "it", "--layer", "16", "--head", "3"]
    bare, help_text = seconds([*python, BARE]), seconds([*python, HELP])
    plain = seconds([*python, PLAIN.format(folder=str(copy.folder), text=TROPHY)])
    whole = seconds(read)
    rows = [
        ["bare Python", f"{bare:.2f} s"],
        ["`heedmap --help`", f"{help_text:.2f} s ({help_text - bare:.2f} s over bare Python)"],
        ["transformers alone: import, load, one forward pass", f"{plain:.2f} s"],
        ["`heedmap read`", f"{whole:.2f} s ({whole - plain:+.2f} s)"],
    ]
    result = subprocess.run([*python, PHASES.format(text=TROPHY)], capture_output=True, text=True, check=True)
    phases = [line.split("\t") for line in result.stdout.splitlines()]
    breakdown = [[name, f"{float(value):.2f} s"] for name, value in phases]
    tables = [
        markdown_table(["process", "time"], rows),
        markdown_table(["of which", "time"], breakdown),
        each_command(),
    ]
    return "\n\n".join(tables)


if __name__ == "__main__":
    print(report())
