"""The pictures that a watched forward call ran: one reading each, whose tokens are patches named by row and column."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from heedmap.errors import ReadingError
from heedmap.models.load import ModelSource
from heedmap.reading.batch import text_call
from heedmap.reading.forward_call import ForwardCall, WatchedCall
from heedmap.reading.listening_model import describe
from heedmap.reading.reading import Reading
from heedmap.text.tokens import Token, Tokens

CLASS = "class"
"""What the class token is called."""

BEFORE_PATCHES: dict[str, tuple[str, ...]] = {
    "aimv2_vision_model": (),
    "beit": (CLASS,),
    "chinese_clip_vision_model": (CLASS,),
    "clip_vision_model": (CLASS,),
    "deit": (CLASS, "distillation"),
    "dinov2": (CLASS,),
    "dinov2_with_registers": (CLASS,),
    "dinov3_vit": (CLASS,),
    "dpt": (CLASS,),
    "ijepa": (),
    "internvl_vision": (CLASS,),
    "mlcd_vision_model": (CLASS,),
    "siglip_vision_model": (),
    "vit": (CLASS,),
    "vit_msn": (CLASS,),
}
"""The vision models whose order of tokens is known: these, then registers, then patches row by row."""


def patch_name(row: int, column: int) -> str:
    """What a patch is called, rows and columns counted from 0.

    Example:
        >>> patch_name(2, 13)
        'r2c13'
    """
    return f"r{row}c{column}"


def patch_tokens(rows: int, columns: int, before: Sequence[str] = ()) -> Tokens:
    """The tokens of a picture: what stands before its patches ("class" ...), then "r0c0", "r0c1" ... row by row.

    Example:
        >>> patch_tokens(2, 2, ["class"]).labels
        ['class', 'r0c0', 'r0c1', 'r1c0', 'r1c1']
    """
    names = [*before, *(patch_name(row, column) for row in range(rows) for column in range(columns))]
    tokens, start = [], 0
    for index, name in enumerate(names):
        special = index < len(before)
        tokens.append(Token(index, index, name, start, start + len(name), special=special))
        start += len(name) + 1
    return Tokens(" ".join(names), tuple(tokens))


def pictures_of(forward: ForwardCall, module: nn.Module, source: ModelSource | None = None) -> list[Reading]:
    """One reading for each picture of a forward call; see `ForwardCall.pictures`.

    Args:
        forward: what was watched.
        module: the model that was watched.
        source: where it came from; None names it by the class of its vision tower.
    """
    if forward.pixels is None:
        raise ReadingError("the forward call was given no pixel_values of [picture, channel, height, width]")
    tower, name = vision_tower(forward, module)
    configuration: Any = tower.config
    heard = [one for one in forward.heard if one.layer.module.startswith(name)]
    tokens = _tokens(configuration, forward, heard)
    layers = tuple(sorted((one.layer for one in heard), key=lambda layer: layer.number))
    kind = type(tower).__name__
    about = describe(tower, source or ModelSource(kind, "watched", kind, None, None), layers)
    return [
        Reading(
            tokens=tokens,
            layers=layers,
            calls=OrderedDict(
                (one.layer.number, text_call(one.call, picture, 0, len(tokens)))
                for one in heard
                if one.call is not None
            ),
            model=about,
        )
        for picture in range(forward.pixels[0])
    ]


def vision_tower(forward: ForwardCall, module: nn.Module) -> tuple[PreTrainedModel, str]:
    """The part that reads pictures, and what the names of its modules begin with.

    Raises:
        ReadingError: no part ran whose order of tokens is known.
    """
    names = [one.layer.module for one in forward.heard]
    seen = []
    for name, part in module.named_modules():
        start = f"{name}." if name else ""
        if isinstance(part, PreTrainedModel) and any(one.startswith(start) for one in names):
            if part.config.model_type in BEFORE_PATCHES:
                return part, start
            seen.append(part.config.model_type)
    raise ReadingError(
        f"the order of picture tokens is known for {', '.join(BEFORE_PATCHES)}, not for "
        f"{', '.join(dict.fromkeys(seen))}: "
        "the weights are in .weights(layer, stack=...)"
    )


def _tokens(configuration: Any, forward: ForwardCall, heard: list[WatchedCall]) -> Tokens:
    """The patches that ran, checked against the number of tokens in every layer.

    Raises:
        ReadingError: there are more or fewer tokens than the picture has patches.
    """
    assert forward.pixels is not None
    pictures, height, width = forward.pixels
    patch = configuration.patch_size
    high, wide = (patch, patch) if isinstance(patch, int) else patch
    registers = range(1, int(getattr(configuration, "num_register_tokens", 0) or 0) + 1)
    before = [*BEFORE_PATCHES[configuration.model_type], *(f"register{number}" for number in registers)]
    tokens = patch_tokens(height // high, width // wide, before)
    for one in heard:
        if one.call is not None and one.call.query.shape[::2][:2] != (pictures, len(tokens)):
            ran = tuple(one.call.query.shape[::2])
            raise ReadingError(
                f"{one.layer.module} ran {ran[0]} x {ran[1]} tokens, where {pictures} pictures of {height} x {width} "
                f"in patches of {high} x {wide} are {len(tokens)} tokens each: the weights are in .calls"
            )
    if len({one.layer.number for one in heard}) < len(heard):
        raise ReadingError("a layer called attention several times in this forward call: take them from .calls")
    return tokens
