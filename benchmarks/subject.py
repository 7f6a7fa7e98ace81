"""What is measured on: the default model and a long English text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heedmap.reading.model import Model
    from heedmap.text.tokens import Tokens

_NOVEL = Path("texts") / "moby_dick.32k.txt"
_OWN_TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def long_text() -> str:
    """A novel when HEEDMAP_DATA holds it, else this project's own pages over and over."""
    folder = os.environ.get("HEEDMAP_DATA")
    if folder and (Path(folder) / _NOVEL).is_file():
        return (Path(folder) / _NOVEL).read_text(encoding="utf-8")
    root = Path(__file__).parents[1]
    own = "\n\n".join((root / name).read_text(encoding="utf-8") for name in _OWN_TEXTS)
    return own * (200_000 // len(own) + 1)


def tokens_of(model: Model, length: int) -> Tokens:
    """The first `length` tokens of the long text."""
    from heedmap.text.tokenize import tokenize

    tokens = tokenize(model.tokenizer, long_text()[: 8 * length], limit=length, truncate=True)
    assert len(tokens) == length, f"the text gave {len(tokens)} tokens, not {length}"
    return tokens


def plain_forward(module: Any, tokens: Tokens) -> Any:
    """Transformers' own forward pass with its fast attention: no cache, one row of logits, nothing listening."""
    import torch

    assert module.config._attn_implementation == "sdpa", "the plain run is not plain"
    ids = torch.tensor([tokens.ids])
    with torch.no_grad():
        output = module(input_ids=ids, use_cache=False, logits_to_keep=1)
    assert output.get("attentions") is None
    return output


def eager_forward(module: Any, tokens: Tokens) -> Any:
    """Transformers' slow attention with every weight of every layer; the model must be switched to eager."""
    import torch

    assert module.config._attn_implementation == "eager"
    ids = torch.tensor([tokens.ids])
    with torch.no_grad():
        output = module(input_ids=ids, use_cache=False, logits_to_keep=1, output_attentions=True)
    assert len(output.attentions) == module.config.num_hidden_layers
    return output


def hooked_forward(module: Any, tokens: Tokens) -> list[Any]:
    """The best that eager attention can do: each layer's weights are reduced by a hook and dropped.

    Returns:
        a layer each: the mean share of every head on the first token, over the positions after it.
    """
    import torch

    assert module.config._attn_implementation == "eager"
    shares: list[Any] = []

    def reduce(_: Any, __: Any, output: tuple[Any, ...]) -> tuple[Any, ...]:
        shares.append(output[1][0, :, 1:, 0].mean(-1))
        return (output[0], None)

    hooks = [layer.self_attn.register_forward_hook(reduce) for layer in module.model.layers]
    try:
        with torch.no_grad():
            module(input_ids=torch.tensor([tokens.ids]), use_cache=False, logits_to_keep=1)
    finally:
        for hook in hooks:
            hook.remove()
    assert len(shares) == module.config.num_hidden_layers
    return shares
