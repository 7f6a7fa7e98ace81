"""Ctrl-C at exact moments of every command that takes long: exit code 130, one line, nothing half written or left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.faults.forker import Ended, Forker, Moment
from tests.faults.processes import litter
from tests.models.fake_hub import FakeHub
from tests.models.making import save_tiny_model, write_gguf
from tests.pictures import noise, processor_of, vision_model

TEXT = "the cat sat on the mat"
LAB = ("--limit", "3", "--draws", "100", "-o", "{new}/lab")
COST = ("--lengths", "32", "--lengths", "64", "--repeats", "1", "--further", "2", "-o", "{new}/lab")
COMMANDS: dict[str, tuple[str, ...]] = {
    "read": ("read", TEXT, "--json"),
    "read --generate": ("read", TEXT, "--generate", "5"),
    "read a .gguf": ("read", TEXT, "--model", "{kept}/tiny.gguf"),
    "next": ("next", TEXT),
    "explain": ("explain", TEXT),
    "map .png": ("map", TEXT, "-o", "{new}/map.png"),
    "map .npy": ("map", TEXT, "-o", "{new}/map.npy"),
    "view": ("view", TEXT, "-o", "{new}/view.html"),
    "stats .csv": ("stats", TEXT, "-o", "{new}/stats.csv"),
    "stats .parquet": ("stats", TEXT, "--heads", "-o", "{new}/stats.parquet"),
    "spans": ("spans", TEXT, "--span", "cat=4:7", "-o", "{new}/spans.csv"),
    "spans --permute": ("spans", f"{TEXT}\n\n{TEXT} too", "--split", "paragraphs", "--permute"),
    "cost": ("cost", "{kept}/model", "--tokens", "100"),
    "picture": ("picture", "{kept}/noise.png", "--model", "{kept}/vit", "-o", "{new}/picture.png"),
    "models get": ("models", "get", "someone/tiny"),
    "learn read": ("learn", "read", "1", "--answers"),
    "learn check": ("learn", "check", "{kept}/mine.py"),
    "learn export": ("learn", "export", "--lesson", "1", "--site", "{new}/site", "--notebook", "{new}/notebooks"),
    "lab sink": ("lab", "sink", *LAB),
    "lab causal": ("lab", "causal", *LAB),
    "lab reference": ("lab", "reference", *LAB),
    "lab heads": ("lab", "heads", *LAB),
    "lab roles": ("lab", "roles", *LAB),
    "lab matters": ("lab", "matters", *LAB),
    "lab compare": ("lab", "compare", *LAB),
    "lab cost": ("lab", "cost", *COST),
    "lab dilution": ("lab", "dilution", *LAB),
    "lab picture": ("lab", "picture", "-o", "{new}/lab"),
    "lab rerun": ("lab", "rerun", "{kept}/report", "-o", "{new}/lab"),
    "lab check": ("lab", "check", "{kept}/report", "--claim", "sink.median > 0"),
    "lab merge": ("lab", "merge", "{kept}/shard1", "{kept}/shard2", "-o", "{new}/lab"),
}
WITHOUT_MODEL = ("cost", "models", "learn", "lab rerun", "lab check", "lab merge")
ENDS = {".png": b"IEND\xaeB`\x82", ".html": b"</html>", ".parquet": b"PAR1", ".csv": b"\n", ".md": b"\n"}
"""What a whole file ends with."""


class Sweep:
    """Commands, what they need, and a place for what they write."""

    def __init__(self, kept: Path, new: Path, forker: Forker) -> None:
        self.kept, self.new, self.forker = kept, new, forker

    def run(self, name: str, moment: Moment | None = None) -> Ended:
        """Run a command where nothing is but what it needs."""
        shutil.rmtree(self.new, ignore_errors=True)
        for place in ("temporary", "work"):
            (self.new / place).mkdir(parents=True)
        arguments = [one.format(kept=self.kept, new=self.new) for one in COMMANDS[name]]
        if not name.startswith(WITHOUT_MODEL) and "--model" not in arguments:
            arguments += ["--model", str(self.kept / "model")]
        there = {"HEEDMAP_CACHE": "cache", "HEEDMAP_LEARN": "learn", "TMPDIR": "temporary"}
        environment = {variable: str(self.new / place) for variable, place in there.items()}
        environment["TERM"] = "dumb"
        return self.forker.run(arguments, environment, moment)

    def interrupt(self, name: str, moment: Moment) -> None:
        """Interrupt a command, and look at what it says and leaves."""
        ended = self.run(name, moment)
        where = f"{name} at {moment.kind} {moment.number}: code {ended.code}, {ended.err[-2000:]}"
        if moment.kind == "processor time" and ended.code in (0, 3):
            return  # it took less than the last time, and was done before
        assert ended.code == 130, where
        assert ended.err.splitlines()[-1] == "heedmap: interrupted", where
        assert not [word for word in ("Traceback", "ignored", "Error") if word in ended.err], where
        assert litter(self.new) == [], where
        assert [one.name for one in (self.new / "temporary").rglob("*") if one.is_file()] == [], where
        for path in self.new.rglob("*"):
            if path.is_file() and path.suffix in ENDS and "hub" not in path.parts:
                assert path.read_bytes().rstrip(b"\n" * (path.suffix == ".html")).endswith(ENDS[path.suffix]), where
            elif path.suffix == ".json":
                json.loads(path.read_bytes())


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sweep]:
    kept = tmp_path_factory.mktemp("kept")
    save_tiny_model(kept / "model")
    write_gguf(kept / "tiny.gguf")
    vision = vision_model()
    vision.module.save_pretrained(kept / "vit")
    processor_of(vision).save_pretrained(kept / "vit")
    Image.fromarray(noise()).save(kept / "noise.png")
    (kept / "mine.py").write_text("def softmax(scores):\n    return scores\n")
    new = tmp_path_factory.mktemp("new") / "one"
    # Where the Hub is, and what comes from it lies, is read once, when its library is loaded.
    places = {"HF_HOME": str(new / "hub"), "HF_HUB_DISABLE_XET": "1"}
    with FakeHub() as hub, Forker(kept, HF_ENDPOINT=hub.address, **places) as forker:
        hub.add("someone/tiny", kept / "model")
        made = Sweep(kept, new, forker)
        for name, more in (("report", ()), ("shard1", ("--shard", "1/2")), ("shard2", ("--shard", "2/2"))):
            arguments = [
                "lab",
                "sink",
                "--limit",
                "3",
                "--batch-size",
                "1",
                "--draws",
                "100",
                "--model",
                str(kept / "model"),
            ]
            ended = made.forker.run([*arguments, "-o", str(kept / name), *more], {})
            assert ended.code == 0, ended.err
        yield made


def moments(met: dict[str, float], each: int) -> list[Moment]:
    """Some moments of each kind, evenly over all that there are; of the files written and renamed, the last too."""
    chosen = [Moment("processor time", met["processor time"] * (step + 0.5) / each) for step in range(each)]
    for kind in ("read", "write", "rename"):
        count = int(met[kind])
        numbers = {1 + (count - 1) * step // max(1, each - 1) for step in range(each)} if count else set()
        chosen += [Moment(kind, number) for number in sorted(numbers)]
    return chosen


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", COMMANDS)
def test_interrupted_anywhere(name: str, sweep: Sweep) -> None:
    sweep.run(name)  # loads what it needs
    whole = sweep.run(name)
    assert whole.code in (0, 3), whole.err
    for moment in moments(whole.met, 3):
        sweep.interrupt(name, moment)
