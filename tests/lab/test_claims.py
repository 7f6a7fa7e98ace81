"""Claims: the grammar, what is met, and what is refused."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from heedmap.errors import ClaimError
from heedmap.lab.claims import COMPARISONS, check_claim, parse_claim, refuse_unknown
from heedmap.lab.experiment import Figure

FIGURES = {
    "sink.median": Figure(0.5, (0.4, 0.6), 20),
    "sink.even.median": Figure(0.1, None, 20),
    "sink.follows": Figure("place"),
    "sink.absent": Figure(None),
    "sink.nan": Figure(float("nan")),
    "causal.looks_ahead": Figure(True),
    "causal.largest_before": Figure(0.0),
    "heads.best": Figure("L16H3", searched=True),
}
VERDICTS = {"sink": "sink", "causal": "not causal, as built"}
KNOWN = {"sink", "no sink", "cannot tell", "causal", "not causal", "not causal, as built"}


def is_met(claim: str) -> bool:
    return all(outcome.met for outcome in check_claim(parse_claim(claim), FIGURES, VERDICTS, KNOWN))


@pytest.mark.parametrize(
    "claim",
    [
        "sink",
        "sink and causal.looks_ahead",
        "sink.median > 0.4",
        "sink.median>0.4",
        "0.4<sink.median and sink.median<0.6",
        "sink.median > sink.even.median",
        "sink.median.low >= 0.4 and sink.median.high <= 0.6 and sink.median.n == 20",
        "causal.largest_before == 0",
        "causal.looks_ahead == true",
        "sink.follows == place",
        "heads.best == L16H3",
        "sink.follows != word",
        "  sink   and   sink.median > -1e3 ",
        "not causal, as built",
        "not causal and sink",
    ],
)
def test_claims_that_are_met(claim: str) -> None:
    assert is_met(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "causal",
        "no sink",
        "cannot tell",
        "sink and causal",
        "sink.median > 0.6",
        "sink.median.low > 0.4",
        "sink.follows == word",
        "causal.looks_ahead == false",
        "sink.absent > 0",
        "sink.absent == 0",
        "sink.absent != 0",
        "sink.nan > 0",
        "sink.nan < 0",
        "sink.follows == 1",
    ],
)
def test_claims_that_are_not_met(claim: str) -> None:
    assert not is_met(claim)


@given(some.floats(-1, 1), some.sampled_from(sorted(COMPARISONS)), some.floats(-1, 1))
def test_comparisons_are_those_of_numbers(one: float, comparison: str, other: float) -> None:
    found = check_claim(parse_claim(f"x.y {comparison} {other!r}"), {"x.y": Figure(one)}, {}, set())[0]
    meanings: dict[str, Any] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    meanings |= {"==": operator.eq, "!=": operator.ne}
    assert found.met == meanings[comparison](one, other)
    assert "x.y is " in found.found


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("", "cannot be read at ''"),
        ("sink and", "cannot be read at 'sink and'|there is no figure 'sink and'"),
        ("sink.median >", "cannot be read at 'sink.median >'"),
        ("> 0.4", "cannot be read at '> 0.4'"),
        ("0.4", "has a number alone: compare it with a figure"),
        ("0 < sink.median < 1", "compares three things in '0 < sink.median < 1': join two comparisons by and"),
        ("sink.median => 0.4", "cannot be read"),
        ("sink; rm -rf", "cannot be read"),
        ("sink.median > nan and 3", "has a number alone"),
    ],
)
def test_what_is_no_claim_is_refused(claim: str, message: str) -> None:
    with pytest.raises(ClaimError, match=message):
        is_met(claim)


def test_an_unknown_figure_lists_those_there_are() -> None:
    with pytest.raises(ClaimError) as error:
        is_met("sink.meidan > 0.4")
    assert "there is no figure 'sink.meidan'; did you mean sink.median" in str(error.value)
    assert ", ".join(FIGURES) in str(error.value)


def test_figures_of_single_heads_are_not_listed() -> None:
    """A report of 30 layers has hundreds, in which the others would not be found."""
    many = {f"sink.layer{layer}.head{head}.median": Figure(0.1) for layer in range(30) for head in range(9)}
    with pytest.raises(ClaimError, match=r"The figures: sink.median, and those of single layers, heads or lengths"):
        check_claim(parse_claim("sink.medium > 0.4"), {"sink.median": Figure(0.5), **many}, VERDICTS, KNOWN)


CAN_BE = ["sink.median", "sink.follows", "sink.layer*.median"]


@pytest.mark.parametrize(
    "claim",
    [
        "sink",
        "sink.median > 0.4",
        "0.4 < sink.layer7.median.low",
        "sink.follows == place",
        "sink.median.n != 3 and sink",
    ],
)
def test_what_a_report_can_have_is_not_refused_beforehand(claim: str) -> None:
    refuse_unknown(parse_claim(claim), CAN_BE, {"sink"})


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("sinks", "sinks"),
        ("sink and sink.medain > 0.4", "sink.medain"),
        ("0.4 < sink.layer7.mean", "sink.layer7.mean"),
        ("sink.median.middle > 0", "sink.median.middle"),
        ("sink.follows == sink.place", "sink.place"),
        ("place < sink.median", "place"),
    ],
)
def test_what_no_report_can_have_is_refused_beforehand(claim: str, name: str) -> None:
    with pytest.raises(ClaimError, match=rf"there is no figure '{name}'.* The figures: sink.median, sink.follows, and"):
        refuse_unknown(parse_claim(claim), CAN_BE, {"sink"})


@pytest.mark.parametrize("claim", ["casual", "sinks"])
def test_an_unknown_verdict_is_no_claim_that_is_not_met(claim: str) -> None:
    with pytest.raises(ClaimError, match=r"did you mean .*The figures: .*the verdicts: cannot tell, causal"):
        is_met(claim)


def test_what_cannot_be_compared_says_why() -> None:
    with pytest.raises(ClaimError, match="neither more nor less: compare it by == or !="):
        is_met("sink.follows > 0.4")
    with pytest.raises(ClaimError, match=r"sink\.even\.median has no interval"):
        is_met("sink.even.median.low > 0")
    with pytest.raises(ClaimError, match=r"sink\.median is 0\.500, not true or false: compare it with a number"):
        is_met("sink.median")


def test_infinity_is_no_number_of_a_claim() -> None:
    with pytest.raises(ClaimError):
        is_met(f"sink.median < {math.inf}")
