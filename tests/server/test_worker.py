"""The worker between its pipe and its models: whatever it is asked, it answers, and goes on answering."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import heedmap
from heedmap.server.messages import Channel, Message, pack
from heedmap.server.work import Work
from heedmap.server.worker import Desk
from tests.pictures import word_tokenizer
from tests.reading.test_not_a_number import TEXT, broken_model
from tests.tiny import tiny_model


class Odd(Work):
    """Does what no answer should be."""

    def read(self, asked: dict[str, Any], progress: Any) -> Message:
        return Message({"share": float("nan")})

    def row(self, asked: dict[str, Any], progress: Any) -> Message:
        return Message({"share": object()})

    def tile(self, asked: dict[str, Any], progress: Any) -> Message:
        raise SystemExit(3)

    def statistics(self, asked: dict[str, Any], progress: Any) -> Message:
        progress(float("nan"), 1, "layers")
        return Message({})

    def close(self, asked: dict[str, Any], progress: Any) -> Message:
        return Message({"told": asked["told"]})


@pytest.fixture
def ours(request: pytest.FixtureRequest) -> Iterator[Channel]:
    """The application's end of the pipe; a desk answers at the other one."""
    mine, theirs = (Channel(end) for end in multiprocessing.Pipe())
    thread = threading.Thread(target=Desk(theirs, request.param()).serve, daemon=True)
    thread.start()
    assert mine.receive().head == {"ready": True}
    yield mine
    mine.close()
    thread.join(10)
    assert not thread.is_alive()


def ask(channel: Channel, number: int, does: str, **more: Any) -> dict[str, Any]:
    channel.send(pack(Message({"number": number, "does": does, **more})))
    while True:
        head = channel.receive().head
        if "progress" not in head:
            assert head["number"] == number
            return head


@pytest.mark.parametrize("ours", [Odd], indirect=True)
@pytest.mark.parametrize("does", ["read", "row", "tile", "statistics", "nothing_of_this_name", "_model"])
def test_no_answer_ends_the_thread_that_answers(ours: Channel, does: str, caplog: pytest.LogCaptureFixture) -> None:
    for number in (1, 3):
        assert ask(ours, number, does)["failed"]["kind"] == "InternalError"
        assert ask(ours, number + 1, "close", told="still here")["answer"] == {"told": "still here"}


def with_broken_models() -> Work:
    work = Work()
    work._models.put("llama", broken_model("llama"), 1)
    module: Any = tiny_model("gpt_oss", implementation="eager")
    with torch.no_grad():
        module.model.layers[0].self_attn.sinks[1] = torch.nan
    work._models.put("gpt_oss", heedmap.wrap(module, word_tokenizer(), name="gpt_oss"), 1)
    return work


@pytest.mark.parametrize("ours", [with_broken_models], indirect=True)
@pytest.mark.parametrize("family", ["llama", "gpt_oss"])
def test_a_model_that_writes_no_numbers_is_shown(ours: Channel, family: str) -> None:
    last = len(TEXT.split()) - 1
    place = {"reading": "one", "layer": 0, "head": 1}
    read = ask(ours, 1, "read", reading="one", model=family, text=TEXT, special_tokens=None, truncate=False)
    assert {one["probability"] for one in read["answer"]["reading"]["nextToken"]} == {None}
    assert "answer" in ask(ours, 2, "statistics", reading="one")
    assert "answer" in ask(ours, 3, "row", query=last, **place)
    vectors = ask(ours, 4, "vectors", query=last, **place)
    if family == "llama":
        assert "answer" in vectors
    else:  # no sink is null there, and would be another model
        assert vectors["failed"]["message"] == "the learned sink of layer 0, head 1 is not a number (nan)"
    area = {"rows_start": 0, "rows_stop": last, "columns_start": 0, "columns_stop": last, "height": 2, "width": 2}
    assert "answer" in ask(ours, 5, "tile", how="mean", **area, **place)


def test_large_messages_of_twenty_threads_arrive_whole() -> None:
    ours, theirs = (Channel(end) for end in multiprocessing.Pipe())
    size, each = 100_000, 10  # beyond 16 kB, a message is two writes

    found: list[Message] = []

    def write(thread: int) -> None:
        for _ in range(each):
            ours.send(pack(Message({"text": chr(97 + thread) * size}, bytes([thread]) * size)))

    def read() -> None:
        found.extend(theirs.receive() for _ in range(20 * each))

    reader = threading.Thread(target=read, daemon=True)  # messages that are mixed up may be waited for without end
    reader.start()
    for thread in range(20):
        threading.Thread(target=write, args=(thread,), daemon=True).start()
    reader.join(60)
    assert len(found) == 20 * each
    for message in found:
        thread = message.numbers[0]
        assert (message.head, message.numbers) == ({"text": chr(97 + thread) * size}, bytes([thread]) * size)
