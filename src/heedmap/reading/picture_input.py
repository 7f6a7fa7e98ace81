"""From a picture that somebody has to what a model is given: through the model's own processor, and back to look at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from heedmap.errors import FileError, ReadingError
from heedmap.models.quiet import quiet_transformers
from heedmap.reading.forward import input_device
from heedmap.reading.short_input import PIXELS, is_two_towers, main_input

if TYPE_CHECKING:
    from PIL.Image import Image

    from heedmap.reading.listening_model import ListeningModel

Pixels = NDArray[np.uint8]
"""A picture, [height, width, 3], red, green and blue from 0 to 255."""

Picture: TypeAlias = "str | os.PathLike[str] | Image | NDArray[Any]"
"""A file, a PIL picture, or an array [height, width, 3]: whole numbers to 255, or floats from 0 to 1."""


_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""The formats of pictures that are read: of others that Pillow knows, one (EPS) starts a program to be drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class PictureInput:
    """What a model is given for a picture, and a text.

    Attributes:
        inputs: tensors by the names of the model's arguments, a batch of one, on the model's device.
        seen: the picture as the model sees it: resized and cut by its processor.
    """

    inputs: dict[str, torch.Tensor]
    seen: Pixels


def picture_input(model: ListeningModel, picture: Picture, text: str | None) -> PictureInput:
    """Process a picture, and a text, for a model.

    Raises:
        ReadingError: the model takes no pictures, no text or not without one, or came without its processor.
        FileError: the picture's file cannot be read.
    """
    processor = _processor(model, text)
    pixels = as_pixels(picture)
    given: dict[str, Any] = {"images": pixels} if text is None else {"images": pixels, "text": text}
    try:
        with quiet_transformers():
            made: Mapping[str, Any] = processor(**given, return_tensors="pt")
    except (ValueError, TypeError, IndexError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ReadingError(f"the processor of {model.name} refuses this picture: {reason}") from error
    device, dtype = input_device(model.module), model.module.dtype
    inputs = {
        name: tensor.to(device, dtype) if tensor.is_floating_point() else tensor.to(device)
        for name, tensor in made.items()
        if isinstance(tensor, torch.Tensor)
    }
    found = inputs.get(PIXELS)
    if found is None or found.ndim != 4 or len(found) != 1:
        shape = "none" if found is None else "x".join(str(size) for size in found.shape)
        raise ReadingError(
            f"the processor of {model.name} makes pixels of another kind (expected 1 picture of channel x height x "
            f"width, found {shape}): run it with your own inputs inside `with heedmap.watch(model.module) as watched:`"
        )
    return PictureInput(inputs, _seen(found[0], getattr(processor, "image_processor", processor)))


def _processor(model: ListeningModel, text: str | None) -> Any:
    """The processor for what is given.

    Raises:
        ReadingError: it does not fit the model.
    """
    module, processor = model.module, model.loaded.processor
    takes = getattr(module, "input_modalities", None) or ()
    if main_input(module) != PIXELS and "image" not in takes:
        raise ReadingError(f"{model.name} takes no pictures: it is a {type(module).__name__}, so read a text")
    if processor is None:
        raise ReadingError(
            model.loaded.lacking
            or f"{model.name} came without what prepares its pictures: give it, heedmap.wrap(module, processor)"
        )
    if main_input(module) == PIXELS:
        if text is not None:
            raise ReadingError(f"{model.name} takes pictures alone: leave the text out")
        return getattr(processor, "image_processor", processor)
    if text is None:
        kind = "a picture beside a text" if is_two_towers(module) else "a picture within a text"
        raise ReadingError(f"{model.name} reads {kind}: give both, model.read_picture(picture, text)")
    return processor


def as_pixels(picture: Picture) -> Pixels:
    """A picture as an array [height, width, 3] of whole numbers up to 255.

    Raises:
        FileError: the file cannot be read.
        ReadingError: an array of another shape or kind.

    Example:
        >>> as_pixels(np.full((1, 2, 3), 0.5)).tolist()
        [[[128, 128, 128], [128, 128, 128]]]
    """
    from PIL import Image, UnidentifiedImageError

    if isinstance(picture, str | os.PathLike):
        path = Path(picture)
        try:
            with Image.open(path, formats=_FORMATS) as file:
                return np.asarray(file.convert("RGB"))
        except FileNotFoundError:
            raise FileError(f"there is no file {path}") from None
        except UnidentifiedImageError:
            raise FileError(f"{path} is no picture: give a .png, .jpg, .webp ...") from None
        except MemoryError:
            raise FileError(f"cannot read {path}: it says that it is larger than the memory there is") from None
        except (OSError, Image.DecompressionBombError, ValueError) as error:
            raise FileError(f"cannot read {path}: {error}") from None
    if isinstance(picture, Image.Image):
        return np.asarray(picture.convert("RGB"))
    return _whole_numbers(np.asarray(picture))


def _whole_numbers(array: NDArray[Any]) -> Pixels:
    """An array of pixels in whole numbers up to 255."""
    if array.ndim != 3 or array.shape[-1] != 3 or not array.size:
        raise ReadingError(
            f"a picture of shape {array.shape} was given: expected [height, width, 3], a file's name, or a PIL picture"
        )
    if np.issubdtype(array.dtype, np.floating):
        if not (np.isfinite(array).all() and array.min() >= 0.0 and array.max() <= 1.0):
            raise ReadingError("the picture holds numbers outside 0 to 1: give those, or whole numbers from 0 to 255")
        return np.asarray(np.rint(array * 255.0), dtype=np.uint8)
    if not np.issubdtype(array.dtype, np.integer) or array.min() < 0 or array.max() > 255:
        raise ReadingError(
            f"the picture holds {array.dtype} from {array.min()} to {array.max()}: give whole numbers from 0 to 255"
        )
    return array.astype(np.uint8)


def _seen(pixels: torch.Tensor, processor: Any) -> Pixels:
    """What a model sees, with the processor's normalisation taken back; [channel, height, width] goes in."""
    values = pixels.detach().float().cpu().numpy().transpose(1, 2, 0)
    if getattr(processor, "do_normalize", False):
        mean, deviation = (np.asarray(getattr(processor, name), np.float32) for name in ("image_mean", "image_std"))
        values = values * deviation + mean
    if getattr(processor, "do_rescale", True):
        values = values / float(getattr(processor, "rescale_factor", 1 / 255))
    return np.asarray(np.clip(np.rint(values), 0, 255), dtype=np.uint8)
