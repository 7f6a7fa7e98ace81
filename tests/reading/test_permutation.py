"""Running documents in several orders on a real model."""

from __future__ import annotations

import numpy as np
import pytest

from heedmap.errors import OutOfRange, TextError
from heedmap.reading.model import Model
from heedmap.reading.permutation import plan_permutation
from tests.conftest import ROUNDING

ONE, TWO, THREE = "The harbour has two piers.", "Bread rests for an hour.", "The tram leaves at ten."
TEXT = f"Read this.\n### Doc\n{ONE}\n### Doc\n{TWO}\n### Doc\n{THREE}\nQuestion: how long does bread rest? Answer:"
QUESTION = TEXT.index("Question")


def test_each_order_is_the_measurement_of_that_text(smollm2: Model) -> None:
    spans = {"question": (QUESTION, len(TEXT))}
    plan = plan_permutation(smollm2, TEXT, spans, split="### Doc")
    assert [span.name for span in plan.documents] == ["Doc 1", "Doc 2", "Doc 3"]
    assert plan.orders == ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    seen: list[tuple[int, int, str]] = []
    found = plan.run(layers=[3, 20], progress=lambda *state: seen.append(state))
    assert seen == [(done, 3, "orders") for done in range(4)]
    documents = [ONE, TWO, THREE]
    for run, order in enumerate(found.orders):
        text = "Read this.\n" + "".join(f"### Doc\n{documents[number]}\n" for number in order) + TEXT[QUESTION:]
        at = text.index("Question")
        shares = smollm2.spans(text, {"question": (at, len(text))}, split="### Doc", layers=[3, 20])
        for place, number in enumerate(order):
            line = shares.share(f"Doc {place + 1}")
            assert found.times[run, number] == pytest.approx(line.times, rel=1e-4)
            assert found.of_left[run, number] == pytest.approx(line.of_left, rel=1e-4)
    assert found.own.share("question").times is not None


def test_identical_documents_differ_by_nothing_but_place(smollm2: Model) -> None:
    text = "Read.\n" + "### Doc\nBread rests for an hour.\n" * 3 + "Question: how long? Answer:"
    at = text.index("Question")
    found = plan_permutation(smollm2, text, {"question": (at, len(text))}, split="### Doc").run()
    # The same text in every order: each place gives the same, whoever stands there.
    table = found.in_place(found.times)
    np.testing.assert_allclose(table, np.broadcast_to(table[0], table.shape), rtol=1e-5)
    owed = found.owed()
    assert owed is not None
    assert owed.place == pytest.approx(1, abs=ROUNDING)
    assert owed.document == pytest.approx(0, abs=ROUNDING)
    np.testing.assert_allclose(found.times.mean(0), found.times.mean(), rtol=1e-5)


def test_who_looks_moves_with_the_text(smollm2: Model) -> None:
    plan = plan_permutation(smollm2, TEXT, {"question": (QUESTION, len(TEXT))}, split="### Doc", of="rest", runs=3)
    found = plan.run(layers=5)
    assert found.own.asking.name == "“rest”"
    assert len(found.orders) == 3
    with pytest.raises(TextError, match=r"from “hour” 'Doc \d' cannot be looked at in every order"):
        plan_permutation(smollm2, TEXT, split="### Doc", of="hour").run(layers=5)


def test_the_documents_may_be_some_of_the_spans_or_ranges_of_tokens(minilm: Model) -> None:
    text = "Look at: red apples, green pears, blue plums. What is red?"
    tokens = minilm.tokenize(text)
    found_words = [tokens.find(words).tokens for words in ("red apples", "green pears", "blue plums")]
    spans = {name: f"tok:{one[0]}:{one[-1] + 1}" for name, one in zip("abc", found_words, strict=True)}
    everything = plan_permutation(minilm, text, spans, of="all")
    assert [span.name for span in everything.documents] == ["a", "b", "c"]
    some = plan_permutation(minilm, text, spans, documents=["c", "a"], of="all")
    assert [span.name for span in some.documents] == ["a", "c"]
    found = some.run()
    assert found.orders == ((0, 1), (1, 0))
    swapped = minilm.spans(
        "Look at: blue plums, green pears, red apples. What is red?", {"a": (34, 44), "c": (9, 19)}, of="all"
    )
    assert found.times[1, 0] == pytest.approx(swapped.share("a").times, rel=1e-4)


def test_what_cannot_be_reordered(smollm2: Model) -> None:
    with pytest.raises(OutOfRange, match="1 document cannot be reordered"):
        plan_permutation(smollm2, TEXT, {"a": (0, 10)})
    with pytest.raises(TextError, match="no part is called 'z'"):
        plan_permutation(smollm2, TEXT, {"a": (0, 10), "b": (11, 20)}, documents=["z"])
    with pytest.raises(TextError, match="overlap"):
        plan_permutation(smollm2, TEXT, {"a": (0, 10), "b": (9, 20)})
    middle = (TEXT.index("rests"), TEXT.index("rests") + 5)
    with pytest.raises(TextError, match="is cut in two by another span, so it cannot change places"):
        plan_permutation(smollm2, TEXT, {"a": middle}, split="### Doc")
