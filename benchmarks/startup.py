"""Where the time of one `heedmap read` goes, beside the same work done with transformers alone."""

from __future__ import annotations

import statistics
import subprocess
import sys
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
    return "\n\n".join([markdown_table(["process", "time"], rows), markdown_table(["of which", "time"], breakdown)])


if __name__ == "__main__":
    print(report())
