"""The same documents in other orders."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedmap.errors import OutOfRange, TextError
from heedmap.text.ranges import NamedSpan
from heedmap.text.reorder import chosen, orders, reorder, whole_range

TEXT = "Read: [one] and [three] or [fifteen]. Which?"
DOCUMENTS = [(7, 10), (17, 22), (28, 35)]


def test_what_stands_between_stays_in_its_place() -> None:
    assert reorder(TEXT, DOCUMENTS, [2, 0, 1]).text == "Read: [fifteen] and [one] or [three]. Which?"
    assert reorder(TEXT, DOCUMENTS, [0, 1, 2]).text == TEXT


def test_spans_are_followed() -> None:
    moved = reorder(TEXT, DOCUMENTS, [2, 0, 1])
    for start, end in [*DOCUMENTS, (0, 4), (38, 44), (18, 20), (11, 16)]:
        new = moved.moved(NamedSpan("x", ((start, end),))).ranges[0]
        assert moved.text[slice(*new)] == TEXT[start:end]
    with pytest.raises(TextError, match=r"'x' \(8:12\) begins in one of the documents and ends outside of it"):
        moved.moved(NamedSpan("x", ((8, 12),)))


@given(st.lists(st.text("ab", min_size=1, max_size=4), min_size=2, max_size=5), st.data())
def test_any_order_can_be_undone(documents: list[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(documents))))
    text, spans, position = "<", [], 1
    for document in documents:
        spans.append((position, position + len(document)))
        text += document + ";"
        position = len(text)
    moved = reorder(text, spans, order)
    assert moved.text == "<" + "".join(f"{documents[number]};" for number in order)
    for number, span in enumerate(spans):
        start, end = moved.moved(NamedSpan("d", (span,))).ranges[0]
        assert moved.text[start:end] == documents[number]


def test_the_cyclic_shifts_put_each_document_once_in_each_place() -> None:
    found = orders(5, None, 0)
    assert found[0] == (0, 1, 2, 3, 4)
    assert all(sorted(column) == [0, 1, 2, 3, 4] for column in zip(*found, strict=True))


def test_random_orders_begin_with_the_own_one_and_never_repeat() -> None:
    found = orders(12, 40, 7)
    assert found[0] == tuple(range(12))
    assert len(set(found)) == len(found) == 40
    assert found == orders(12, 40, 7)
    assert found != orders(12, 40, 8)
    assert sorted(orders(3, 100, 0)) == sorted(permutations(range(3)))


def test_too_few() -> None:
    with pytest.raises(OutOfRange, match="1 document cannot be reordered: name two or more"):
        orders(1, None, 0)
    with pytest.raises(OutOfRange, match="1 order says nothing about places"):
        orders(3, 1, 0)


def test_documents_are_chosen_by_name() -> None:
    spans = [NamedSpan("a", ((0, 1),)), NamedSpan("b", ((2, 3),))]
    assert chosen(spans, ["b"]) == [spans[1]]
    with pytest.raises(TextError, match="no part is called 'c', so it cannot be reordered; there are: a, b"):
        chosen(spans, ["c"])
    with pytest.raises(TextError, match="is cut in two by another span"):
        whole_range(NamedSpan("a", ((0, 1), (2, 3))))
