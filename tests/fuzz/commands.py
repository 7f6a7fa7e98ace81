"""Command lines: every command with options of every kind, and hostile texts, in one process with tiny models."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from heedmap.cli.main import COMMANDS
from heedmap.errors import ModelNotFound
from heedmap.reading import loading
from heedmap.reading.model import Model
from tests.fuzz.command_line import run
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import texts, with_sound
from tests.fuzz.target import GIBIBYTE, Target, answers
from tests.fuzz.texts import eager_maps, tiny_models

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
    """A text as a shell can hand it over: bytes without a zero, of which those that are no UTF-8 are kept as halves."""
    return text.replace("\x00", "").encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") or " "


Maps = npt.NDArray[np.float64]
"""All maps of a text, [layer, head, query, key]."""

Expected = Callable[[str], None]
"""What must hold of what a sound line prints."""


@st.composite
def _sound_lines(draw: st.DrawFn, whole: dict[str, Maps], folder: Path) -> tuple[list[str], bytes, Expected]:
    """Lines with nothing wrong, whose numbers are those of whole maps; a mean leaves the first token's own row out."""
    name = draw(st.sampled_from(sorted(whole)))
    maps = whole[name]
    last = maps.shape[-1] - 1
    layer, head, token = (draw(st.integers(0, most)) for most in (2, 3, last - 1))
    one = maps[layer, head]
    at = ["--layer", str(layer), "--head", str(head)]
    command = draw(st.sampled_from(("read", "spans", "stats", "map")))
    start, end = draw(st.integers(1, last - 2)), last - 1
    parts: dict[str, tuple[list[str], Expected]] = {
        "read": (["--word", f"@{token}", *at, "--json"], lambda said: _near(_weights(json.loads(said)), one[token])),
        "spans": (
            ["--span", f"a=tok:{start}:{end}", "--of", f"@{token}", "--json"],
            lambda said: _near(_share_of_a(json.loads(said)), maps[:, :, token, start:end].sum(-1).mean()),
        ),
        "stats": (
            ["--heads", "--layers", str(layer), "--json"],
            lambda said: _near(_first(json.loads(said)), maps[layer, :, 1:, 0].mean(-1)),
        ),
        "map": (
            [*at, "-o", str(folder / "map.npy")],
            lambda _: _near(np.nan_to_num(np.load(folder / "map.npy")), one),
        ),
    }
    options, expected = parts[command]
    by_stdin = draw(st.booleans())
    return [command, "-" if by_stdin else _TEXT, "--model", name, *options], _TEXT.encode() * by_stdin, expected


def _near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-5)  # as all weights are compared with eager ones


def _weights(row: dict[str, Any]) -> list[float]:
    return [weight or 0.0 for weight in row["weights"]]


def _share_of_a(spans: dict[str, Any]) -> float:
    """The mean over layers and heads; null where nobody may look there, which is no weight in a whole map."""
    (line,) = (row for row in spans["rows"] if row["part"] == "a" and row["layer"] is None)
    return float(line["share"] or 0.0)


def _first(stats: dict[str, Any]) -> list[float]:
    return [row["first"] for row in stats["rows"] if row["head"] is not None]


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

    def check(case: tuple[list[str], bytes, Expected | None]) -> None:
        arguments, given, expected = case
        with answers(sound=expected is not None):
            printed = run(arguments, given)
        if "--json" in arguments and "--help" not in arguments:
            json.loads(printed, parse_constant=_refuse)
        if expected is not None:
            expected(printed)

    whole = {name: np.stack(eager_maps(model.read(_TEXT))) for name, model in made.items()}
    odd = _lines(_known_options(), folder).map(lambda line: (*line, None))
    return with_sound(_sound_lines(whole, folder), odd), check


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not strict JSON")


TARGETS = (
    Target(
        "commands", "command lines, sound ones and with odd options and texts", command_cases, 40, 6000, GIBIBYTE, 60.0
    ),
)
