"""Small tokenizers of the kinds that the real ones of the tests are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

SENTENCES = [
    "I love my cat, and the cat loves me too.",
    "The trophy did not fit in the suitcase because it was too big.",
    "naïve café, été, Übung, 中文 and 日本語 stand here",
]


def _wrap(tokenizer: Tokenizer, **special: str) -> Any:
    make: Any = PreTrainedTokenizerFast
    return make(tokenizer_object=tokenizer, **special)


@pytest.fixture(scope="session")
def metaspace() -> Callable[..., Any]:
    """SentencePiece's unigram kind, as T5 and XLNet have it; `split=False` makes one piece of a whole sentence."""

    def make(*, split: bool = True) -> Any:
        words = ["<unk>", "▁", "中文", "▁I", "▁love", "▁my", "▁cat", "a", "cat", "s"]
        tokenizer = Tokenizer(models.Unigram([(word, -float(n + 1)) for n, word in enumerate(words)], unk_id=0))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=split)
        tokenizer.decoder = decoders.Metaspace()
        return _wrap(tokenizer, unk_token="<unk>")

    return make


@pytest.fixture(scope="session")
def byte_fallback() -> Any:
    """Llama's and Gemma's kind: words marked by the normaliser, no pre-tokeniser, unknown characters as bytes."""
    marked = [word for sentence in SENTENCES[:2] for word in (f"▁{w}" for w in sentence.split())]
    trained = Tokenizer(models.BPE())
    trainer = BpeTrainer(
        vocab_size=400,
        special_tokens=["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))],
        initial_alphabet=["▁"],
        show_progress=False,
    )
    trained.train_from_iterator(marked, trainer)
    state: dict[str, Any] = json.loads(trained.to_str())["model"]
    model = models.BPE(
        vocab=state["vocab"],
        merges=[tuple(pair) for pair in state["merges"]],
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", state["vocab"]["<s>"])]
    )
    return _wrap(tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


@pytest.fixture(scope="session")
def composing() -> Any:
    """Qwen's kind: bytes of the text in composed form (NFC), and no begin-of-text token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return _wrap(tokenizer, eos_token="<|end|>")
