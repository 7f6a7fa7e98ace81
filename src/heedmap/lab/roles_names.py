"""The roles that heads are scored for, in words."""

from __future__ import annotations

ROLES = {
    "previous": "looks at the token before",
    "first": "looks at the first token",
    "self": "looks at the token itself",
    "duplicate": "looks at the same token where it stood before",
    "induction": "looks at the token that followed the same token before",
}
"""Each role's name in figures, and what such a head does.

Previous-token and induction heads: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et
al. 2022, "In-context Learning and Induction Heads". Duplicate-token heads: Wang et al. 2022, "Interpretability in the
Wild". A score is the mean share that a head gives to that one token, over the second half of the sequence.
"""

OF_REPETITION = ("duplicate", "induction")
"""The roles that there are only where something repeats: a sequence that does not is their chance."""

INDUCTION, NO_INDUCTION, CANNOT_TELL = "induction heads", "no induction heads", "cannot tell"
VERDICTS = (INDUCTION, NO_INDUCTION, CANNOT_TELL)

LEAST_SEQUENCES = 6
"""Sequences below which nothing is decided: six signs that agree have a chance of 1 in 32."""
