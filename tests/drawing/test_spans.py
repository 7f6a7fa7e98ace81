"""The table of parts: what it says, in any width and encoding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from heedmap.drawing.spans import headline, span_layers, spans_table, strongest_heads
from heedmap.reading.model import Model
from heedmap.reading.span_shares import LayerShares
from heedmap.reading.spans import SpanShares
from heedmap.text.asking import Asking
from tests.drawing.making import HARD, acting_characters, printed
from tests.drawing.span_making import shares_of


def with_shares(shares: SpanShares, values: list[float], seen: list[float] | None = None) -> SpanShares:
    """One layer and head with these shares of first, the parts and the rest."""
    some, counts = np.array([values]), np.array([seen or [1.0, *[3.0] * (len(values) - 1)]])
    others = np.where(np.arange(len(values)) == 0, 0, counts)
    ordinary = (1 - some[:, :1]) * others / max(others.sum(), 1)
    return replace(shares, layers=(LayerShares(0, some, ordinary, counts, np.zeros(1)),))


TWO = shares_of(["doc1", "doc2"])


def test_the_table_as_it_is_printed() -> None:
    lines = printed(spans_table(with_shares(TWO, [0.5, 0.1, 0.3, 0.1])), 80)
    assert lines[:9] == [
        "From its last token, mine looks most at “doc2” (0.60 of what the first token ",
        "leaves, 1.8 times an ordinary share).",
        "",
        "part             tokens  share  of left  a token  times",
        "doc2                  3  0.300    0.600   0.1000    1.8  ███████████████████████",
        "doc1                  3  0.100    0.200   0.0333    0.6  ███████▋",
        "rest                  3  0.100    0.200   0.0333    0.6  ███████▋",
        "first token “x”       1  0.500        -   0.5000      -  ███████████▌",
        "all                  10  1.000",
    ]
    assert "layer 0, mean over 1 heads; from its last token" in lines
    assert any(line.startswith("This does not show what is done with what is looked at") for line in lines)


@pytest.mark.parametrize(
    ("values", "seen", "sentence"),
    [
        ([1.0, 0, 0, 0], [1, 0, 0, 0], "mine can look at nothing but the first token: what that leaves is undefined."),
        ([0.9, 0, 0, 0.1], [1, 0, 0, 3], "mine can look at none of the named parts."),
        (
            [0.999995, 2e-6, 2e-6, 1e-6],
            None,
            "mine looks at the first token alone: what that leaves is too little to be shared out.",
        ),
        ([np.nan] * 4, None, "the shares of mine are not numbers (nan): there is nothing to compare."),
        (
            [0.2, 0.2, 0.4, 0.2],
            None,
            "mine looks most at “doc2” (0.50 of what the first token leaves, 1.5 times an ordinary share).",
        ),
    ],
)
def test_the_sentence(values: list[float], seen: list[float] | None, sentence: str) -> None:
    assert headline(with_shares(TWO, values, seen)) == f"From its last token, {sentence}"


def test_the_part_that_asks_is_named_and_another_beside_it() -> None:
    asking = shares_of(["doc1", "question"], asking=5)
    sentence = headline(with_shares(asking, [0.2, 0.24, 0.46, 0.1]))
    assert sentence.endswith(
        "times an ordinary share), the part it asks from; of the others at “doc1” (0.30, 0.9 times)."
    )
    text = "\n".join(printed(spans_table(with_shares(asking, [0.2, 0.24, 0.46, 0.1])), 200))
    assert "its last token stands in “question”, which gains by being near" in text


def test_every_token_asking_is_said() -> None:
    everyone = replace(TWO, asking=Asking("all its tokens", tuple(range(10))))
    text = "\n".join(printed(spans_table(everyone), 200))
    assert "from all its tokens (mean over 10 rows)" in text
    assert "every token is asked, and each looks much at what is near" in text


def test_what_counts_where_is_said(smollm2: Model) -> None:
    text = "The four cats sat <|im_end|> here"
    shares = smollm2.spans(text, {"a": (0, 6), "b": (6, len(text))}, layers=4)
    said = "\n".join(printed(spans_table(shares), 200))
    assert "is kept apart and not counted in “a”, which holds it" in said
    assert "token 1 (four) lies in “a” and “b”: it counts in “a” alone" in said
    assert "special tokens have a line of their own: <|im_end|>, also those in b" in said
    many = "".join(f"word{number} " for number in range(9))
    cuts = {str(number): (6 * number + 2, 6 * number + 8) for number in range(8)}
    said = "\n".join(printed(spans_table(smollm2.spans(many, cuts, layers=4)), 200))
    assert "more tokens are cut by the ends of parts, and count where most of each lies" in said


def test_absent_and_undefined_are_dashes_with_a_reason() -> None:
    said = "\n".join(printed(spans_table(with_shares(TWO, [0.9, 0.1, 0, 0], [1, 3, 0, 0])), 200))
    assert "- as a share: cannot be looked at from there" in said
    said = "\n".join(printed(spans_table(with_shares(TWO, [0.999995, 2e-6, 2e-6, 1e-6])), 200))
    assert "- as a part of what is left: undefined, since next to nothing is left" in said
    assert "nan" not in said


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [20, 40, 80, 150])
def test_names_of_all_kinds_in_any_width(width: int, encoding: str) -> None:
    names = list(dict.fromkeys(name for name in HARD if name.strip()))
    shares = shares_of(names)
    for picture in (spans_table(shares), span_layers(shares)):
        lines = printed(picture, width, encoding)
        assert all(cell_len(line) <= width for line in lines)
        assert not acting_characters("".join(lines))
    for line in strongest_heads(shares):
        assert not acting_characters(line)


def test_layer_by_layer() -> None:
    shares = shares_of(["doc1", "doc2"], layers=3)
    lines = printed(span_layers(shares, head=1), 100)
    assert lines[0] == "share of each part, layer by layer: head 1"
    assert lines[2].split()[:5] == ["layer", "doc1", "a", "token", "doc2"]
    assert lines[4].split()[1] == f"{shares.share('doc1', 1, 1).share:.3f}"


def test_the_strongest_heads() -> None:
    shares = shares_of(["doc1", "doc2"], layers=4, heads=3)
    best = max(
        ((layer, head) for layer in range(4) for head in range(3)), key=lambda at: shares.share("doc2", *at).times or 0
    )
    line = shares.share("doc2", *best)
    assert strongest_heads(shares)[1].startswith(
        f"doc2: layer {best[0]} head {best[1]} ({line.times:.1f} times, {line.share:.3f}), layer"
    )
    hidden = with_shares(TWO, [1.0, 0, 0, 0], [1, 0, 0, 0])
    assert strongest_heads(hidden)[0] == "doc1: no head can look at it"
