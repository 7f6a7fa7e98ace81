"""What `causal` concludes: the largest differences before and after the texts part, and whether any is no rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heedmap.lab.experiment import Chart, Figure, Finding, Table
from heedmap.lab.rounding import rounding_of
from heedmap.lab.rows import Rows
from heedmap.lab.words import value_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from heedmap.lab.causal import CausalSettings

WHEN = ("before", "after")
WHEN_WORDS = {"before": "before the two texts part (0 where it is rounding)", "after": "from there on"}


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences of all pairs beside each other.

    Attributes:
        usable: [pair] whether there are positions before the texts part, and after, and all states are numbers.
        same_length: [pair] whether both texts have as many tokens.
        layers: [layer] the attention layers' numbers.
        looks_ahead: [layer] whether the mask lets tokens look at later ones.
        weights: by `before` and `after`, [pair, layer, head]; those before are 0 where they are rounding.
        states: the same, [pair, state].
        logits: the same, [pair]; NaN for models that give none.
        apart: by `before` and `after`, [pair, state and then logits]: differences by the size of what differs.
        allowed: [pair, state and then logits] what of these still counts as equal.
    """

    usable: np.ndarray
    same_length: np.ndarray
    layers: np.ndarray
    looks_ahead: np.ndarray
    weights: dict[str, np.ndarray]
    states: dict[str, np.ndarray]
    logits: dict[str, np.ndarray]
    apart: dict[str, np.ndarray]
    allowed: np.ndarray

    @classmethod
    def of(cls, rows: Rows, settings: CausalSettings) -> Differences:
        """Put the rows together."""
        numbers = ~np.isnan(rows["states_before"]).any(1) & ~np.isnan(rows["states_after"]).any(1)
        apart = {when: np.column_stack([rows[f"states_apart_{when}"], rows[f"logits_apart_{when}"]]) for when in WHEN}
        allowed = settings.roundings * np.column_stack([rows["states_rounding"], rows["logits_rounding"]])
        more = apart["before"] > allowed
        same_weights = rows["weights_before"] <= rounding_of(rows["dtype"][0])
        return cls(
            usable=(rows["before"] > 0) & (rows["after"] > 0) & numbers,
            same_length=rows["same_length"].astype(bool),
            layers=rows["layers"][0],
            looks_ahead=np.asarray(rows["looks_ahead"].any(0)),
            weights={"before": np.where(same_weights, 0.0, rows["weights_before"]), "after": rows["weights_after"]},
            states={"before": np.where(more[:, :-1], rows["states_before"], 0.0), "after": rows["states_after"]},
            logits={
                "before": np.where(more[:, -1] | np.isnan(apart["before"][:, -1]), rows["logits_before"], 0.0),
                "after": rows["logits_after"],
            },
            apart=apart,
            allowed=allowed,
        )

    @property
    def leaks(self) -> np.ndarray:
        """Whether a state or logit before the texts part differs by more than rounding, [pair]."""
        found: np.ndarray = (self.apart["before"] > self.allowed).any(1) & self.usable
        return found

    @property
    def sees(self) -> np.ndarray:
        """Whether the test could have seen anything: states and logits after the texts part differ, [pair]."""
        after = self.apart["after"]
        found: np.ndarray = ((after > self.allowed) | np.isnan(after)).all(1) & self.usable
        return found


def conclude(rows: Rows, settings: CausalSettings) -> Finding:
    """The finding of `causal`."""
    found = Differences.of(rows, settings)
    figures = _figures(found)
    verdict, sentence = _verdict(found, figures)
    return Finding(
        figures, verdict, sentence, _shows(found, figures, settings), _does_not_show(found), _tables(found),
        {"layers": _chart(found)},
    )  # fmt: skip


def _figures(found: Differences) -> dict[str, Figure]:
    """All figures of `causal`."""
    pairs, usable = len(found.usable), int(found.usable.sum())
    figures = {
        "causal.pairs": Figure(pairs, None, pairs, "pairs of texts"),
        "causal.usable": Figure(usable, None, pairs, "pairs with tokens before the point where they part, and after"),
        "causal.same_length": Figure(
            int((found.same_length & found.usable).sum()), None, usable,
            "usable pairs whose texts have as many tokens",
        ),
        "causal.leaking": Figure(
            int(found.leaks.sum()), None, usable, "pairs that differ before they part, by more than rounding"
        ),
        "causal.seeing": Figure(int(found.sees.sum()), None, usable, "pairs that differ in every layer from there on"),
    }  # fmt: skip
    for when in WHEN:
        deciding = np.fmax(_largest(found.states[when], found), _largest(found.logits[when], found))
        figures[f"causal.largest_{when}"] = Figure(
            float(deciding), None, usable, f"largest difference of any state or logit {WHEN_WORDS[when]}"
        )
        for name, values in (("weights", found.weights), ("states", found.states), ("logits", found.logits)):
            says = f"largest difference of any {name[:-1]} {WHEN_WORDS[when]}, over pairs, layers and heads"
            figures[f"causal.{name}.largest_{when}"] = Figure(float(_largest(values[when], found)), None, usable, says)
    return figures | _figures_of_layers(found, usable)


def _figures_of_layers(found: Differences, usable: int) -> dict[str, Figure]:
    """Each layer's largest differences."""
    figures = {}
    for when in WHEN:
        for layer in range(found.states[when].shape[1]):
            value = float(_largest(found.states[when][:, layer], found))
            says = f"largest difference of any state after layer {layer}, {WHEN_WORDS[when]}"
            figures[f"causal.layer{layer}.states_{when}"] = Figure(value, None, usable, says)
        for place, number in enumerate(found.layers):
            value = float(_largest(found.weights[when][:, place], found))
            says = f"largest difference of any weight in layer {number}, {WHEN_WORDS[when]}"
            figures[f"causal.layer{number}.weights_{when}"] = Figure(value, None, usable, says)
            for head in range(found.weights[when].shape[2]):
                value = float(_largest(found.weights[when][:, place, head], found))
                says = f"largest difference of any weight in layer {number} head {head}, {WHEN_WORDS[when]}"
                figures[f"causal.layer{number}.head{head}.weights_{when}"] = Figure(value, None, usable, says)
    return figures


def _largest(values: np.ndarray, found: Differences) -> np.floating:
    """The largest of the usable pairs' values; NaN where there is none."""
    known = values[found.usable]
    known = known[~np.isnan(known)]
    return known.max() if known.size else np.float64(np.nan)


def _verdict(found: Differences, figures: dict[str, Figure]) -> tuple[str, str]:
    """Causal, not causal, or cannot tell; states and logits decide, since the mask itself makes weights 0."""
    before, after = (value_words(figures[f"causal.largest_{when}"].value) for when in WHEN)
    if not found.usable.any():
        return (
            "cannot tell",
            "No pair has tokens before the point where its texts part, so there is nothing to compare.",
        )
    if found.leaks.any():
        where = f"states or logits before the texts part differ by up to {before}, in {int(found.leaks.sum())} pairs"
        if found.looks_ahead.any():
            return "not causal, as built", f"Words see later words, as the layers' own masks allow: {where}."
        return "not causal", f"Words see later words although the masks forbid it: {where}."
    if not found.sees.any():
        return "cannot tell", (
            "Nothing differs in every layer after the texts part either, so the test could not have seen anything."
        )
    return (
        "causal",
        "No word sees a later one: before the texts part nothing differs by more than rounding, and up to "
        f"{after} from there on.",
    )


def _shows(found: Differences, figures: dict[str, Figure], settings: CausalSettings) -> list[str]:
    """What was found."""
    usable = int(found.usable.sum())
    if not usable:
        return [f"None of {len(found.usable)} pairs can be used."]
    states = found.states["before"].shape[1]
    lines = [
        f"In {usable} pairs, {states} layers ({len(found.layers)} of them with attention): largest difference before "
        f"the texts part: states {value_words(figures['causal.states.largest_before'].value)}, "
        f"logits {value_words(figures['causal.logits.largest_before'].value)}, "
        f"weights {value_words(figures['causal.weights.largest_before'].value)}.",
        f"Control, from there on: states {value_words(figures['causal.states.largest_after'].value)}, "
        f"logits {value_words(figures['causal.logits.largest_after'].value)}, "
        f"weights {value_words(figures['causal.weights.largest_after'].value)} (0 would be blind).",
    ]  # fmt: skip
    lines.append(_rounding(found, settings))
    return lines


def _rounding(found: Differences, settings: CausalSettings) -> str:
    """How far rounding went, and the smallest leak that would have been seen."""
    before, allowed = found.apart["before"][found.usable], found.allowed[found.usable]
    quiet = before[before <= allowed]
    largest = float(quiet.max()) if quiet.size else 0.0
    return (
        f"By the size of a token's vector, a difference up to {np.nanmin(allowed):.1g} to {np.nanmax(allowed):.1g}, by "
        f"layer, counts as rounding: {settings.roundings:g} times what is left there of one rounding of the word "
        f"vectors. Such differences reach {largest:.1g} before the texts part; a smaller leak would not be seen."
    )


def _does_not_show(found: Differences) -> list[str]:
    """What does not follow."""
    lines = [
        "That weights before are equal proves nothing by itself: the mask makes them so. States and logits decide.",
        "What happens in texts that are longer than these, or with a cache.",
    ]
    if np.isnan(found.logits["after"]).all():
        lines.append("Anything about logits: the model gives none for each token.")
    return lines


def _tables(found: Differences) -> dict[str, Table]:
    """Each layer's largest differences."""
    places = {int(number): place for place, number in enumerate(found.layers)}

    def of_layer(layer: int) -> list[float | int | None]:
        weights = [
            float(_largest(found.weights[when][:, places[layer]], found)) if layer in places else None for when in WHEN
        ]
        states = [float(_largest(found.states[when][:, layer], found)) for when in WHEN]
        return [layer, *weights, *states]

    return {
        "layers": Table(
            "Largest differences by layer",
            ("layer", "weights before", "weights after", "states before", "states after"),
            [of_layer(layer) for layer in range(found.states["before"].shape[1])],
            "layers without attention have no weights",
        )
    }


def _chart(found: Differences) -> Chart:
    """States before and after, by layer."""

    def draw(axes: Axes) -> None:
        from heedmap.drawing.palette import BLUE_LINE, ORANGE, QUIET

        for when, colour in (("after", BLUE_LINE), ("before", ORANGE)):
            layers = range(found.states[when].shape[1])
            values = [float(_largest(found.states[when][:, layer], found)) for layer in layers]
            axes.plot(layers, values, "o-", color=colour, markersize=3.5, linewidth=1, label=WHEN_WORDS[when])
        axes.set_yscale("symlog", linthresh=1e-6)
        axes.set_xlabel("layer", color=QUIET, fontsize=9)
        axes.set_ylabel("largest difference of a state", color=QUIET, fontsize=9)
        axes.legend(frameon=False, fontsize=8)

    says = "Largest difference of any hidden state after each layer, before the two texts part and from there on."
    return Chart("Does a word see later words?", draw, says)
