"""Damage: bytes that are cut and flipped, JSON whose values are replaced by hostile ones, texts of every kind.

And no damage: the same value written in another way, which must be answered as the first.
"""

from __future__ import annotations

import copy
import json
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

NUMBERS = (0, 1, 2, 7, 8, 127, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1)
"""Sizes and counts that headers lie with."""

LEAVES = (
    *("null", "true", "false", "0", "-0", "-1", "1", "2", "0.5", "-1e-9", "1e30", "1e308", "NaN", "Infinity"),
    *("-Infinity", "2147483648", "9223372036854775807", "1e19", "9" * 400, "9" * 5000, "[]", "{}", "[[]]", "[null]"),
    *('""', '" "', '"0"', '"nan"', r'"\ud800"', r'"\u0000"', r'"\u202e\u2066"', '"../../etc/passwd"', '"/dev/zero"'),
    *('"</script>"', '"' + "a" * 70_000 + '"', "[" * 2000 + "]" * 2000, "{", '"', "[1, 2, 3]", '{"a": {"b": [0]}}'),
)
"""What is put in the place of a value, as JSON text; some of it is none."""

_MARK = "@@hostile@@"
_Path = tuple[str | int, ...]


def with_sound(sound: SearchStrategy[Any], damaged: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Cases of which about one in three is sound."""
    return st.sampled_from((True, False, False)).flatmap(lambda chosen: sound if chosen else damaged)


def told_apart(sound: SearchStrategy[Any], damaged: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, bool]]:
    """The same, each with whether it is sound."""
    return with_sound(sound.map(lambda case: (case, True)), damaged.map(lambda case: (case, False)))


@st.composite
def damaged(draw: DrawFn, content: bytes, header: int = 200) -> bytes:
    """Bytes with one to four damages, half of them within the first `header` bytes."""
    data = content
    for _ in range(draw(st.integers(1, 4))):
        last = max(len(data) - 1, 0)
        place = draw(st.integers(0, min(header, last)) | st.integers(0, last))
        kind = draw(st.sampled_from(("cut", "flip", "byte", "number", "insert", "leave out", "repeat")))
        if kind == "cut":
            data = data[:place]
        elif kind == "flip":
            changed = data[place] ^ (1 << draw(st.integers(0, 7))) if data else 0
            data = data[:place] + bytes([changed]) + data[place + 1 :]
        elif kind == "byte":
            data = data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
        elif kind == "number":
            written = struct.pack("<Q", draw(st.sampled_from(NUMBERS)))[: draw(st.sampled_from((1, 2, 4, 8)))]
            data = data[:place] + written + data[place + len(written) :]
        elif kind == "insert":
            data = data[:place] + draw(st.binary(max_size=40)) + data[place:]
        elif kind == "leave out":
            data = data[:place] + data[place + draw(st.integers(1, 64)) :]
        else:
            piece = data[place : place + draw(st.integers(1, 64))]
            data = data[:place] + piece * draw(st.integers(2, 4)) + data[place:]
    return data


@st.composite
def damaged_json(draw: DrawFn, value: Any) -> str:
    """The text of a JSON value in which one to three places are replaced, left out, renamed or exchanged."""
    value = copy.deepcopy(value)
    replaced: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(value))
        if not places:
            break
        place = draw(st.sampled_from(places))
        parent = _at(value, place[:-1])
        kind = draw(st.sampled_from(("replace", "replace", "leave out", "rename", "exchange", "wrap")))
        if kind == "replace":
            parent[place[-1]] = f"{_MARK}{len(replaced)}"
            replaced.append(draw(st.sampled_from(LEAVES)))
        elif kind == "leave out":
            del parent[place[-1]]
        elif kind == "rename" and isinstance(parent, dict):
            parent[draw(st.text(max_size=5))] = parent.pop(place[-1])
        elif kind == "exchange":
            parent[place[-1]] = copy.deepcopy(_at(value, draw(st.sampled_from(places))))
        else:
            parent[place[-1]] = [parent[place[-1]]]
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    for number, leaf in enumerate(replaced):
        text = text.replace(f'"{_MARK}{number}"', leaf)
    return text


def _places(value: Any, start: _Path = ()) -> Iterator[_Path]:
    """The way to every value inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*start, name)
        yield from _places(one, (*start, name))


def _at(value: Any, place: _Path) -> Any:
    """What stands at a place."""
    for step in place:
        value = value[step]
    return value


def damaged_file(value: Any) -> SearchStrategy[bytes]:
    """The bytes of a JSON file that is damaged as JSON, as bytes, or both."""
    text = damaged_json(value).map(lambda text: text.encode("utf-8", "surrogatepass"))
    return text | damaged(json.dumps(value).encode()) | text.flatmap(damaged)


@st.composite
def same_json(draw: DrawFn, value: Any) -> bytes:
    """A JSON value written in another way: names in any order, letters escaped or not, white space anywhere."""
    shuffled = _shuffled(value, random.Random(draw(st.integers(0, 2**32 - 1))))
    indent = draw(st.sampled_from((None, None, 0, 1, "\t")))
    text = json.dumps(shuffled, ensure_ascii=draw(st.booleans()), indent=indent)
    before, after = (draw(st.sampled_from(("", "", " ", "\r\n\t"))) for _ in range(2))
    return (before + text + after).encode()


def _shuffled(value: Any, order: random.Random) -> Any:
    """A value whose objects have their names in another order."""
    if isinstance(value, dict):
        names = order.sample(sorted(value), len(value))
        return {name: _shuffled(value[name], order) for name in names}
    return [_shuffled(one, order) for one in value] if isinstance(value, list) else value


def is_same_json(content: bytes, value: Any) -> bool:
    """Whether a file holds a value, however it is written; 1 and 1.0 and true are three things."""
    try:
        found = json.loads(content.decode("utf-8-sig"))
        return json.dumps(found, sort_keys=True) == json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return False


def letters(least: int = 1, most: int = 12) -> SearchStrategy[str]:
    """Text that a file can hold, and that is neither empty nor begins or ends with white space."""
    drawn = st.text(st.characters(codec="utf-8"), min_size=least, max_size=most)
    return drawn.map(str.strip).filter(lambda text: len(text) >= least)


def texts() -> SearchStrategy[str]:
    """Texts of every kind: hypothesis's own, byte soup read as text, pieces of the hard files, and their mixtures."""
    ordinary = st.text(st.characters(), max_size=60)
    strange = st.text(st.sampled_from("\ud800\udfff\u202e\u2066\u200d\ufeff\x00\x1b\r\n\t \u0301e’'\"<>&▁Ġ#😀👩🏽ﬀ字ا"))
    soup = st.binary(max_size=80)
    read = st.one_of(
        soup.map(lambda data: data.decode("utf-8", "replace")),
        soup.map(lambda data: data.decode("utf-8", "surrogateescape")),
        soup.map(lambda data: data.decode("latin-1")),
        soup.map(lambda data: data.decode("utf-16", "replace")),
    )
    one = st.one_of(ordinary, strange, read, hard_pieces())
    return one | st.lists(one, min_size=2, max_size=4).map("".join) | st.lists(one, max_size=4).map(" ".join)


@st.composite
def hard_pieces(draw: DrawFn) -> str:
    """A piece of one of the hard files of HEEDMAP_DATA; of the few lines here where there are none."""
    files = _hard_files()
    text = draw(st.sampled_from(files))
    start = draw(st.integers(0, max(len(text) - 1, 0)))
    return text[start : start + draw(st.integers(0, 300))]


def _hard_files() -> list[str]:
    """The texts of `HEEDMAP_DATA/hard`, broken bytes kept as halves of surrogate pairs."""
    folder = Path(os.environ.get("HEEDMAP_DATA", "nowhere")) / "hard"
    found = [path.read_bytes().decode("utf-8", "surrogateescape") for path in sorted(folder.glob("*"))]
    return found or [
        "It's <b>\x1b[31mred</b>; e\u0301 👩🏽‍🚀 שלום «ça» \u202eright\u202c 漢字",
        "a" * 500,
        "\n\n \t\r\n",
    ]
