"""What a configuration says of a model's cost: its tables, its heads, and how far each layer looks back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heedmap.errors import UnsupportedModel
from heedmap.models.quiet import quiet_transformers

_NO_ATTENTION = ("linear_attention", "mamba", "conv", "recurrent")
_SLIDING, _CHUNKED = "sliding", "chunked"


@dataclass(frozen=True, slots=True)
class LayerShape:
    """One layer with attention.

    Attributes:
        heads: query heads.
        query_dim: numbers of a query and of a key.
        value_dim: numbers of a value.
        cached: numbers that the cache keeps of a token.
        reach: how many tokens back it looks at most, itself among them; None for all.
        chunked: whether it looks inside its own chunk of `reach` tokens instead of back.
    """

    heads: int
    query_dim: int
    value_dim: int
    cached: int
    reach: int | None = None
    chunked: bool = False

    def cells(self, tokens: int, *, causal: bool) -> int:
        """How many weights one head has for a text of so many tokens.

        Example:
            >>> layer = LayerShape(heads=1, query_dim=8, value_dim=8, cached=16, reach=3)
            >>> [layer.cells(tokens, causal=True) for tokens in (1, 3, 5)]
            [1, 6, 12]
        """
        reach = tokens if self.reach is None else min(self.reach, tokens)
        if not causal:
            return tokens * min(2 * reach - 1, tokens) if self.reach is not None else tokens * tokens
        if self.chunked:
            whole, rest = divmod(tokens, reach)
            return whole * reach * (reach + 1) // 2 + rest * (rest + 1) // 2
        return reach * (reach + 1) // 2 + (tokens - reach) * reach

    def kept(self, tokens: int) -> int:
        """How many tokens the cache keeps of so many."""
        return tokens if self.reach is None else min(tokens, self.reach)


@dataclass(frozen=True, slots=True)
class Shape:
    """A model as far as its cost goes.

    Attributes:
        kind: the family's name.
        causal: whether it writes, so that it has a cache and looks back alone.
        layers: the layers with attention.
        silent: how many layers have none; their work is counted with the tables, their state does not grow.
        projections: numbers of the learned tables of attention that each token is multiplied with.
        feed_forward: numbers of all other learned tables inside the layers (of the experts, those that a token uses).
        output: numbers of the output table, which the last token alone needs.
        parameters: all numbers of the model.
    """

    kind: str
    causal: bool
    layers: tuple[LayerShape, ...]
    silent: int
    projections: float
    feed_forward: float
    output: int
    parameters: int


def shape_of(configuration: Any) -> Shape:
    """Read the sizes from a configuration; the model is built without any numbers in it (torch's "meta" device).

    Raises:
        UnsupportedModel: an encoder-decoder, or a kind that cannot be built.

    Example:
        >>> from heedmap.models.configuration import find_configuration
        >>> shape = shape_of(find_configuration("smollm2"))
        >>> len(shape.layers), shape.layers[0].cached, f"{shape.parameters / 1e6:.0f} million"
        (30, 384, '135 million')
    """
    text = configuration.get_text_config()
    if getattr(configuration, "is_encoder_decoder", False):
        raise UnsupportedModel(
            f"{configuration.model_type} has an encoder and a decoder: its cost depends on two lengths"
        )
    causal, module = _empty_module(configuration)
    projections, feed_forward, output = _tables(module, text)
    layers, silent = _layers(text)
    return Shape(
        kind=configuration.model_type,
        causal=causal,
        layers=layers,
        silent=silent,
        projections=projections,
        feed_forward=feed_forward,
        output=output,
        parameters=sum(parameter.numel() for parameter in module.parameters()),
    )


def _empty_module(configuration: Any) -> tuple[bool, Any]:
    """The model without numbers, and whether it writes."""
    import torch
    import transformers

    causal = type(configuration) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    encoder = not causal or type(configuration) in transformers.MODEL_FOR_MASKED_LM_MAPPING
    auto: Any = transformers.AutoModel if encoder else transformers.AutoModelForCausalLM
    try:
        with torch.device("meta"), quiet_transformers():
            return not encoder, auto.from_config(configuration)
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UnsupportedModel(
            f"a {configuration.model_type} cannot be built from its configuration: {reason}"
        ) from None


def _tables(module: Any, text: Any) -> tuple[float, float, int]:
    """Numbers of attention's tables, of all other tables of the layers, and of the output table."""
    from torch import nn

    embeddings = {id(part.weight) for part in module.modules() if isinstance(part, nn.Embedding)}
    head = module.get_output_embeddings()
    output = 0 if head is None else int(head.weight.numel())
    attention = tuple(f"{name}." for name, part in module.named_modules() if "Attention" in type(part).__name__)
    share = _experts_used(text)
    projections = feed_forward = 0.0
    for name, parameter in module.named_parameters():
        if parameter.ndim < 2 or id(parameter) in embeddings or (head is not None and parameter is head.weight):
            continue
        if name.startswith(attention):
            projections += parameter.numel()
        else:
            feed_forward += parameter.numel() * (share if ".experts." in name else 1.0)
    return projections, feed_forward, output


def _experts_used(text: Any) -> float:
    """The share of the experts that one token goes through."""
    names = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
    experts = next((int(count) for name in names if (count := getattr(text, name, None))), 0)
    used = next((int(count) for name in ("num_experts_per_tok", "moe_topk") if (count := getattr(text, name, None))), 0)
    return used / experts if experts and used else 1.0


def _layers(text: Any) -> tuple[tuple[LayerShape, ...], int]:
    """The layers with attention, and how many have none."""
    count = int(text.num_hidden_layers)
    kinds = getattr(text, "layer_types", None) or getattr(text, "layers_block_type", None) or [""] * count
    window = getattr(text, "sliding_window", None) if getattr(text, "use_sliding_window", True) else None
    chunk = getattr(text, "attention_chunk_size", None)
    found = []
    for kind in kinds[:count]:
        if any(name in kind for name in _NO_ATTENTION):
            continue
        reach = None
        if _CHUNKED in kind and chunk:
            reach = int(chunk)
        elif window and (_SLIDING in kind or (not kind and kinds == [""] * count)):
            reach = int(window)
        found.append(_layer(text, reach, chunked=_CHUNKED in kind))
    return tuple(found), count - len(found)


def _layer(text: Any, reach: int | None, *, chunked: bool) -> LayerShape:
    """One layer's heads and what the cache keeps of them."""
    heads = int(text.num_attention_heads)
    latent, rotated = getattr(text, "kv_lora_rank", None), getattr(text, "qk_rope_head_dim", None)
    if latent and rotated:
        # Latent attention keeps one short vector for all heads, and the part of the key that is rotated.
        query = int(text.qk_nope_head_dim) + int(rotated)
        return LayerShape(heads, query, int(text.v_head_dim), int(latent) + int(rotated), reach, chunked)
    dim = int(getattr(text, "head_dim", None) or text.hidden_size // heads)
    one_for_all = getattr(text, "multi_query", False)
    shared = 1 if one_for_all else int(getattr(text, "num_key_value_heads", None) or heads)
    return LayerShape(heads, dim, dim, 2 * shared * dim, reach, chunked)
