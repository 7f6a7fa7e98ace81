"""Messages, what a template makes of them, and where each content stands."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from heedmap.errors import EmptyText, TextError, TokenizerMissing
from heedmap.text.chat import Chat, Message, apply_template, parse_messages

SYSTEM, QUESTION, ANSWER = Message("system", "Be brief."), Message("user", "Who?"), Message("assistant", "Me.")


def shown(chat: Chat) -> dict[str, list[str]]:
    return {span.name: [chat.text[start:end] for start, end in span.ranges] for span in chat.spans}


def with_template(tokenizer: Any, template: str | None) -> Any:
    changed = copy.copy(tokenizer)
    changed.chat_template = template
    return changed


def test_turns_of_a_real_template(smollm2_tokenizer: Any) -> None:
    chat = apply_template(smollm2_tokenizer, [SYSTEM, QUESTION, ANSWER, Message("user", "  Why?\n")])
    assert shown(chat) == {
        "system": ["Be brief."],
        "user 1": ["Who?"],
        "assistant 1": ["Me."],
        "user 2": ["  Why?\n"],
    }
    assert chat.text.endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert chat.missing == ()


def test_no_new_turn_is_opened_after_the_assistant(smollm2_tokenizer: Any) -> None:
    chat = apply_template(smollm2_tokenizer, [QUESTION, ANSWER])
    assert chat.text.endswith("<|im_start|>assistant\nMe.<|im_end|>\n")
    assert list(shown(chat)) == ["user 1", "assistant 1"]  # the template's own system message is no turn


def test_contents_that_look_like_the_template(smollm2_tokenizer: Any) -> None:
    messages = [
        Message("system", "user"),
        Message("user", "assistant\n<|im_end|>\n<|im_start|>user\n"),
        Message("user", "user"),
    ]
    chat = apply_template(smollm2_tokenizer, messages)
    assert shown(chat) == {
        "system": ["user"],
        "user 1": ["assistant\n<|im_end|>\n<|im_start|>user\n"],
        "user 2": ["user"],
    }
    starts = [span.ranges[0][0] for span in chat.spans]
    assert chat.text[starts[0] - 7 : starts[0]] == "system\n"
    assert chat.text[starts[2] - 5 : starts[2]] == "user\n"


def test_a_template_that_strips(smollm2_tokenizer: Any) -> None:
    template = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] | trim }}\n{% endfor %}"
    chat = apply_template(with_template(smollm2_tokenizer, template), [Message("user", "  Who? \n"), ANSWER])
    assert shown(chat) == {"user 1": ["Who?"], "assistant 1": ["Me."]}


def test_a_template_that_repeats(smollm2_tokenizer: Any) -> None:
    template = "{{ messages[0]['content'] }}|{% for m in messages %}{{ m['content'] }};{% endfor %}"
    chat = apply_template(with_template(smollm2_tokenizer, template), [SYSTEM, QUESTION])
    assert chat.text == "Be brief.|Be brief.;Who?;"
    assert shown(chat) == {"system": ["Be brief.", "Be brief."], "user 1": ["Who?"]}


def test_what_a_template_leaves_out_or_changes_is_said(smollm2_tokenizer: Any) -> None:
    template = (
        "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ m['content'] | upper }}"
        "{% elif m['role'] == 'user' %}{{ m['content'] }}{% endif %};{% endfor %}"
    )
    chat = apply_template(with_template(smollm2_tokenizer, template), [SYSTEM, QUESTION, ANSWER, Message("user", "")])
    assert shown(chat) == {"user 1": ["Who?"]}
    assert chat.missing == ("system", "assistant 1", "user 2")
    with pytest.raises(TextError, match="shows none of the messages' contents"):
        apply_template(with_template(smollm2_tokenizer, template), [SYSTEM], name="it")


def test_a_template_that_refuses(smollm2_tokenizer: Any) -> None:
    template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(TextError, match="the chat template refuses these messages: roles must alternate"):
        apply_template(with_template(smollm2_tokenizer, template), [QUESTION])


def test_without_a_template(minilm_tokenizer: Any) -> None:
    with pytest.raises(TextError, match=r"the tokenizer of minilm has no chat template: take a model .* --split turns"):
        apply_template(minilm_tokenizer, [QUESTION], name="minilm")
    with pytest.raises(TokenizerMissing, match="mine has no tokenizer"):
        apply_template(None, [QUESTION], name="mine")  # type: ignore[arg-type]


def test_messages() -> None:
    plain = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}]
    assert parse_messages(plain) == parse_messages({"messages": plain}) == [QUESTION, ANSWER]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("hi", r"messages were expected as \[\{.role"),
        ({"turns": []}, "messages were expected"),
        ([1], 'message 1 has no text as its "role"'),
        ([{"role": "user"}], 'message 1 has no text as its "content"'),
        ([{"role": "user", "content": [{"type": "text"}]}], 'message 1 has no text as its "content"'),
        ([{"role": "user", "content": "a"}, {"role": 3, "content": "a"}], 'message 2 has no text as its "role"'),
        ([{"role": " ", "content": "a"}], 'message 1 has an empty "role"'),
    ],
)
def test_messages_of_another_shape(data: Any, message: str) -> None:
    with pytest.raises(TextError, match=message):
        parse_messages(data)


def test_no_messages() -> None:
    with pytest.raises(EmptyText, match="there are no messages"):
        parse_messages([])
