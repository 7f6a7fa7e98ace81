"""Holding things within a bound, against a plain list of what was used when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heedmap.server.held import Held

STEPS = st.lists(st.tuples(st.sampled_from(["put", "get", "drop"]), st.sampled_from("abcde"), st.integers(1, 9)))


@given(STEPS, st.integers(1, 20))
def test_the_longest_unused_go_first(steps: list[tuple[str, str, int]], bound: int) -> None:
    held, expected = Held[str](bound), list[tuple[str, int]]()
    for does, name, weight in steps:
        here = next((one for one in expected if one[0] == name), None)
        if does == "put":
            expected = [one for one in expected if one[0] != name] + [(name, weight)]
            gone = held.put(name, name.upper(), weight)
            before = [one[0] for one in expected]
            while len(expected) > 1 and sum(one[1] for one in expected) > bound:
                expected.pop(0)
            assert gone == before[: len(before) - len(expected)]
        elif does == "get":
            assert held.get(name) == (name.upper() if here else None)
            if here:
                expected = [one for one in expected if one[0] != name] + [here]
        else:
            assert held.drop(name) is (here is not None)
            expected = [one for one in expected if one[0] != name]
        assert held.weight == sum(one[1] for one in expected)
