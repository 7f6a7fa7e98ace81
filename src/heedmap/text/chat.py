"""From the messages of a talk to the text a model sees, and where in it each message stands.

A chat template puts marks around each message; it may strip a content, leave it out or repeat it, and a content may
well say "user" or hold the template's marks. So each message is rendered once more with a stand-in for its content:
what stands around the stand-in stands around the content in the real text too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heedmap.errors import EmptyText, TextError, TokenizerMissing
from heedmap.text.ranges import NamedSpan, Range
from heedmap.text.split import number_roles

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_STAND_IN = "\ue000content\ue001"
"""What stands in for a content: two characters of the private use area are in no template."""

_FORMS: tuple[Callable[[str], str], ...] = (str, str.strip, str.lstrip, str.rstrip)
"""What templates do to a content before they write it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a talk: who says it, and what."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A talk as the model sees it.

    Attributes:
        text: what the template made of the messages.
        spans: where each message's content stands, named by role and number ("system", "user 1" ...).
        missing: the names of the messages whose content does not stand there: the template left it out or changed it.
    """

    text: str
    spans: tuple[NamedSpan, ...]
    missing: tuple[str, ...] = ()


def parse_messages(data: Any) -> list[Message]:
    """Messages from parsed JSON: `[{"role": ..., "content": ...}, ...]`, or the same under "messages".

    Raises:
        TextError: another shape; the message says which entry.

    Example:
        >>> parse_messages({"messages": [{"role": "user", "content": "Hi"}]})
        [Message(role='user', content='Hi')]
    """
    entries = data.get("messages") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise TextError('messages were expected as [{"role": "user", "content": "..."}, ...] or {"messages": [...]}')
    messages = []
    for number, entry in enumerate(entries, start=1):
        for key in ("role", "content"):
            value = entry.get(key) if isinstance(entry, dict) else None
            if not isinstance(value, str):
                raise TextError(f'message {number} has no text as its "{key}": give {{"role": ..., "content": ...}}')
        if not entry["role"].strip():
            raise TextError(f'message {number} has an empty "role": give user, assistant or system')
        messages.append(Message(entry["role"], entry["content"]))
    if not messages:
        raise EmptyText('there are no messages: give at least one {"role": "user", "content": "..."}')
    return messages


def apply_template(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], *, name: str = "the model") -> Chat:
    """What a model sees of a talk, by its tokenizer's chat template, and where each message stands in it.

    After a message that is not the assistant's the template opens the assistant's turn, so that the last token is the
    one the answer begins from. The text holds the special tokens; do not add them once more.

    Args:
        tokenizer: a tokenizer with a chat template.
        messages: the messages.
        name: what to call the model in an error.

    Raises:
        TokenizerMissing: the model has no tokenizer.
        TextError: the tokenizer has no chat template, the template refuses the messages, or none of their contents can
            be found in what it makes.

    Example, with the tokenizer of SmolLM2:
        `apply_template(tokenizer, [Message("user", "Hi")]).spans` is
        `(NamedSpan(name='user 1', ranges=((115, 117),), unit='characters'),)`.
    """
    if tokenizer is None:
        raise TokenizerMissing(f"{name} has no tokenizer: give one with heedmap.wrap(module, tokenizer)")
    if not getattr(tokenizer, "chat_template", None):
        raise TextError(
            f"the tokenizer of {name} has no chat template: take a model that was made for chat (smollm2), "
            "or write the prompt out as TEXT and name its parts with --span or --split turns"
        )
    text = _render(tokenizer, messages)
    turns = number_roles([message.role for message in messages])
    found = {turn: _places(tokenizer, messages, number, text) for number, turn in enumerate(turns)}
    spans = tuple(NamedSpan(turn, tuple(places)) for turn, places in found.items() if places)
    if not spans:
        raise TextError(f"the chat template of {name} shows none of the messages' contents, so none can be measured")
    return Chat(text, spans, tuple(turn for turn, places in found.items() if not places))


def _render(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """The template's text."""
    from jinja2.exceptions import TemplateError

    try:
        return str(
            tokenizer.apply_chat_template(
                [{"role": message.role, "content": message.content} for message in messages],
                tokenize=False,
                add_generation_prompt=messages[-1].role != "assistant",
            )
        )
    except TemplateError as error:
        raise TextError(f"the chat template refuses these messages: {error}") from None


def _places(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], number: int, text: str) -> list[Range]:
    """Where a message's content stands; nowhere when the template does not write it as it is."""
    role, content = messages[number].role, messages[number].content
    try:
        changed = _render(tokenizer, [*messages[:number], Message(role, _STAND_IN), *messages[number + 1 :]])
    except TextError:
        return []
    before, *after = changed.split(_STAND_IN)
    if not after or not text.startswith(before):
        return []
    found, position = [], len(before)
    for piece in after:
        forms = (form(content) for form in _FORMS)
        form = next((one for one in forms if one and text.startswith(one + piece, position)), None)
        if form is None:
            return []
        found.append((position, position + len(form)))
        position += len(form) + len(piece)
    return found if position == len(text) else []
