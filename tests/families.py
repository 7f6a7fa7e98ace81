"""The families of models that are known to be read rightly: tiny random models, and what is special about each.

The conformance tests and the page docs/conformance.md are both made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
import transformers
from packaging.version import Version
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

VOCABULARY = 99

_BASE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
}
_DECODER: dict[str, Any] = {**_BASE, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_GROUPED: dict[str, Any] = {**_DECODER, "num_key_value_heads": 2}
_GPT2: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "n_embd": 64,
    "n_layer": 3,
    "n_head": 4,
    "n_positions": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_WINDOW: dict[str, Any] = {**_GROUPED, "sliding_window": 6}
_MIXED: dict[str, Any] = {**_WINDOW, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
_EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
_LATENT: dict[str, Any] = {
    **_DECODER,
    "num_key_value_heads": 4,
    "q_lora_rank": 32,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
}
_LATENT_EXPERTS: dict[str, Any] = {
    **_LATENT,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "n_shared_experts": 1,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
}
_SPARSE: dict[str, Any] = {**_LATENT_EXPERTS, "index_topk": 4, "index_head_dim": 16, "index_n_heads": 2}
_TWO_STACKS: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 64,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
_T5: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 64,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}


@dataclass(frozen=True, slots=True)
class Family:
    """One family of models.

    Attributes:
        settings: the tiny model's configuration.
        special: what is special about its attention; empty for plain attention.
        auto: the class that makes it: "decoder", "encoder" or "encoder-decoder".
        layers: the numbers of the layers with attention.
        since: the first transformers in which it can be read; before, it had attention code of its own.
    """

    settings: dict[str, Any] = field(repr=False)
    special: str = ""
    auto: str = "decoder"
    layers: tuple[int, ...] = (0, 1, 2)
    since: str = "5.23"

    @property
    def is_too_new(self) -> bool:
        """Whether the transformers installed here is older than that."""
        return Version(transformers.__version__) < Version(self.since)


FAMILIES: dict[str, Family] = {
    "llama": Family(_GROUPED, "grouped heads"),
    "qwen2": Family(_GROUPED, "grouped heads"),
    "qwen3": Family({**_GROUPED, "head_dim": 16}, "grouped heads; queries and keys are normalised"),
    "phi3": Family(_GROUPED, "grouped heads"),
    "olmo2": Family(_GROUPED, "grouped heads; queries and keys are normalised"),
    "smollm3": Family(_GROUPED, "grouped heads; some layers do not rotate"),
    "granite": Family(_GROUPED, "grouped heads; a scale of its own"),
    "nanochat": Family(_GROUPED, "grouped heads; queries and keys are normalised"),
    "stablelm": Family(_GROUPED, "grouped heads"),
    "gpt_bigcode": Family(_GPT2, "one key-value head for all"),
    "mistral": Family(_WINDOW, "grouped heads; sliding window"),
    "starcoder2": Family(_WINDOW, "grouped heads; sliding window"),
    "gemma2": Family(
        {**_WINDOW, "head_dim": 16, "query_pre_attn_scalar": 16, "attn_logit_softcapping": 2.0},
        "grouped heads; sliding window in every other layer; scores capped by tanh",
    ),
    "gemma3_text": Family({**_MIXED, "head_dim": 16}, "grouped heads; sliding window in some layers"),
    "cohere2": Family(_MIXED, "grouped heads; sliding window in some layers"),
    "exaone4": Family(_MIXED, "grouped heads; sliding window in some layers"),
    "llama4_text": Family(
        {
            **_GROUPED,
            "head_dim": 16,
            "attention_chunk_size": 6,
            "num_local_experts": 2,
            "intermediate_size_mlp": 64,
            "layer_types": ["chunked_attention", "full_attention", "chunked_attention"],
        },
        "grouped heads; chunks in some layers; experts",
    ),
    "gpt_oss": Family(
        {**_MIXED, "head_dim": 16, "num_local_experts": 4, "num_experts_per_tok": 2},
        "a learned sink: a row's missing share is the sink's; sliding window in some layers; experts",
    ),
    "granite_swa": Family(
        _WINDOW,
        "a learned sink, read as a row's missing share; eager reports the weights without it, so they are compared "
        "after dividing each row by its sum",
    ),
    "granitemoe_swa": Family(
        {**_WINDOW, "num_local_experts": 4, "num_experts_per_tok": 2},
        "a learned sink, read as a row's missing share; eager reports the weights without it, so they are compared "
        "after dividing each row by its sum; experts",
    ),
    "mixtral": Family({**_GROUPED, "num_local_experts": 4}, "grouped heads; experts"),
    "qwen3_moe": Family({**_GROUPED, "head_dim": 16, **_EXPERTS}, "grouped heads; experts"),
    "deepseek_v2": Family(_LATENT_EXPERTS, "latent attention: keys of 24 and values of 16 numbers; experts"),
    "deepseek_v3": Family(_LATENT_EXPERTS, "latent attention: keys of 24 and values of 16 numbers; experts"),
    "minicpm3": Family(_LATENT, "latent attention: keys of 24 and values of 16 numbers"),
    "glm_moe_dsa": Family(_SPARSE, "latent attention; each query picks a few keys; experts"),
    "deepseek_v32": Family(_SPARSE, "latent attention; each query picks a few keys; experts"),
    "diffllama": Family(_GROUPED, "attention is called twice a layer with the same weights; both make one map"),
    "inkling_text": Family(
        {
            **_GROUPED,
            "head_dim": 16,
            "swa_num_attention_heads": 4,
            "swa_num_key_value_heads": 2,
            "swa_head_dim": 16,
            "sliding_window_size": 6,
            "d_rel": 8,
            "rel_extent": 8,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "local_layer_ids": [0, 2],
            "mlp_layer_types": ["dense", "sparse", "sparse"],
        },
        "grouped heads; a bias by distance; sliding window in some layers; experts",
    ),
    "gpt2": Family({**_GPT2, "scale_attn_by_inverse_layer_idx": True}, "scale by layer"),
    "gpt_neox": Family(_DECODER),
    "gptj": Family({**_GPT2, "rotary_dim": 8}, since="5.24"),
    "codegen": Family({**_GPT2, "rotary_dim": 8}, since="5.24"),
    "ctrl": Family({"vocab_size": VOCABULARY, "n_embd": 64, "dff": 64, "n_layer": 3, "n_head": 4, "n_positions": 64}),
    "opt": Family({**_DECODER, "ffn_dim": 64, "word_embed_proj_dim": 64}),
    "phi": Family(_DECODER),
    "qwen3_next": Family(
        {
            **_GROUPED,
            "head_dim": 16,
            **_EXPERTS,
            "layer_types": ["linear_attention", "full_attention", "linear_attention"],
            "shared_expert_intermediate_size": 32,
        },
        "a hybrid: attention in some layers; experts",
        layers=(1,),
    ),
    "lfm2": Family(
        {**_GROUPED, "layer_types": ["conv", "full_attention", "conv"], "block_auto_adjust_ff_dim": False},
        "a hybrid: attention in some layers",
        layers=(1,),
    ),
    "jamba": Family(
        {
            **_GROUPED,
            "num_hidden_layers": 4,
            "num_experts": 2,
            "attn_layer_offset": 1,
            "attn_layer_period": 2,
            "expert_layer_period": 2,
            "expert_layer_offset": 1,
            "use_mamba_kernels": False,
            "mamba_d_state": 4,
            "mamba_dt_rank": 4,
        },
        "a hybrid: attention in some layers; experts",
        layers=(1, 3),
    ),
    "bert": Family(_BASE, auto="encoder"),
    "roberta": Family({**_BASE, "pad_token_id": 0}, auto="encoder"),
    "distilbert": Family(
        {"vocab_size": VOCABULARY, "dim": 64, "hidden_dim": 64, "n_layers": 3, "n_heads": 4},
        auto="encoder",
    ),
    "electra": Family({**_BASE, "embedding_size": 32}, auto="encoder"),
    "albert": Family({**_BASE, "embedding_size": 32}, "all layers run one module", auto="encoder"),
    "modernbert": Family(
        {**_DECODER, "local_attention": 6, "cls_token_id": 1, "sep_token_id": 2},
        "a window to both sides in two layers of three",
        auto="encoder",
    ),
    "bart": Family(_TWO_STACKS, auto="encoder-decoder"),
    "marian": Family(_TWO_STACKS, auto="encoder-decoder"),
    "mbart": Family(_TWO_STACKS, auto="encoder-decoder"),
    "t5": Family(_T5, "a bias by distance; no scale", auto="encoder-decoder"),
}

_DEBERTA: dict[str, Any] = {**_BASE, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
_ALIBI = "a bias by distance (ALiBi)"
OWN_CODE: dict[str, Family] = {
    "bloom": Family({"vocab_size": VOCABULARY, "hidden_size": 64, "n_layer": 3, "n_head": 4}, _ALIBI),
    "falcon": Family({**_DECODER, "alibi": False}, "one key-value head for all"),
    "mpt": Family({"vocab_size": VOCABULARY, "d_model": 64, "n_layers": 3, "n_heads": 4, "max_seq_len": 64}, _ALIBI),
    "gpt_neo": Family(
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 64,
            "num_layers": 3,
            "attention_types": [[["global", "local", "global"], 1]],
            "num_heads": 4,
            "max_position_embeddings": 64,
            "window_size": 6,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
        "sliding window in some layers",
    ),
    "openai-gpt": Family({"vocab_size": VOCABULARY, "n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 64}),
    "xglm": Family({"vocab_size": VOCABULARY, "d_model": 64, "ffn_dim": 64, "num_layers": 3, "attention_heads": 4}),
    "gpt_neox_japanese": Family({**_DECODER, "intermediate_multiple_size": 1}),
    "trocr": Family(
        {
            "vocab_size": VOCABULARY,
            "d_model": 64,
            "decoder_layers": 3,
            "decoder_attention_heads": 4,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 64,
            "cross_attention_hidden_size": 64,
        },
    ),
    "xlm": Family({"vocab_size": VOCABULARY, "emb_dim": 64, "n_layers": 3, "n_heads": 4, "causal": True}),
    "deberta": Family(_DEBERTA, "scores by content and by distance", auto="encoder"),
    "deberta-v2": Family(_DEBERTA, "scores by content and by distance", auto="encoder"),
    "flaubert": Family({"vocab_size": VOCABULARY, "emb_dim": 64, "n_layers": 3, "n_heads": 4}, auto="encoder"),
    "megatron-bert": Family(_BASE, auto="encoder"),
    "mpnet": Family({**_BASE, "pad_token_id": 0}, "a bias by distance", auto="encoder"),
    "rembert": Family({**_BASE, "input_embedding_size": 32, "output_embedding_size": 32}, auto="encoder"),
    "roformer": Family({**_BASE, "embedding_size": 64}, auto="encoder"),
    "xlnet": Family(
        {"vocab_size": VOCABULARY, "d_model": 64, "n_layer": 3, "n_head": 4, "d_inner": 64},
        "scores by content and by distance; one of its two streams",
        auto="encoder",
    ),
}
"""Families with attention code of their own, read from the weights that their eager attention makes."""

_INKLING2: dict[str, Any] = {
    key: value
    for key, value in FAMILIES["inkling_text"].settings.items()
    if key not in ("local_layer_ids", "mlp_layer_types")
}
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "inkling2_text": (
        _INKLING2,
        "it also attends over what its earlier layers gave, in modules that belong to no layer",
        r"the attention module 'model\.final_input' carries no layer number",
    ),
    "minimax_m3_vl_text": (
        {
            **_GROUPED,
            "head_dim": 16,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "layer_types": ["minimax_m3_sparse"] * 3,
            "index_n_heads": 2,
            "index_head_dim": 16,
            "index_block_size": 4,
            "index_topk_blocks": 2,
        },
        "in its sparse layers each group of heads picks blocks of keys; without such layers it is read",
        "picks blocks of keys by an index",
    ),
    "mamba": (
        {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2},
        "it has no attention",
        r"MambaForCausalLM \(mamba\) never called an attention function: it has no attention",
    ),
}
"""Families that are refused at first use: settings, why, and what the message says."""

_MAKERS: dict[str, Any] = {
    "decoder": AutoModelForCausalLM,
    "encoder": AutoModel,
    "encoder-decoder": AutoModelForSeq2SeqLM,
}


def tiny_family(name: str, *, implementation: str | None = None, **overrides: Any) -> Any:
    """A tiny random model of a family in eval mode, with weights large enough that attention is far from uniform.

    Without an implementation it is the one that transformers chooses: SDPA, or eager where SDPA cannot do it. Settings
    of the configuration may be given instead of the family's. A test of a family that is too new for the transformers
    installed here is skipped.
    """
    family = FAMILIES[name] if name in FAMILIES else OWN_CODE[name]
    if family.is_too_new:
        pytest.skip(f"{name} can be read since transformers {family.since}")
    configuration = AutoConfig.for_model(name, **{**family.settings, **overrides})
    torch.manual_seed(0)
    model = _MAKERS[family.auto].from_config(configuration, attn_implementation=implementation).eval()
    for parameter_name, parameter in model.named_parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.15)
        if "sinks" in parameter_name:
            torch.nn.init.normal_(parameter, std=1.0)
    return model


def family_inputs(name: str, side: str) -> dict[str, torch.Tensor]:
    """Two texts of 12 tokens, the second with 5 tokens of padding on a side; and 7 tokens for a decoder beside."""
    ids = torch.randint(3, VOCABULARY, (2, 12), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    if side != "none":
        mask[1, slice(0, 5) if side == "left" else slice(-5, None)] = 0
    inputs = {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask}
    if name in FAMILIES and FAMILIES[name].auto == "encoder-decoder":
        inputs["decoder_input_ids"] = ids[:, :7]
    return inputs
