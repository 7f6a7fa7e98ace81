"""`heedmap explain`: the four steps in the terminal and as JSON."""

from __future__ import annotations

import re

from rich.cells import cell_len

from heedmap.reading.model import Model
from tests.cli.conftest import CommandLine
from tests.conftest import TROPHY
from tests.printed import assert_same_json

CALL = ("explain", TROPHY, "--word", "it", "--layer", "16", "--head", "3")


def test_the_steps_of_a_real_head(heedmap_command: CommandLine) -> None:
    run = heedmap_command(*CALL)
    assert run.code == 0
    assert "how “it” looks: layer 16, head 3 (key-value head 1) of smollm2" in run.out
    # q·k, divided by 8, e to the power of what is left of the largest, weight
    assert re.search(r"trophy +33\.75 +4\.22 +1\.000 +0\.565", run.out)
    assert re.search(r"The +26\.93 +3\.37 +0\.426 +0\.241", run.out)
    assert re.search(r"total +1\.771 +1\.000", run.out)
    assert "q·k with “trophy” is 33.75, the sum of 64 products" in run.out
    difference = re.search(r"largest difference: (\S+) in the output, (\S+) in the weights", run.out)
    assert difference is not None
    assert max(float(number) for number in difference.groups()) < 1e-5
    assert all(cell_len(line) <= 80 for line in run.out.splitlines())


def test_from_the_vector(heedmap_command: CommandLine) -> None:
    run = heedmap_command(*CALL, "--from-vector")
    assert "the query of “it”: its vector of 576 numbers" in run.out
    assert "by the learned table q_proj, head 3" in run.out
    assert "by the learned table k_proj, head 1" in run.out
    assert "each pair of dimensions turned for position 10" in run.out


def test_the_json(heedmap_command: CommandLine, smollm2: Model) -> None:
    data = heedmap_command(*CALL, "--json").json
    assert_same_json(data, smollm2.read(TROPHY).explain("it", 16, 3).to_json())
    assert data["trace"]["schema"] == "heedmap/trace/1"


def test_errors(heedmap_command: CommandLine) -> None:
    run = heedmap_command("explain", TROPHY, "--word", "it", "--layer", "5", "--head", "9")
    assert (run.code, run.out) == (1, "")
    assert "head 9 is out of range: layer 5 has 9 heads, 0 to 8" in run.err
