"""Real outputs, one or more of every schema: commands and calls on models so small that they take milliseconds."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest.mock import patch

from safetensors import safe_open

import heedmap
from heedmap.arithmetic.vectors import load_vectors
from heedmap.cli.main import main
from heedmap.lab.merge import merge_shards
from heedmap.lab.plan import Shard
from heedmap.lab.registry import EXPERIMENTS
from heedmap.reading.edits import forbid, head_means, remove
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.statistics_table import combine
from tests.documentation.learning_samples import learned
from tests.documentation.page_samples import pages, served
from tests.families import OWN_CODE, tiny_family
from tests.lab.making import TOY, run_toy
from tests.models.making import save_tiny_model
from tests.pictures import noise, vision_model, word_tokenizer
from tests.tiny_stacks import tiny_t5

TEXT = "The hat, the head. The other hat, then. That is it"


def printed(*arguments: str, codes: tuple[int, ...] = (0,)) -> Any:
    """What a command prints with `--json`."""
    page = io.StringIO()
    with contextlib.redirect_stdout(page), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main([*arguments, "--json"])
    assert code in codes, errors.getvalue()
    return json.loads(page.getvalue())


def header_of(path: Path) -> Any:
    """What stands in the metadata of a safetensors file."""
    with safe_open(path, framework="np") as file:
        return json.loads(file.metadata()["heedmap"])


def merged_toy(folder: Path) -> Path:
    """The folder of a report that was merged from two shards, which left an item out."""
    shards = [folder / "1", folder / "2"]
    for number, shard in enumerate(shards, 1):
        run_toy(shard, items=16, bad="i003", skip_bad=True, shard=Shard(number, 2))
    merge_shards(shards, folder / "merged")
    return folder / "merged"


class Samples:
    """Makes outputs in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def place(self) -> str:
        """The folder of a tiny model."""
        return str(save_tiny_model(self.folder / "model"))

    @cached_property
    def model(self) -> Model:
        """A decoder of 2 layers and 4 heads."""
        return heedmap.load(self.place)

    @cached_property
    def reading(self) -> Reading:
        """A text as it read it."""
        return self.model.read(TEXT)

    @cached_property
    def both(self) -> Any:
        """A text with an unknown word and a target as an encoder-decoder read them, changed in two places."""
        edit = remove(1, 0, zero=True, stack="decoder") + forbid("dog", "a", stack="decoder")
        return heedmap.wrap(tiny_t5(), word_tokenizer()).edited(edit).read("the cat sleeps", target="a dog")

    @cached_property
    def report_folder(self) -> Path:
        """The report of an experiment that needs no model."""
        run_toy(self.folder / "report", items=8)
        return self.folder / "report"

    def command(self, name: str, *options: str) -> Any:
        """What a command prints of the text as the tiny model reads it."""
        return printed(name, TEXT, *options, "--model", self.place)

    def saved(self, name: str, save: Callable[[Path], None]) -> Any:
        """The header of what was saved."""
        save(self.folder / name)
        return header_of(self.folder / name)

    def arithmetic(self) -> dict[str, list[Any]]:
        """Attention by hand."""
        mask = heedmap.attend([1], [[1], [5]], [[4], [8]], mask=[True, False])
        vectors = load_vectors()
        traces = [case["trace"] for case in vectors["cases"]]
        shown = [
            printed("compute", "--example", "cat", *more) for more in ([], ["--multiply", "900"], ["--no-softmax"])
        ]
        return {
            "trace": [mask.to_json(), *shown, *traces],
            "vectors": [vectors],
            "examples": [printed("compute", "--list")],
        }

    def of_families(self) -> list[Any]:
        """Of a hybrid, and of a family with attention code of its own."""
        models = [heedmap.wrap(tiny_family(name), word_tokenizer()) for name in ("lfm2", next(iter(OWN_CODE)))]
        return [model.read("the cat sat").top("cat", 2) for model in models]

    def rows(self) -> dict[str, list[Any]]:
        """One word's look in all its forms."""
        reading, both = self.reading, self.both
        generation = self.model.generate(TEXT, 3)
        means = head_means(self.model, [TEXT])
        edit = (
            remove(1, 2, zero=True)
            + remove(0, 1, means)
            + remove(0, 2, like=self.model.read(TEXT, values=True), at="head")
        )
        edited = self.model.edited(edit + forbid("head", "The#1", layers=1, heads=0)).read(TEXT)
        crossed = both.cross.row("dog", layer=0, head=1)
        vision = vision_model().read_picture(noise())
        return {
            "row": [
                self.command("read", "--word", "head"),
                reading.row("@5", layer=1, head=1, scores=True).to_json(),
                generation.row(1, layer=1, head=0).to_json(),
                edited.row("head", layer=1, head=2).to_json(),
                crossed.to_json(),
            ],
            "rows": [self.command("read", "--word", "head", "--layer", "all")],
            "patches": [vision.patches("class", layer=0).to_json(), vision.patches("class", layer=0, head=1).to_json()],
            "top": [one.to_json() for one in (reading.top("head", 3), both.encoder.top("cat", 2), *self.of_families())],
            "norms": [
                reading.value_norms("head", layer=1, head=2).to_json(),
                reading.value_norms("head", layer=1).to_json(),
            ],
            "rollout": [reading.rollout("head").to_json()],
            "explanation": [
                self.command("explain", "--word", "head"),
                self.command("explain", "--word", "head", "--from-vector"),
            ],
            "next": [self.command("next")],
            "generation": [self.command("read", "--generate", "2"), generation.to_json(layer=1, head=2)],
        }

    def statistics(self) -> dict[str, list[Any]]:
        """All heads at once, and parts of a text."""
        parts = ["--split", "sentences"]
        return {
            "stats": [
                self.command("stats"),
                self.model.stats(TEXT, received=True, largest=True, positions=True).to_json(),
            ],
            "stats-of-texts": [combine([self.model.stats(TEXT), self.model.stats("the other")]).to_json()],
            "received": [
                self.reading.received(layer=1, head=1).to_json(),
                self.reading.stats(received=True).received().to_json(),
            ],
            "spans": [
                self.command("spans", *parts),
                self.model.spans(TEXT, {"hats": (0, 12), "head": (13, 22)}).to_json(per_head=True),
                self.both.encoder.spans({"ca": (4, 6), "t sleeps": (6, 14)}).to_json(),
            ],
            "permuted-spans": [self.command("spans", *parts, "--permute", "2")],
        }

    def lab(self) -> dict[str, list[Any]]:
        """Experiments and their files."""
        report = self.report_folder / "report.json"
        merged = merged_toy(self.folder / "shards")
        real = printed("lab", "causal", "--model", self.place, "--limit", "2")
        expected = [
            json.loads(one.read_text()) for one in Path(str(files("heedmap.lab") / "expectations")).glob("*.json")
        ]
        mine = self.folder / "expected.json"
        part = {"title": "t", "experiment": "toy", "figures": {"toy.together": {"value": 0, "tolerance": 0.1}}}
        mine.write_text(
            json.dumps({"schema": "heedmap/expectations/1", "title": "t", "model": {"name": "fake"}, "parts": [part]})
        )
        return {
            "report": [json.loads(report.read_text()), json.loads((merged / "report.json").read_text()), real],
            "run": [json.loads((one / "run.json").read_text()) for one in (self.report_folder, merged.parent / "1")],
            "expectations": [*expected, json.loads(mine.read_text())],
            "comparison": [printed("lab", "check", str(report), "--expect", str(mine), codes=(3,))],
            "experiments": [printed("lab")],
            "cost": [printed("cost", self.place), printed("cost", "smollm2")],
        }

    def kept(self) -> dict[str, list[Any]]:
        """What is written to files of tensors, pages and caches."""
        from heedmap.lessons.course import load_course
        from heedmap.lessons.figures import SHIPPED, Calculator, Kept
        from heedmap.lessons.site.data import lesson_data
        from heedmap.models.record import write_record

        write_record(Path(self.place), name="tiny", origin="made here", origin_sha256="0" * 64)
        means = head_means(self.model, [TEXT])
        return {
            "reading": [self.saved("reading.safetensors", self.reading.save)],
            "stacks": [self.saved("stacks.safetensors", self.both.save)],
            "head-means": [self.saved("means.safetensors", means.save)],
            "source": [json.loads((Path(self.place) / "source.json").read_text())],
            "models": [printed("models")],
            "page": pages(self.model, TEXT),
            "served": served(self.place, TEXT),
            "figures": [json.loads(SHIPPED.read_text(encoding="utf-8"))],
            "lesson": [lesson_data(load_course().lessons[0], Calculator(None, Kept(None)))],
        }

    def learning(self) -> dict[str, list[Any]]:
        """The course; HEEDMAP_LEARN names a folder of the test."""
        code = self.folder / "mine.py"
        code.write_text("def softmax(scores):\n    return scores\n")
        answers = [
            printed("learn", "answer", "1", "score-sat", "0.52", codes=(0, 3)),
            printed("learn", "answer", "1", "sharper", "nearly all of it"),
        ]
        progress = json.loads((self.folder / "learn" / "progress.json").read_text())
        return {
            "answer": answers,
            "progress": [progress, learned(self.folder / "learn")],
            "course": [printed("learn")],
            "words": [printed("learn", "words")],
            "exercises": [printed("learn", "exercise")],
            "exercise": [
                printed("learn", "exercise", "attend", "2"),
                printed("learn", "exercise", "dot", "1", "--solution"),
                printed("learn", "exercise", "dot", "1", "--answer", "0", codes=(0, 3)),
            ],
            "code": [printed("learn", "check", str(code), codes=(0, 3))],
        }

    def all(self) -> dict[str, list[Any]]:
        """Samples by the name of their schema."""
        groups = (self.arithmetic, self.rows, self.statistics, self.lab, self.kept, self.learning)
        with patch.dict(EXPERIMENTS, {"toy": TOY}):
            return {name: samples for group in groups for name, samples in group().items()}
