"""What a speech model did with a sound and what is said in it: the encoder's tokens are named by their time."""

from __future__ import annotations

import os
import wave
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heedmap.errors import FileError, ReadingError
from heedmap.models.quiet import quiet_transformers
from heedmap.reading.forward import input_device
from heedmap.reading.progress import Progress
from heedmap.reading.short_input import SOUND_FEATURES, main_input
from heedmap.reading.two_stacks import EncoderDecoderReading, decoder_tokens, read_two_stacks
from heedmap.text.tokens import Token, Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model

Sound: TypeAlias = "str | os.PathLike[str] | NDArray[Any]"
"""A .wav file, or samples [sample] from -1 to 1."""

KNOWN = ("whisper",)
"""The speech models of which it is known how much of the sound each token of the encoder stands for."""

_LARGEST = {1: 128.0, 2: 32768.0, 4: 2147483648.0}
"""What a sample of so many bytes is divided by."""


def read_sound(
    model: Model,
    sound: Sound,
    target: str,
    *,
    sampling_rate: int | None = None,
    layers: int | Iterable[int] | None = None,
    values: bool = False,
    progress: Progress | None = None,
) -> EncoderDecoderReading:
    """Read a sound and a target; see `Model.read_sound`."""
    extractor = _extractor(model)
    samples, rate = samples_of(sound, sampling_rate)
    wanted = int(extractor.sampling_rate)
    if rate != wanted:
        given = "no sampling rate was given" if rate is None else f"the sound has {rate:,} samples a second"
        raise ReadingError(f"{given}: {model.name} wants {wanted:,}, so resample it (scipy.signal.resample_poly)")
    longest = int(extractor.n_samples)
    if len(samples) > longest:
        raise ReadingError(
            f"the sound is {len(samples) / wanted:.1f} seconds long, and the model hears {longest / wanted:.1f}: cut "
            "it, samples[:n]"
        )
    with quiet_transformers():
        made = extractor(samples, sampling_rate=wanted, return_tensors="pt")
    features = made[SOUND_FEATURES].to(input_device(model.module), model.module.dtype)
    source = sound_tokens(int(model.module.config.max_source_positions), longest / wanted, heard=len(samples) / wanted)
    ran = decoder_tokens(model, target, special_tokens=None, truncate=False)
    return read_two_stacks(
        model, source, ran, layers=layers, values=values, progress=progress, inputs={SOUND_FEATURES: features}
    )


def sound_tokens(count: int, seconds: float, *, heard: float) -> Tokens:
    """The encoder's tokens, each named by the time at which its stretch begins: "0.00s", "0.02s" ...

    Args:
        count: how many.
        seconds: how long they are together.
        heard: how long the sound is; what comes after it is silence that the model was given, marked as special.

    Example:
        >>> [(token.text, token.special) for token in sound_tokens(4, 0.08, heard=0.05)]
        [('0.00s', False), ('0.02s', False), ('0.04s', False), ('0.06s', True)]
    """
    each, tokens, start = seconds / count, [], 0
    digits = max(2, -int(np.floor(np.log10(each))))
    for index in range(count):
        name = f"{index * each:.{digits}f}s"
        tokens.append(Token(index, index, name, start, start + len(name), special=index * each >= heard))
        start += len(name) + 1
    return Tokens(" ".join(token.text for token in tokens), tuple(tokens))


def _extractor(model: Model) -> Any:
    """What prepares the model's sounds.

    Raises:
        ReadingError: the model takes no sound, or it is not known how, or it came without its processor.
    """
    kind = model.module.config.model_type
    if main_input(model.module) != SOUND_FEATURES or kind not in KNOWN:
        raise ReadingError(
            f"{model.name} ({kind}) cannot be read from a sound: it is known how for {', '.join(KNOWN)}; others can be "
            "run with your own inputs inside `with heedmap.watch(model.module) as watched:`"
        )
    processor = model.loaded.processor
    if processor is None:
        raise ReadingError(
            model.loaded.lacking
            or f"{model.name} came without what prepares its sounds: give it, heedmap.wrap(module, processor)"
        )
    return getattr(processor, "feature_extractor", processor)


def samples_of(sound: Sound, sampling_rate: int | None) -> tuple[NDArray[np.float32], int | None]:
    """The samples, of several channels their mean, and how many there are a second.

    Raises:
        FileError: the file cannot be read, or is no .wav of whole numbers.
        ReadingError: an array that is no sound.
    """
    if isinstance(sound, str | os.PathLike):
        return _read_wave(Path(sound))
    samples = np.asarray(sound, dtype=np.float32)
    if samples.ndim != 1 or not samples.size:
        raise ReadingError(f"a sound of shape {samples.shape} was given: expected samples [sample] of one channel")
    if not np.isfinite(samples).all() or np.abs(samples).max() > 1.0:
        raise ReadingError("the sound holds numbers outside -1 to 1: divide whole numbers by the largest there can be")
    return samples, sampling_rate


def _read_wave(path: Path) -> tuple[NDArray[np.float32], int]:
    """The samples of a .wav file."""
    try:
        with wave.open(str(path), "rb") as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            raw = file.readframes(file.getnframes())
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except (wave.Error, EOFError) as error:
        raise FileError(f"{path} is no .wav file of whole numbers ({error}): give one, or its samples") from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None
    if width not in _LARGEST or not raw:
        raise FileError(f"{path} has samples of {8 * width} bits, or none: give a .wav of 16 bits, or its samples")
    kind: Any = {1: np.uint8, 2: "<i2", 4: "<i4"}[width]
    values = np.frombuffer(raw, dtype=kind).astype(np.float32)
    values = (values - 128.0 if width == 1 else values) / np.float32(_LARGEST[width])
    return values.reshape(-1, channels).mean(1), rate
