"""The short input that a model is checked on at first use: a few words, a picture of noise, or a sound of noise."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from heedmap.errors import ReadingError, UnsupportedModel
from heedmap.reading.forward import input_device, vocabulary_size

CHECK_TOKENS = 8
"""Length of the text that the check runs on."""

_CHECK_TARGET_TOKENS = 5
"""Length of a decoder's own input: another one, so that attention to the source is told from attention to itself."""

SOUND_FEATURES = "input_features"
"""What a speech model takes: a spectrogram of [sound, band, frame]."""

PIXELS = "pixel_values"
"""What a vision model takes: pictures of [picture, channel, height, width]."""


PICTURE_FIRST = ("paligemma",)
"""Models whose text follows a picture and looks both ways: without being told so (`token_type_ids`), transformers'
fast and eager attention mask it differently, so that a text alone has no one answer."""


def main_input(module: nn.Module) -> str:
    """What a transformers model takes in the first place: "input_ids", "pixel_values", "input_features" ..."""
    return str(getattr(module, "main_input_name", "input_ids"))


def _model_type(module: nn.Module) -> str:
    """The name that transformers has for the model's family."""
    return str(module.config.model_type)  # type: ignore[union-attr]


def is_two_towers(module: nn.Module) -> bool:
    """Whether a model runs a text and a picture side by side, each in a tower of its own (CLIP, SigLIP)."""
    return all(hasattr(module, name) for name in ("text_model", "vision_model")) and hasattr(module, "logit_scale")


def refuse_text_alone(module: nn.Module, name: str) -> None:
    """Refuse to run a text in a model that takes something else.

    Args:
        module: a transformers model.
        name: what to call it.

    Raises:
        ReadingError: it takes pictures or sound; the message says how it is read.
    """
    kind = main_input(module)
    if kind == PIXELS:
        raise ReadingError(f"{name} takes pictures, not text: read one with model.read_picture(picture)")
    if kind == SOUND_FEATURES:
        raise ReadingError(f"{name} takes sound, and writes text: give both, model.read_sound(sound, target=...)")
    if is_two_towers(module) or _model_type(module) in PICTURE_FIRST:
        raise ReadingError(f"{name} takes a picture and a text: give both, model.read_picture(picture, text)")


def short_input(module: nn.Module) -> dict[str, torch.Tensor]:
    """A short input of the kind that a model takes, by the names of its arguments.

    Raises:
        UnsupportedModel: it takes something else, or does not say how large its inputs are.
    """
    kind = main_input(module)
    if kind == PIXELS:
        return {PIXELS: _noise_picture(module.config, module)}
    if kind == SOUND_FEATURES:
        target = _short_text(module, None)[:, :_CHECK_TARGET_TOKENS]
        return {SOUND_FEATURES: _noise_sound(module), "decoder_input_ids": target}
    if kind != "input_ids":
        raise UnsupportedModel(
            f"{type(module).__name__} ({_model_type(module)}) takes {kind}, so it cannot be read from a text: "
            "run it with your own inputs inside `with heedmap.watch(module) as watched:`"
        )
    ids = _short_text(module, position_limit(module))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if getattr(module.config, "is_encoder_decoder", False):
        inputs["decoder_input_ids"] = ids[:, :_CHECK_TARGET_TOKENS]
    if _model_type(module) in PICTURE_FIRST:
        inputs["token_type_ids"] = torch.zeros_like(ids)
    if is_two_towers(module):
        inputs[PIXELS] = _noise_picture(module.config.vision_config, module)  # type: ignore[union-attr]
    return inputs


def position_limit(module: nn.Module) -> int | None:
    """How many tokens the model has positions for; None when nothing says so."""
    configuration: Any = module.config.get_text_config()  # type: ignore[operator, union-attr]
    limit = getattr(configuration, "max_position_embeddings", None)
    if limit is None or limit <= 0:
        return None
    for name, part in module.named_modules():
        # RoBERTa and its kin count positions from the padding id, so the first few rows of the table are never used.
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            return int(limit) - int(part.padding_idx) - 1
    return int(limit)


def _short_text(module: nn.Module, limit: int | None) -> torch.Tensor:
    """A few different token ids that the model knows."""
    vocabulary = vocabulary_size(module)
    if vocabulary is None:
        raise UnsupportedModel(f"{type(module).__name__} names no vocab_size, so that it cannot be run on a short text")
    length = min(CHECK_TOKENS, limit or CHECK_TOKENS)
    ids = torch.linspace(0, vocabulary - 1, length + 2).long()[1:-1]
    return ids.unsqueeze(0).to(input_device(module))


def _noise_picture(configuration: Any, module: nn.Module) -> torch.Tensor:
    """A picture of noise in the size that the model was made for."""
    size = getattr(configuration, "image_size", None)
    if size is None:
        raise UnsupportedModel(
            f"{type(module).__name__} ({configuration.model_type}) does not say how large its pictures are: run it "
            "with your own inputs inside `with heedmap.watch(module) as watched:`"
        )
    height, width = (size, size) if isinstance(size, int) else size
    return _noise(module, 1, int(getattr(configuration, "num_channels", 3)), height, width)


def _noise_sound(module: nn.Module) -> torch.Tensor:
    """A spectrogram of noise, as long as the model's sounds are."""
    configuration: Any = module.config
    sizes = [getattr(configuration, name, None) for name in ("num_mel_bins", "max_source_positions")]
    if None in sizes:
        raise UnsupportedModel(
            f"{type(module).__name__} ({configuration.model_type}) does not say how long its sounds are: run it with "
            "your own inputs inside `with heedmap.watch(module) as watched:`"
        )
    # Whisper's second convolution takes two frames of the spectrogram for each position of the encoder.
    return _noise(module, 1, int(sizes[0]), 2 * int(sizes[1]))  # type: ignore[arg-type]


def _noise(module: nn.Module, *sizes: int) -> torch.Tensor:
    """The same random numbers at every call, wherever and in whatever type the model is."""
    random = torch.randn(*sizes, generator=torch.Generator().manual_seed(0))
    kind: torch.dtype = module.dtype  # type: ignore[assignment]
    return random.to(input_device(module), kind)
