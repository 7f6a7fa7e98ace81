"""Command lines: every command with options of every kind, and hostile texts, in one process with tiny models."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from heedmap.cli.main import COMMANDS
from heedmap.errors import ModelNotFound
from heedmap.reading import loading
from heedmap.reading.model import Model
from tests.fuzz.command_line import run
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import texts
from tests.fuzz.target import GIBIBYTE, Target
from tests.fuzz.texts import tiny_models

_TEXT = "The trophy did not fit in the suitcase because it was too big. It was."
_ODD = ("", " ", "-", "--", "-1", "0", "1", "2", "99", "1e9", "nan", "all", "a,b", "0-1", "1-0", "@", "@@x", "@missing")
_WORDS = ("it", "trophy", "It#2", "@0", "@-1", "last", "paragraphs", "sentences", "turns", "first", "entropy", "a=0:4")
_FLAGS = (
    *("--json", "--from-vector", "--largest", "--received", "--positions", "--lines", "--heads", "--ascending"),
    *("--median", "--log", "--by-layer", "--per-head", "--permute", "--truncate", "--special-tokens", "--sample"),
    *("--no-special-tokens", "--no-scale", "--no-softmax", "--causal", "--list", "--allow-random", "--help"),
)
_VALUED = (
    *(
        "--word",
        "--layer",
        "--head",
        "--on",
        "--query-rule",
        "--layers",
        "--sort",
        "--top",
        "--span",
        "--split",
        "--of",
    ),
    *("--documents", "--seed", "--generate", "--temperature", "--top-p", "--top-k", "--beams", "--steps-layers"),
    *("--precision", "--max-mb", "--compare", "--target", "--stack", "--model", "--revision", "--dtype", "--device"),
    *("--example", "--multiply", "--query", "--set-key", "--set-value", "--set", "--digits", "--tokens", "--chat"),
)
_LEFT_OUT = {"serve", "lab", "completion", "models"}
"""They wait for a browser, are another target, ask for a shell's name only, or fetch."""


def _known_options() -> dict[str, set[str]]:
    """The options that each command has."""
    import importlib

    known = {}
    for name in sorted(set(COMMANDS) - _LEFT_OUT):
        command = importlib.import_module(f"heedmap.cli.{name}").command
        known[name] = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
    return known


@st.composite
def _lines(draw: st.DrawFn, known: dict[str, set[str]], folder: Path) -> tuple[list[str], bytes]:
    """One command line, and what stands on its standard input."""
    name = draw(st.sampled_from(sorted(known)))
    word = st.sampled_from(_WORDS) | st.sampled_from(_ODD) | texts().map(_as_argument)
    text = st.just(_TEXT) | st.just(_TEXT) | texts().map(_as_argument)
    arguments = [name, *draw(st.lists(text, min_size=1, max_size=1) | st.lists(text, max_size=2))]
    mine = draw(st.sampled_from((True, True, True, False)))
    for option in draw(st.lists(st.sampled_from(_VALUED), max_size=4, unique=True)):
        if option in known[name] or not mine:
            arguments += [option, draw(word)]
    for option in draw(st.lists(st.sampled_from(_FLAGS), max_size=3, unique=True)):
        if option in known[name] or not mine:
            arguments.append(option)
    if name in ("map", "view", "stats", "spans") and draw(st.booleans()):
        suffix = draw(st.sampled_from(("csv", "html", "npy", "json", "parquet", "png", "", "exe")))
        arguments += ["-o", str(folder / f"out.{suffix}")]
    elif name == "view":
        arguments += ["-o", str(folder / "view.html")]
    return arguments, draw(st.just(b"") | st.binary(max_size=60))


def _as_argument(text: str) -> str:
    """A text as a shell can hand it over: without zero bytes."""
    return text.replace("\x00", "") or " "


def command_cases() -> tuple[SearchStrategy[Any], Any]:
    """Lines for all commands that read texts or numbers."""
    made = dict(zip(("smollm2", "minilm"), tiny_models(), strict=True))

    def load(name: str, **_: Any) -> Model:
        if name not in made:
            raise ModelNotFound(f"no model {name!r} is loaded in this test")
        return made[name]

    loading.load = load  # type: ignore[assignment]
    folder = fresh_folder()
    os.environ["HEEDMAP_LEARN"] = str(folder / "learn")

    def check(case: tuple[list[str], bytes]) -> None:
        printed = run(*case)
        if "--json" in case[0] and "--help" not in case[0]:
            json.loads(printed, parse_constant=_refuse)

    return _lines(_known_options(), folder), check


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not strict JSON")


TARGETS = (Target("commands", "command lines with odd options and texts", command_cases, 40, 6000, GIBIBYTE, 60.0),)
