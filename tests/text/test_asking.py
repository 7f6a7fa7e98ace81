"""Who looks: last, all, a word, a range."""

from __future__ import annotations

import pytest

from heedmap.errors import AmbiguousWord, OutOfRange, TextError, WordNotFound
from heedmap.text.asking import asking
from tests.text.spans_making import framed, tokens_of

CAT = tokens_of("The cat sat at last on the mat")


@pytest.mark.parametrize(
    ("of", "name", "tokens"),
    [
        ("last", "its last token", (7,)),
        ("last#1", "“last”", (4,)),
        ("all", "all its tokens", (0, 1, 2, 3, 4, 5, 6, 7)),
        ("cat", "“cat”", (1,)),
        ("@2", "“sat”", (2,)),
        ("4:11", "characters 4:11", (1, 2)),
        ("tok:6:", "tokens 6:8", (6, 7)),
    ],
)
def test_who_looks(of: str, name: str, tokens: tuple[int, ...]) -> None:
    who = asking(CAT, of)
    assert (who.name, who.tokens) == (name, tokens)


def test_the_last_token_may_be_a_special_one() -> None:
    assert asking(framed("The cat"), "last").tokens == (3,)


def test_who_is_not_there() -> None:
    with pytest.raises(WordNotFound, match="dog"):
        asking(CAT, "dog")
    with pytest.raises(AmbiguousWord, match="stands 2 times"):
        asking(tokens_of("a b a"), "a")
    with pytest.raises(OutOfRange, match="reaches outside the text"):
        asking(CAT, "0:99")
    with pytest.raises(TextError, match="is empty"):
        asking(CAT, "5:5")
