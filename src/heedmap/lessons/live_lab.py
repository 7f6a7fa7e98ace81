"""Live figures of the lab: as they were measured and recorded with Heedmap, for weights that are pinned by a hash.

The lab's own tests measure them again, so that a figure that a lesson quotes cannot drift from the experiment.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedmap.arithmetic.names import listed, nearest
from heedmap.arithmetic.writing import number
from heedmap.errors import LessonError
from heedmap.lab.data import pairs, sentences
from heedmap.lab.expectations import ExpectedPart, read_expectations, shipped
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded

BAR = 40
"""Characters of a bar that stands for 1."""


@functools.cache
def parts_of(experiment: str, model: str) -> tuple[ExpectedPart, ...]:
    """What is recorded of an experiment on a model: settings, and figures by name.

    Raises:
        LessonError: nothing is recorded for them.

    Example:
        >>> [part.settings["facts"] for part in parts_of("dilution", "smollm2")]
        [12]
    """
    if model not in shipped():
        raise LessonError(f"nothing is recorded for {model!r}: expected one of {listed(shipped())}")
    parts = read_expectations(Path(model)).parts
    found = tuple(part for part in parts if part.experiment == experiment)
    if not found:
        names = sorted({part.experiment for part in parts})
        raise LessonError(f"nothing is recorded of {experiment!r} on {model}: expected one of {listed(names)}")
    return found


def recorded(experiment: str, model: str) -> Mapping[str, Any]:
    """The recorded figures of an experiment on a model, by name.

    Raises:
        LessonError: nothing is recorded for them.

    Example:
        >>> recorded("causal", "smollm2")["causal.leaking"]
        0
    """
    return {name: entry["value"] for part in parts_of(experiment, model) for name, entry in part.figures.items()}


def _asked(arguments: Arguments) -> Mapping[str, Any]:
    """The figures of the experiment and model that a call names."""
    experiment = arguments.word("an experiment")
    return recorded(experiment, arguments.option("model", "smollm2") or "")


def _layers(figures: Mapping[str, Any], name: str) -> dict[int, float]:
    """The values of a figure that each layer has; the name has `layerN` where the layer's number stands."""
    pattern = re.compile(re.escape(name).replace("layerN", r"layer(\d+)"))
    matches = {key: pattern.fullmatch(key) for key in figures} if "layerN" in name else {}
    found = {int(match[1]): float(figures[key]) for key, match in matches.items() if match is not None}
    if not found:
        raise LessonError(f"expected a name such as sink.layerN.median, found {name!r}")
    return found


@REGISTRY.add(
    "recorded",
    "EXPERIMENT FIGURE [model=smollm2] [times=1] [digits=3]",
    "a figure that the lab measured; times=100 gives percent",
)
def _recorded(arguments: Arguments) -> Figure:
    figures, name = _asked(arguments), arguments.word("a figure's name")
    times = Arguments([arguments.option("times", "1") or ""], {}).numbers("times")[0]
    digits = arguments.digits(3)
    if name not in figures:
        raise LessonError(f"no figure {name!r} is recorded{nearest(name, figures)}")
    value = figures[name]
    if isinstance(value, bool):
        return Figure("yes" if value else "no")
    if isinstance(value, str):
        return Figure(value)
    if isinstance(value, int):
        digits = 0
    return rounded(value * times, digits)


@REGISTRY.add("recorded-how", "EXPERIMENT [model=smollm2]", "how it was measured")
def _recorded_how(arguments: Arguments) -> Figure:
    experiment = arguments.word("an experiment")
    return Figure(parts_of(experiment, arguments.option("model", "smollm2") or "")[0].title)


@REGISTRY.add("recorded-setting", "EXPERIMENT SETTING [model=smollm2]", "a whole number that it was measured with")
def _recorded_setting(arguments: Arguments) -> Figure:
    experiment, name = arguments.word("an experiment"), arguments.word("a setting's name")
    settings = parts_of(experiment, arguments.option("model", "smollm2") or "")[0].settings
    if not isinstance(value := settings.get(name), int):
        raise LessonError(f"no setting {name!r} that is a whole number is recorded{nearest(name, settings)}")
    return Figure(str(value), float(value))


@REGISTRY.add("built-in", "sentences|pairs", "how many sentences or pairs come with Heedmap")
def _built_in(arguments: Arguments) -> Figure:
    kinds = {"sentences": sentences, "pairs": pairs}
    what = arguments.word("sentences or pairs")
    if what not in kinds:
        raise LessonError(f"expected sentences or pairs, found {what!r}")
    count = sum(1 for _ in kinds[what]())
    return Figure(str(count), float(count))


@REGISTRY.add(
    "recorded-minus", "EXPERIMENT FIGURE FIGURE [model=smollm2] [digits=3]", "one measured figure minus another"
)
def _recorded_minus(arguments: Arguments) -> Figure:
    figures, digits = _asked(arguments), arguments.digits(3)
    names = [arguments.word("a figure's name") for _ in range(2)]
    first, second = (figures.get(name) for name in names)
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        raise LessonError(f"expected two figures that are numbers, found {listed(names)}")
    return rounded(float(first) - float(second), digits)


@REGISTRY.add(
    "recorded-layers",
    "EXPERIMENT FIGURE [model=smollm2]",
    "a figure of each layer that the lab measured, as bars",
    block=True,
)
def _recorded_layers(arguments: Arguments) -> Figure:
    figures, name = _asked(arguments), arguments.word("a figure's name")
    found = _layers(figures, name)
    bars = [f"{layer:5}  {number(found[layer], 3)}  {bar(found[layer])}".rstrip() for layer in sorted(found)]
    return Figure("\n".join(["layer", *bars]))


@REGISTRY.add("recorded-extreme", "EXPERIMENT FIGURE largest|smallest [model=smollm2]", "the layer with most or least")
def _recorded_extreme(arguments: Arguments) -> Figure:
    figures, name, which = _asked(arguments), arguments.word("a figure's name"), arguments.word("largest or smallest")
    found = _layers(figures, name)
    if which not in ("largest", "smallest"):
        raise LessonError(f"expected largest or smallest, found {which!r}")
    layer = (max if which == "largest" else min)(found, key=lambda one: found[one])
    return Figure(str(layer), float(layer))


def bar(share: float) -> str:
    """A share as a bar of blocks.

    Example:
        >>> bar(0.25), bar(0.0)
        ('██████████', '')
    """
    return "█" * round(share * BAR)
