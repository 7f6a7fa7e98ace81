"""Tiny models of pictures with processors of their own, so that files and arrays go in as a user gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    Gemma3Processor,
    LlavaProcessor,
    PaliGemmaProcessor,
    PreTrainedTokenizerFast,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import heedmap
from heedmap.reading.model import Model
from tests.watched_families import WATCHED, tiny_watched

MARKS = ("<pad>", "<s>", "</s>", "<unk>")
WORDS = (*MARKS, "the", "cat", "sat", "on", "a", "mat", "and", "looked", "at", "dog", "it", "was", "red", "<image>")
SIZE = {"height": 32, "width": 32}


def word_tokenizer(*, bos: bool = False) -> Any:
    """A tokenizer of a few words, with a mark for pictures."""
    backend = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if bos:
        backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    marks = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=backend, **marks)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    return tokenizer


def vision_model(name: str = "vit") -> Model:
    """A tiny model of pictures alone."""
    return heedmap.wrap(tiny_watched(name), ViTImageProcessorPil(size=SIZE), name=name)


def processor_of(model: Model) -> Any:
    """What prepares the pictures or sounds of a model."""
    assert model.loaded.processor is not None
    return model.loaded.processor


def clip_processor() -> Any:
    """What prepares pictures of 32 x 32 for a CLIP tower, without cutting."""
    return CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=SIZE)


def llava_model(**changed: Any) -> Model:
    """A tiny model of a text with a picture in it, whose vision tower has 16 patches."""
    settings = {**WATCHED["llava"].settings, "image_token_index": WORDS.index("<image>"), **changed}
    processor = LlavaProcessor(
        clip_processor(),
        word_tokenizer(),
        patch_size=8,
        vision_feature_select_strategy=settings.get("vision_feature_select_strategy", "default"),
        num_additional_image_tokens=1,
    )
    return _model("llava", settings, processor)


def noise(height: int = 32, width: int = 32) -> NDArray[np.uint8]:
    """A picture of noise."""
    return np.random.default_rng(3).integers(0, 256, (height, width, 3)).astype(np.uint8)


_TEXT: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_VISION: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
}


def gemma3_model() -> Model:
    """A tiny model of a text with a picture in it, which takes the mean of squares of 2 x 2 patches."""
    tokenizer = word_tokenizer(bos=True)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<start_of_image>", "<end_of_image>"]})
    for name, mark in (("boi", "<start_of_image>"), ("eoi", "<end_of_image>"), ("image", "<image>")):
        setattr(tokenizer, f"{name}_token", mark)
        setattr(tokenizer, f"{name}_token_id", tokenizer.convert_tokens_to_ids(mark))
    settings = {
        "text_config": {**_TEXT, "vocab_size": 40, "sliding_window": 64},
        "vision_config": {**_VISION, "model_type": "siglip_vision_model"},
        "mm_tokens_per_image": 4,
        "image_token_index": tokenizer.image_token_id,
        "boi_token_index": tokenizer.boi_token_id,
        "eoi_token_index": tokenizer.eoi_token_id,
    }
    processor = Gemma3Processor(Gemma3ImageProcessorPil(size=SIZE), tokenizer, image_seq_length=4)
    return _model("gemma3", settings, processor)


def paligemma_model() -> Model:
    """A tiny model of a picture and a text after it."""
    pictures: Any = SiglipImageProcessorPil(size=SIZE)
    pictures.image_seq_length = 16
    tokenizer = word_tokenizer()
    processor = PaliGemmaProcessor(pictures, tokenizer)
    settings = {
        "text_config": {**_TEXT, "model_type": "gemma", "vocab_size": len(tokenizer)},
        "vision_config": {**_VISION, "model_type": "siglip_vision_model", "projection_dim": 64},
        "projection_dim": 64,
        "image_token_index": processor.image_token_id,
    }
    return _model("paligemma", settings, processor)


def _model(name: str, settings: dict[str, Any], processor: Any) -> Model:
    """A tiny random model with its processor."""
    torch.manual_seed(0)
    module = AutoModelForImageTextToText.from_config(AutoConfig.for_model(name, **settings)).eval()
    for parameter in module.parameters():
        if parameter.ndim >= 2:
            torch.nn.init.normal_(parameter, std=0.15)
    return heedmap.wrap(module, processor, name=name)
