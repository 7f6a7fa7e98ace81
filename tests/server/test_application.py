"""The application as its page uses it: readings equal Python's own numbers, failures are 4xx with a clear body."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from heedmap.drawing.page.columns import columns_json
from heedmap.reading.model import Model
from tests.conftest import ROUNDING, TROPHY
from tests.printed import assert_same_json
from tests.server.conftest import Asker


def test_a_reading_has_the_numbers_of_python(asker: Asker, smollm2: Model) -> None:
    answer = asker.read(TROPHY)
    reading = smollm2.read(TROPHY)
    path = f"/api/readings/{answer['id']}"
    assert answer["texts"][0]["labels"] == list(reading.tokens.labels)
    for head in (None, 3):
        row = asker.ask("GET", f"{path}/row?layer=16&query=10" + ("" if head is None else f"&head={head}"))
        weights = np.frombuffer(row.body[: 4 * len(reading.tokens)], "<f4")
        allowed = np.frombuffer(row.body[4 * len(reading.tokens) :], np.uint8)
        np.testing.assert_allclose(weights, reading.map(16, head)[10], atol=ROUNDING)
        assert allowed.tolist() == [1] * 11 + [0] * 4
        assert json.loads(row.headers["x-heedmap-head"]) == {"keys": 15, "sink": None}


def test_a_tile_is_pooled_exactly(asker: Asker, smollm2: Model) -> None:
    answer = asker.read(TROPHY)
    asked = "layer=16&head=3&rows_start=4&rows_stop=12&columns_start=2&columns_stop=8&height=4&width=3&how=max"
    tile = asker.ask("GET", f"/api/readings/{answer['id']}/tile?{asked}")
    weights = np.frombuffer(tile.body[: 4 * 12], "<f4").reshape(4, 3)
    whole = smollm2.read(TROPHY).map(16, 3)[4:12, 2:8]
    np.testing.assert_allclose(weights, whole.reshape(4, 2, 3, 2).max((1, 3)), atol=ROUNDING)
    assert json.loads(tile.headers["x-heedmap-head"]) == {"height": 4, "width": 3}


def test_the_vectors_give_the_weights_again(asker: Asker, smollm2: Model) -> None:
    answer = asker.read(TROPHY)
    found = asker.ask("GET", f"/api/readings/{answer['id']}/vectors?layer=16&head=3&query=10")
    head = json.loads(found.headers["x-heedmap-head"])
    keys, dim = head["keys"], head["dim"]
    numbers = np.frombuffer(found.body[:-keys], "<f4")
    query, key, value = np.split(numbers, [dim, dim + keys * dim])
    allowed = np.frombuffer(found.body[-keys:], np.uint8) == 1
    scores = np.where(allowed, key.reshape(keys, dim) @ query * head["scale"], -np.inf)
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    np.testing.assert_allclose(weights, smollm2.read(TROPHY).map(16, 3)[10], atol=ROUNDING)
    assert value.size == keys * head["valueDim"]


def test_statistics_are_those_of_python(asker: Asker, smollm2: Model) -> None:
    answer = asker.read(TROPHY)
    lines = asker.ask("GET", f"/api/readings/{answer['id']}/statistics").lines
    assert_same_json(lines[-1]["answer"]["statistics"], columns_json(smollm2.stats(TROPHY), list(range(30))))


def test_progress_comes_before_the_answer(asker: Asker) -> None:
    lines = asker.ask("POST", "/api/readings", {"model": "smollm2", "text": "The cat sat."}).lines
    assert [line["progress"][:2] for line in lines[:-1]][-1] == [30, 30]


def test_a_closed_reading_is_gone_and_says_so(asker: Asker) -> None:
    answer = asker.read("The cat sat.")
    path = f"/api/readings/{answer['id']}"
    assert asker.ask("DELETE", path).json["closed"] is True
    gone = asker.ask("GET", f"{path}/row?layer=1&query=1")
    assert (gone.status, gone.json["error"]["kind"]) == (410, "ReadingGone")
    assert "read the text again" in gone.json["error"]["message"]
    assert asker.ask("DELETE", path).json["closed"] is False


def test_twenty_at_once_are_all_answered(asker: Asker, smollm2: Model) -> None:
    answer = asker.read(TROPHY)
    whole = smollm2.read(TROPHY).map(16, 3)

    def row(query: int) -> float:
        found = asker.ask("GET", f"/api/readings/{answer['id']}/row?layer=16&head=3&query={query % 15}")
        assert found.status == 200
        weights = np.frombuffer(found.body[:60], "<f4")
        return float(np.abs(weights - whole[query % 15]).max())

    with ThreadPoolExecutor(20) as pool:
        assert max(pool.map(row, range(20))) < ROUNDING


@pytest.mark.parametrize(
    ("body", "status", "kind", "says"),
    [
        ({"model": "smollm2", "text": ""}, 400, "WrongValue", "not empty"),
        ({"model": "/etc", "text": "a"}, 422, "ModelNotHere", "heedmap serve --model"),
        ({"model": "../../root", "text": "a"}, 422, "ModelNotHere", "does not serve"),
        ({"model": "qwen2.5-0.5b", "text": "a"}, 422, "ModelNotHere", "heedmap models get"),
        ({"model": "smollm2", "text": "a " * 9000}, 422, "TextTooLong", "8192"),
        ({"model": "smollm2", "text": 7}, 400, "WrongValue", "'text'"),
        ({"model": "smollm2"}, 400, "ValueMissing", "'text'"),
        ({"model": "smollm2", "text": "a", "code": "x"}, 400, "UnknownValue", "'code'"),
        ([1], 400, "NoJson", "object"),
        (b"{", 400, "NoJson", "JSON"),
        (b'{"text": NaN}', 400, "NoJson", "JSON"),
        (b"[" * 100_000, 400, "NoJson", "JSON"),
        (b"\xff\xfe", 400, "NoJson", "JSON"),
        (b" " * (5 << 20), 413, "TooLarge", "larger"),
    ],
)
def test_wrong_requests_are_refused(asker: Asker, body: object, status: int, kind: str, says: str) -> None:
    answer = asker.ask("POST", "/api/readings", body)
    assert (answer.status, answer.json["error"]["kind"]) == (status, kind)
    assert says in answer.json["error"]["message"]
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize(
    "query",
    [
        "layer=30&query=0",
        "layer=-1&query=0",
        "layer=1e3&query=0",
        "layer=0&query=15",
        "layer=0&head=9&query=0",
        "layer=0",
        "layer=99999999999999999999999999&query=0",
        "layer=٣&query=0",
    ],
)
def test_places_outside_are_refused(asker: Asker, query: str) -> None:
    answer = asker.read(TROPHY)
    found = asker.ask("GET", f"/api/readings/{answer['id']}/row?{quote(query, safe='=&')}")
    assert found.status in (400, 422)
    assert found.json["error"]["message"]


NASTIEST = ("ansi.log", "emoji.txt", "empty.txt", "escapes.json", "invalid_utf8.bin", "page.html", "rtl.txt")


@pytest.mark.parametrize(
    ("names", "longest"), [(NASTIEST, 80), pytest.param(None, 2000, marks=pytest.mark.slow, id="all")]
)
def test_hard_texts_are_read_or_refused(
    asker: Asker, data_folder: Path, names: tuple[str, ...] | None, longest: int
) -> None:
    found = sorted(path for path in (data_folder / "hard").iterdir() if names is None or path.name in names)
    assert len(found) >= len(NASTIEST)
    for path in found:
        text = path.read_bytes().decode("utf-8", "surrogateescape")[:longest]
        answer = asker.ask("POST", "/api/readings", {"model": "smollm2", "text": text or "x" * (2 << 20)})
        if answer.status == 200:
            assert answer.lines[-1]["answer"]["texts"][0]["labels"], path
        else:
            assert 400 <= answer.status < 500, path
            assert answer.json["error"]["message"], path
            assert b"Traceback" not in answer.body, path
