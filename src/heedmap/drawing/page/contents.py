"""What a page holds: a header that says what there is, and blocks of numbers; layer by layer within a budget."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from heedmap._version import __version__
from heedmap.drawing.page.blocks import Part, pack, text_size
from heedmap.drawing.page.rules import PageRule
from heedmap.drawing.page.texts import Patches, text_json
from heedmap.text.tokens import Tokens

SCHEMA = "heedmap/page/1"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_TO_ESCAPE = re.compile("[<>&\u2028\u2029]")


@dataclass(slots=True)
class Contents:
    """The header and the blocks of one page, as they are put together.

    Attributes:
        readings: what is said of each reading, see docs/page.md.
        start: what is shown first.
        texts: each text once.
        rules: each mask once.
        blocks: compressed numbers; readings and rules name them by their places.
        extras: "comparison" and "generation", where there are any.
    """

    readings: list[dict[str, Any]] = field(default_factory=list)
    start: dict[str, Any] = field(default_factory=dict)
    texts: list[dict[str, Any]] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)
    _known_texts: list[Tokens] = field(default_factory=list)
    _known_rules: list[PageRule] = field(default_factory=list)

    def add_text(self, tokens: Tokens, picture: str | None = None, patches: Patches | None = None) -> int:
        """The place of a text; added when it is new."""
        for place, known in enumerate(self._known_texts):
            if known is tokens:
                return place
        self._known_texts.append(tokens)
        self.texts.append(text_json(tokens, picture, patches))
        return len(self.texts) - 1

    def add_rule(self, rule: PageRule) -> int:
        """The place of a mask; added when it is new."""
        for place, known in enumerate(self._known_rules):
            if known.same_as(rule):
                return place
        part = rule.part()
        self._known_rules.append(rule)
        bits = {} if part is None else {"bits": part.to_json(), "block": self.add_block(pack([part]))}
        self.rules.append(rule.to_json() | bits)
        return len(self.rules) - 1

    def add_block(self, block: bytes) -> int:
        """The place of a new block."""
        self.blocks.append(block)
        return len(self.blocks) - 1

    @property
    def size(self) -> int:
        """Characters that header and blocks take in an HTML file."""
        return len(self.header_text().encode()) + sum(text_size(len(block)) for block in self.blocks)

    def header(self) -> dict[str, Any]:
        """Everything but the numbers, as JSON."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "start": self.start,
            "texts": self.texts,
            "rules": self.rules,
            "readings": self.readings,
            **self.extras,
        }

    def header_text(self) -> str:
        """The header as strict JSON that can stand inside an HTML script element."""
        return json_for_html(self.header())


def json_for_html(value: Any) -> str:
    r"""Strict JSON in which nothing can end a script element, begin a comment or break a line of JavaScript.

    Lone surrogates, which stand for bytes that are no text, are escaped too, since no encoding can hold them.

    Example:
        >>> json_for_html({"text": "</script>\ud8ff"})
        '{"text":"\\u003c/script\\u003e\\ud8ff"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = _TO_ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def layer_block(parts: Sequence[Part]) -> tuple[bytes, list[dict[str, Any]]]:
    """The parts of a layer as one block, and how they are found in it."""
    return pack(parts), [part.to_json() for part in parts]
