"""What a token's number stands for, byte by byte, whatever alphabet its tokenizer writes in.

Tokenizers keep their vocabulary in private spellings: GPT-2's byte alphabet (`Ġ` for a space, `ä½` for two thirds
of 你), SentencePiece's `▁`, WordPiece's `##`, byte fallback's `<0xE4>`. The decoder that comes with a fast
tokenizer says which of them it uses; here they are undone exactly, token by token, which decoding cannot do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from heedmap.errors import TokenizerMissing
from heedmap.text.labels import visible

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_BYTE_FALLBACK = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def byte_alphabet() -> dict[str, int]:
    """The letters that byte-level tokenizers write bytes with, as GPT-2's `bytes_to_unicode` chose them.

    Bytes that print in Latin-1 stand for themselves; the others take the code points from 256 upwards, in order.

    >>> byte_alphabet()["Ġ"], byte_alphabet()["é"]
    (32, 233)
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


class Pieces:
    """The bytes behind the tokens of one fast tokenizer.

    Attributes:
        special: the names of its special tokens by id.
        unknown_id: the id it gives to what it cannot spell, `None` if it has none.
        unknown_name: the name of that token.

    Raises:
        TokenizerMissing: no tokenizer, or one that cannot say where in the text its tokens stand.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        _check_fast(tokenizer)
        self._tokenizer = tokenizer
        self._decoders = list(_flatten(_state(tokenizer.backend_tokenizer.decoder)))
        added = tokenizer.added_tokens_decoder
        self._added = {number: token.content for number, token in added.items()}
        self.special: dict[int, str] = {number: token.content for number, token in added.items() if token.special}
        self.special |= dict(zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True))
        self.unknown_id: int | None = tokenizer.unk_token_id
        self.unknown_name = str(tokenizer.unk_token)

    def label_special(self, number: int) -> str:
        """What a picture writes for a special token: its name, with `_` for SentencePiece's mark for a space."""
        return visible(self.special[number].replace("▁", "_"))

    def spell(self, ids: Sequence[int]) -> list[bytes | None]:
        """The bytes of each token, the space before a word included; `None` for a number without a token.

        Only the bytes of a character may be spread over tokens, so one token's bytes need not be text.
        """
        names = self._tokenizer.convert_ids_to_tokens(list(ids))
        spelled: dict[int, bytes | None] = {}
        for number, name in zip(ids, names, strict=True):
            if number not in spelled:
                spelled[number] = self._spell(number, name)
        return [spelled[number] for number in ids]

    @cached_property
    def adds_first_space(self) -> bool:
        """Whether the space before the very first word is the tokenizer's and not the text's."""
        return any(self._decoder(kind) is not None for kind in ("WordPiece", "Metaspace", "Strip"))

    @cached_property
    def dropped_bytes(self) -> frozenset[int] | None:
        """The bytes it has no token for; `None` if it does not spell the bytes of the text as it stands."""
        backend = self._tokenizer.backend_tokenizer
        if self._decoder("ByteLevel") is None or backend.normalizer is not None:
            return None
        return frozenset(byte for letter, byte in self._alphabet.items() if backend.token_to_id(letter) is None)

    def _spell(self, number: int, name: str | None) -> bytes | None:
        if name is None:
            return None
        if number in self._added:
            return (" " if self._decoder("WordPiece") else "").encode() + self._added[number].encode()
        after = b""
        if self._suffix and name.endswith(self._suffix):
            name, after = name.removesuffix(self._suffix), b" "
        if self._decoder("ByteLevel") is not None:
            return b"".join(self._letter(letter) for letter in name) + after
        fallback = _BYTE_FALLBACK.fullmatch(name)
        if fallback and self._decoder("ByteFallback") is not None:
            return bytes.fromhex(fallback[1])
        return self._without_marks(name).encode() + after

    def _letter(self, letter: str) -> bytes:
        return bytes([self._alphabet[letter]]) if letter in self._alphabet else letter.encode()

    def _without_marks(self, name: str) -> str:
        if wordpiece := self._decoder("WordPiece"):
            prefix = wordpiece["prefix"]
            return name.removeprefix(prefix) if name.startswith(prefix) else f" {name}"
        if metaspace := self._decoder("Metaspace"):
            name = name.replace(metaspace["replacement"], " ")
        for decoder in self._decoders:
            if decoder["type"] == "Replace" and "String" in decoder["pattern"]:
                name = name.replace(decoder["pattern"]["String"], decoder["content"])
        return name

    @cached_property
    def _alphabet(self) -> dict[str, int]:
        return byte_alphabet()

    @cached_property
    def _suffix(self) -> str:
        """The mark at the end of a word of BPE vocabularies such as CLIP's, which their model or decoder names."""
        decoder = self._decoder("BPEDecoder")
        suffix = getattr(self._tokenizer.backend_tokenizer.model, "end_of_word_suffix", None)
        return str(decoder["suffix"]) if decoder else str(suffix or "")

    def _decoder(self, kind: str) -> dict[str, Any] | None:
        return next((decoder for decoder in self._decoders if decoder["type"] == kind), None)


def _check_fast(tokenizer: Any) -> None:
    if tokenizer is None:
        raise TokenizerMissing(
            "there is no tokenizer: give the model's own, transformers.AutoTokenizer.from_pretrained(NAME_OR_FOLDER)"
        )
    if not getattr(tokenizer, "is_fast", False):
        raise TokenizerMissing(
            f"{type(tokenizer).__name__} does not say where in the text its tokens stand, so words could not be found; "
            "a fast tokenizer of transformers does: AutoTokenizer.from_pretrained(NAME_OR_FOLDER), or "
            'PreTrainedTokenizerFast(tokenizer_file="tokenizer.json")'
        )


def _state(decoder: Any) -> dict[str, Any]:
    """The decoder's own description, `{"type": ...}` in the words of the tokenizer.json format."""
    return {} if decoder is None else json.loads(decoder.__getstate__())


def _flatten(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if state.get("type") == "Sequence":
        for inner in state["decoders"]:
            yield from _flatten(inner)
    elif state:
        yield state
