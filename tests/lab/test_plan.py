"""The plan of a run: every item once, in batches that depend on nothing but the items."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as some

from heedmap.errors import DataError, OutOfRange
from heedmap.lab.experiment import Item
from heedmap.lab.plan import LIKE_LENGTH, SHORT, Part, Shard, differences, items_sha256, make_part
from tests.lab.making import Toy, ToySettings


def part_of(lengths: list[int], batch_size: int) -> Part:
    items = [Item(f"{number}", length, f"text {number}") for number, length in enumerate(lengths)]
    return make_part(Toy(), ToySettings(), items, batch_size)


lengths = some.lists(some.integers(1, 2000), min_size=1, max_size=60)


@given(lengths, some.integers(1, 9))
def test_batches_hold_every_item_once_and_like_lengths_alone(of: list[int], batch_size: int) -> None:
    part = part_of(of, batch_size)
    assert sorted(place for batch in part.batches for place in batch) == list(range(len(of)))
    for batch in part.batches:
        assert len(batch) <= batch_size
        inside = [of[place] for place in batch]
        assert max(inside) <= max(min(inside) * LIKE_LENGTH, SHORT)


@given(lengths, some.integers(1, 9), some.integers(1, 7))
def test_shards_share_out_the_batches_of_the_whole(of: list[int], batch_size: int, shards: int) -> None:
    part = part_of(of, batch_size)
    whole = [[item.id for item in batch] for batch in part.of_shard(Shard())]
    shared = [
        [item.id for item in batch] for number in range(1, shards + 1) for batch in part.of_shard(Shard(number, shards))
    ]
    assert sorted(shared) == sorted(whole)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(OutOfRange, match="give NUMBER/OF such as 1/4"):
        Shard.parse(text)


def test_items_must_be_there_and_differ() -> None:
    with pytest.raises(DataError, match="hold nothing that toy can measure"):
        make_part(Toy(), ToySettings(), [], 8)
    with pytest.raises(DataError, match="two items have the id 'a'"):
        make_part(Toy(), ToySettings(), [Item("a", 1, "x"), Item("a", 2, "y")], 8)
    with pytest.raises(OutOfRange, match="a batch of 0 items"):
        make_part(Toy(), ToySettings(), [Item("a", 1, "x")], 0)


@dataclass(frozen=True)
class Content:
    text: str
    answers: tuple[int, int]


def test_the_hash_is_that_of_ids_and_contents() -> None:
    one = [Item("a", 1, Content("x", (0, 1))), Item("b", 1, Content("y", (1, 0)))]
    assert items_sha256(one) == items_sha256([one[1], one[0]])
    for other in (Content("z", (0, 1)), Content("x", (1, 1))):
        assert items_sha256([Item("a", 1, other), one[1]]) != items_sha256(one)
    assert items_sha256([Item("c", 1, one[0].content), one[1]]) != items_sha256(one)


def test_differences_are_told_by_path() -> None:
    assert differences({"a": {"b": 1, "c": [2]}}, {"a": {"b": 1, "c": [2]}}) == []
    assert differences({"a": {"b": 1}, "x": 1}, {"a": {"b": 2, "d": None}}) == [
        "a.b was 1 and is 2",
        "x was 1 and is None",
    ]
