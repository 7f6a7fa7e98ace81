"""`heedmap lab`: listing, running, claims, rerun, check, shards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedmap.lab.registry import EXPERIMENTS
from heedmap.reading import loading
from tests.cli.conftest import CommandLine
from tests.lab.making import TOY, FakeModel, Toy


@pytest.fixture
def lab(heedmap_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """`lab("toy", ...)`: the made-up experiment runs without a model, the others with theirs."""
    load = loading.load

    def loaded(name: str, **options: Any) -> Any:
        return FakeModel() if name == "fake" else load(name, **options)

    monkeypatch.setattr(loading, "load", loaded)
    monkeypatch.setitem(EXPERIMENTS, "toy", TOY)

    def run(*arguments: str) -> Any:
        fake = ("--model", "fake") if arguments[:1] == ("toy",) else ()
        return heedmap_command("lab", *arguments, *fake)

    return run


def test_the_list_names_every_experiment_and_its_question(lab: CommandLine) -> None:
    run = lab()
    assert run.code == 0
    flat = " ".join(run.out.split())
    for name, (_, purpose) in EXPERIMENTS.items():
        assert f"{name} {purpose}" in flat
    for name in ("all", "rerun", "check", "merge"):
        assert f" {name} " in run.out
    listed = lab("--json").json
    assert listed["schema"] == "heedmap/experiments/1"
    assert [one["name"] for one in listed["experiments"]] == list(EXPERIMENTS)


def test_settings_are_options(lab: CommandLine) -> None:
    text = lab("sink", "--help").out
    for option in (
        "--other-word",
        "--no-controls",
        "--times-even",
        "--seed",
        "--claim",
        "--resume",
        "--shard",
        "--data",
    ):
        assert option in text
    assert "Verdicts: sink, no sink, cannot tell." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sinks",), "No such command 'sinks'."),
        (("toy", "--seed", "-1"), "-1 is not in the range x>=0"),
        (("toy", "--claim", "toy.mean >"), "cannot be read at 'toy.mean >'"),
        (("toy", "--shard", "3/2"), "give NUMBER/OF such as 1/4"),
        (("toy", "--shard", "1/2"), "--resume and --shard go with -o FOLDER"),
        (("toy", "--resume"), "--resume and --shard go with -o FOLDER"),
        (("toy", "--shard", "1/2", "-o", "x", "--claim", "fine"), "--claim goes with a whole run"),
        (("all", "--data", "-"), "standard input can be read once: give `all` a file with --data"),
        (("toy", "--data", "/nowhere.txt"), "'/nowhere.txt' does not exist"),
        (("toy", "--limit", "0"), "0 is not in the range x>=1"),
        (("check", "report.json"), "'report.json' does not exist"),
    ],
)
def test_wrong_command_lines(lab: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    run = lab(*arguments)
    assert run.code == 2
    assert message in " ".join(run.err.split())


def test_a_run_without_a_folder_leaves_nothing(
    lab: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = lab("toy")
    assert run.code == 0
    assert run.out.startswith("toy: fine\n")
    assert list(tmp_path.iterdir()) == []


def test_json_is_the_report(lab: CommandLine, tmp_path: Path) -> None:
    run = lab("toy", "-o", str(tmp_path / "report"), "--items", "12", "--json")
    assert run.code == 0
    assert run.json == json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert run.json["run"]["data"]["parts"]["toy"]["items"] == 12
    assert "report.html" in run.err


def test_claims_decide_the_exit_code(lab: CommandLine, tmp_path: Path) -> None:
    met = lab("toy", "--claim", "fine and toy.mean > 0.4", "--claim", "toy.best == i003")
    assert met.code == 0
    assert "claim toy.mean > 0.4: met (toy.mean is 0.6" in met.err
    broken = lab("toy", "--claim", "not fine", "--claim", "toy.mean > 0.4")
    assert broken.code == 3
    assert "claim not fine: NOT met (toy: fine)" in broken.err
    unknown = lab("toy", "--claim", "toy.maen > 0.4", "-o", str(tmp_path / "report"))
    assert unknown.code == 1
    assert not (tmp_path / "report").exists(), "nothing ran"
    assert "The figures: toy.mean, toy.together" in unknown.err
    assert "there is no figure 'toy.maen'; did you mean toy.mean or toy.absent" in unknown.err


def test_a_folder_is_taken_once_and_resumed_by_name(lab: CommandLine, tmp_path: Path) -> None:
    folder = str(tmp_path / "report")
    assert lab("toy", "-o", folder).code == 0
    again = lab("toy", "-o", folder)
    assert again.code == 1
    assert "holds a run already: go on with it by --resume" in again.err
    assert lab("toy", "-o", folder, "--resume").code == 0


def test_a_rerun_beside_the_old_one_says_same_or_not(lab: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    lab("toy", "-o", str(folder))
    before = (folder / "report.json").read_bytes()
    same = lab("rerun", str(folder / "report.json"))
    assert same.code == 0
    assert "6 of 6 figures are the same" in same.err
    assert (tmp_path / "report-2" / "report.json").exists()
    assert (folder / "report.json").read_bytes() == before
    report = json.loads(before)
    report["figures"]["toy.mean"]["value"] += 0.25
    report["run"]["versions"]["numpy"] = "1.0"
    (folder / "report.json").write_text(json.dumps(report))
    other = lab("rerun", str(folder), "--json")
    assert other.code == 3
    assert (tmp_path / "report-3").exists()
    judged = {line["figure"]: line["judgement"] for line in other.json["figures"]}
    assert other.json["same"] is False
    assert judged["toy.mean"] == "differs"
    assert judged["toy.together"] == "same"
    assert "not as it was: versions.numpy was 1.0" in other.err


def test_checking_with_expected_figures(lab: CommandLine, tmp_path: Path) -> None:
    lab("toy", "-o", str(tmp_path / "report"))
    part = {"title": "exact", "experiment": "toy", "figures": {"toy.mean": {"value": 0.66, "tolerance": 0.05}}}
    expected = {
        "schema": "heedmap/expectations/1",
        "title": "made up",
        "model": {"name": "fake", "sha256": ["f" * 64]},
        "parts": [part],
    }
    file = tmp_path / "figures.json"
    file.write_text(json.dumps(expected))
    report = str(tmp_path / "report" / "report.json")
    good = lab("check", report, "--expect", str(file), "--claim", "fine")
    assert good.code == 0
    assert "toy: exact" in good.err
    assert "toy.mean: 0.660 -> 0.6" in good.out
    part["figures"] = {"toy.mean": {"value": 0.1, "tolerance": 0.01}}
    file.write_text(json.dumps(expected))
    assert lab("check", report, "--expect", str(file)).code == 3
    assert lab("check", report, "--claim", "toy.mean > 1").code == 3
    neither = lab("check", report)
    assert neither.code == 2
    expected["model"] = {"name": "fake", "sha256": ["0" * 64]}
    file.write_text(json.dumps(expected))
    wrong = lab("check", report, "--expect", str(file))
    assert wrong.code == 1
    assert "--other-weights compares all the same" in wrong.err


def test_shards_and_their_report(lab: CommandLine, tmp_path: Path) -> None:
    for number in ("1", "2"):
        run = lab("toy", "--shard", f"{number}/2", "-o", str(tmp_path / number))
        assert (run.code, run.out) == (0, "")
        assert f"shard {number}/2 is done: `heedmap lab merge` puts the shards together" in run.err
    merged = lab("merge", str(tmp_path / "1"), str(tmp_path / "2"), "-o", str(tmp_path / "all"), "--claim", "fine")
    assert merged.code == 0
    whole = lab("toy", "--json").json
    report = json.loads((tmp_path / "all" / "report.json").read_text(encoding="utf-8"))
    assert report["figures"] == whole["figures"]
    assert lab("rerun", str(tmp_path / "all")).code == 0


def test_an_interruption_says_how_to_go_on(lab: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Toy, "measure", interrupted)
    run = lab("toy", "-o", str(tmp_path / "report"))
    assert run.code == 130
    assert "the rows measured so far are kept in" in run.err
    assert "go on with --resume" in run.err


def test_a_real_experiment_guards_a_model(lab: CommandLine) -> None:
    run = lab("causal", "--model", "minilm", "--limit", "2", "--claim", "causal")
    assert run.code == 3
    assert "claim causal: NOT met (causal: not causal, as built)" in run.err
    assert run.out.startswith("causal: not causal, as built\n")


def test_one_command_for_the_four_of_the_lesson(lab: CommandLine) -> None:
    assert "sink, causal, reference, heads" in " ".join(lab("all", "--help").out.split())
