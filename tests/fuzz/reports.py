"""Reports, plans, expected figures and claims of the lab: sound and damaged, by the commands that read them."""

from __future__ import annotations

import json
import operator
import shutil
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from heedmap.lab.agreement import check as check_figures
from heedmap.lab.claims import check_claim, parse_claim
from heedmap.lab.expectations import parts_for, read_expectations
from heedmap.lab.plan import Shard
from heedmap.lab.registry import EXPERIMENTS
from heedmap.lab.report import figure_to_json, read_report
from heedmap.lab.request import Request
from tests.fuzz.command_line import NotMet, run
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged_file, is_same_json, same_json, with_sound
from tests.fuzz.target import Target, answers
from tests.lab.making import TOY, run_toy

_ITEMS = 6
_SIGNS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne
}  # fmt: skip
_PARTS = (
    *("fine", "not fine", "toy.mean", "toy.mean.low", "toy.mean.n", ">", "<=", "==", "!=", " and ", "0.4", "1e999"),
    *("nan", "inf", "1_0", "²", "true", "and", "..", "toy..mean", "-", "toy.mean.high"),
)

Claim = tuple[str, bool | None]
"""A claim, and whether it is met; None where nobody knows."""


def _claims(figures: dict[str, Any]) -> SearchStrategy[Claim]:
    """Claims that can be read, weighed here from the report's own JSON, and others."""
    values = {name: one["value"] for name, one in figures.items()}
    values |= {"toy.mean.low": figures["toy.mean"]["interval"][0], "toy.mean.n": figures["toy.mean"]["n"]}
    values = {name: value for name, value in values.items() if isinstance(value, int | float)}
    numbers = st.sampled_from([*values.values(), 0, -1.5, 1e9]).map(float) | st.floats(-2, 2)
    compared = st.tuples(st.sampled_from(sorted(values)), st.sampled_from(sorted(_SIGNS)), numbers).map(
        lambda one: (f"{one[0]} {one[1]} {one[2]!r}", _SIGNS[one[1]](values[one[0]], one[2]))
    )
    others = {"fine": True, "not fine": False, "toy.true": True, "toy.best == i003": True, "toy.best!=i003": False}
    conditions = st.lists(compared | st.sampled_from(sorted(others.items())), min_size=1, max_size=3)
    sound = conditions.map(lambda all_of: (" and ".join(text for text, _ in all_of), all(met for _, met in all_of)))
    words = st.lists(st.sampled_from(_PARTS) | st.text(max_size=4), max_size=9).map(" ".join) | st.text(max_size=30)
    return with_sound(sound, words.map(lambda text: (text, None)))


def _expectations(figures: dict[str, Any]) -> dict[str, Any]:
    """A file of expected figures, each within a tenth."""
    return {
        "schema": "heedmap/expectations/1",
        "title": "toy",
        "model": {"name": "toy", "sha256": None},
        "parts": [{"title": "t", "experiment": "toy", "settings": {"seed": 0}, "figures": figures}],
    }


@st.composite
def _sound_expectations(draw: st.DrawFn, figures: dict[str, Any]) -> tuple[bytes, dict[str, bool]]:
    """Figures that are expected at some distance from those that there are, and whether each agrees."""
    numbers = {name: one["value"] for name, one in figures.items() if isinstance(one["value"], float)}
    expected, agree = {}, {}
    for name in draw(st.lists(st.sampled_from(sorted(numbers)), min_size=1, unique=True)):
        value, tolerance = numbers[name] + draw(st.floats(-1, 1)), draw(st.none() | st.floats(0, 1))
        expected[name] = {"value": value, "tolerance": tolerance}
        agree[name] = abs(value - numbers[name]) <= (tolerance or 0.0)
    return draw(same_json(_expectations(expected))), agree


def report_cases() -> tuple[SearchStrategy[Any], Any]:
    """A report, plan or file of expectations, and claims about a sound report, by the commands that read them."""
    EXPERIMENTS["toy"] = TOY
    folder = fresh_folder()
    run_toy(folder / "sound", items=_ITEMS)
    for number in (1, 2):
        run_toy(folder / f"shard{number}", items=_ITEMS, shard=Shard(number, 2))
    report = json.loads((folder / "sound" / "report.json").read_text())
    plan = json.loads((folder / "shard1" / "run.json").read_text())
    figures = report["figures"]
    expected = _expectations({name: {"value": one["value"], "tolerance": 0.1} for name, one in figures.items()})
    claims = _claims(figures)
    cases = st.one_of(
        st.tuples(st.just("report"), with_sound(same_json(report), damaged_file(report)), claims),
        st.tuples(st.just("plan"), with_sound(same_json(plan), damaged_file(plan)), st.none()),
        st.tuples(st.just("expectations"), damaged_file(expected), st.none()),
        _sound_expectations(figures).map(lambda one: ("expectations", *one)),
        st.tuples(st.just("claim"), st.none(), claims),
    )
    return cases, _ReportCheck(folder, report, plan)


class _ReportCheck:
    """Each kind of file as the command reads it that takes it."""

    def __init__(self, folder: Path, report: dict[str, Any], plan: dict[str, Any]) -> None:
        self.folder, self.report, self.plan = folder, report, plan
        self.figures, self.verdicts, self.run = read_report(folder / "sound")

    def __call__(self, case: Any) -> None:
        kind, content, also = case
        path = self.folder / "given.json"
        if content is not None:
            path.write_bytes(content)
        if kind == "report":
            self._check_report(path, content, *also)
        elif kind == "plan":
            self._check_plan(content)
        elif kind == "expectations":
            with answers(sound=also is not None):
                parts = parts_for(read_expectations(path), self.run, other_weights=True)
                lines = [line for part in parts for line in check_figures(part.figures, self.figures)]
            assert also is None or {line.name: line.agrees for line in lines} == also
        else:
            claim, met = also
            with answers(sound=met is not None):
                outcomes = check_claim(parse_claim(claim), self.figures, self.verdicts, {"fine", "not fine"})
            assert met is None or all(outcome.met for outcome in outcomes) == met

    def _check_report(self, path: Path, content: bytes, claim: str, met: bool | None) -> None:
        """A report that is sound is read as it was written, and a claim about it weighed rightly."""
        sound = is_same_json(content, self.report)
        with answers(sound=sound):
            figures, _, ran = read_report(path)
            Request.from_json(ran["request"])
        assert not sound or {name: figure_to_json(one) for name, one in figures.items()} == self.report["figures"]
        try:
            run(["lab", "check", str(path), f"--claim={claim}"])
            held = True
        except NotMet:
            held = False
        assert not sound or met in (None, held)

    def _check_plan(self, content: bytes) -> None:
        """Two shards make the report of one machine; one of them with a plan that may be damaged."""
        (self.folder / "shard1" / "run.json").write_bytes(content)
        merged = self.folder / "merged"
        shutil.rmtree(merged, ignore_errors=True)
        with answers(sound=is_same_json(content, self.plan)):
            run(["lab", "merge", *(str(self.folder / f"shard{number}") for number in (2, 1)), "-o", str(merged)])
        found = json.loads((merged / "report.json").read_text())
        assert found["figures"] == self.report["figures"]


TARGETS = (Target("reports", "reports, plans, expected figures and claims, sound and damaged", report_cases, 30, 5000),)
