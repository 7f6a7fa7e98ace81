"""The experiments there are, by name; each is imported only when it is used."""

from __future__ import annotations

import importlib
from typing import cast

from heedmap.errors import OutOfRange
from heedmap.lab.experiment import Experiment

EXPERIMENTS: dict[str, tuple[str, str]] = {
    "sink": ("heedmap.lab.sink:Sink", "How much of the attention goes to the first token?"),
    "causal": ("heedmap.lab.causal:Causal", "Does a word see later words?"),
    "reference": ("heedmap.lab.reference:Reference", "Does the model know which noun a pronoun means?"),
    "heads": ("heedmap.lab.heads:Heads", "Is there a head in which the word looks at one noun rather than the other?"),
    "roles": ("heedmap.lab.roles:Roles", "Which heads look at the token before, or at where a token stood before?"),
    "matters": ("heedmap.lab.matters:Matters", "Is a head a reason for the answer, and do weights tell?"),
    "compare": ("heedmap.lab.compare:Compare", "Where do two texts, revisions or models differ beyond chance?"),
    "cost": ("heedmap.lab.cost:Cost", "What does a long prompt cost, and does it grow as predicted?"),
    "dilution": ("heedmap.lab.dilution:Dilution", "What becomes of a fact as irrelevant text grows around it?"),
    "picture": (
        "heedmap.lab.picture:Picture",
        "What does the lesson's picture of one pair show, and what would have to be tested?",
    ),
}
"""Name → where its class is ("module:Class"), and the question it answers, in one line."""

OF_THE_LESSON = ("sink", "causal", "reference", "heads")
"""What `heedmap lab all` runs."""


def experiment(name: str) -> Experiment:
    """The experiment of a name.

    Raises:
        OutOfRange: there is none; the message lists those there are.
    """
    if name not in EXPERIMENTS:
        raise OutOfRange(f"there is no experiment {name!r}: there are {', '.join(EXPERIMENTS)}")
    module, _, kind = EXPERIMENTS[name][0].partition(":")
    return cast(Experiment, getattr(importlib.import_module(module), kind)())
