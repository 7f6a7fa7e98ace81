"""Speech read as a user gives it: a sound through the processor, its stretches named by time, and what is said."""

from __future__ import annotations

import functools
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import WhisperFeatureExtractor

import heedmap
from heedmap.errors import FileError, ReadingError
from heedmap.reading.model import Model
from heedmap.reading.sound_reading import samples_of, sound_tokens
from tests.conftest import ROUNDING
from tests.pictures import processor_of, vision_model, word_tokenizer
from tests.reading.test_read_picture import TEXT_ALONE
from tests.watched_families import tiny_watched

RATE = 16000
"""Samples a second: with 1000 of them a frame, 2 seconds are the 32 frames of the tiny model."""


@functools.cache
def whisper() -> Model:
    """A tiny model of speech that hears 2 seconds as 16 stretches."""
    frames: dict[str, Any] = {"hop_length": 1000, "chunk_length": 2, "n_fft": 2000}
    extractor = WhisperFeatureExtractor(feature_size=4, sampling_rate=RATE, **frames)
    return heedmap.wrap(tiny_watched("whisper", num_mel_bins=4), word_tokenizer(), processor=extractor, name="whisper")


def tone(seconds: float = 1.0) -> NDArray[np.float32]:
    """A sound that rises."""
    time = np.arange(int(seconds * RATE)) / RATE
    return (0.5 * np.sin(2 * np.pi * (100 + 200 * time) * time)).astype(np.float32)


def test_the_three_stacks_are_those_of_eager() -> None:
    model = whisper()
    reading = model.read_sound(tone(), "the cat sat", sampling_rate=RATE)
    features = processor_of(model)(tone(), sampling_rate=RATE, return_tensors="pt")["input_features"]
    eager = tiny_watched("whisper", implementation="eager", num_mel_bins=4)
    with torch.no_grad():
        expected = eager(
            input_features=features, decoder_input_ids=torch.tensor([reading.target.ids]), output_attentions=True
        )
    for stack in ("encoder", "decoder", "cross"):
        maps = getattr(expected, f"{stack}_attentions")
        for layer, weights in enumerate(maps):
            # Rounding of float32 with scores of a few units.
            found = np.asarray(reading.map(layer, 1, stack=stack))
            np.testing.assert_allclose(found, weights[0, 1], atol=1e-5)


def test_stretches_are_named_by_their_time_and_silence_is_marked() -> None:
    source = whisper().read_sound(tone(0.5), "the cat", sampling_rate=RATE).source
    assert source.labels[:3] == ["0.00s", "0.12s", "0.25s"]
    assert next(token.text for token in source if token.special) == "0.50s"
    assert whisper().read_sound(tone(), "the", sampling_rate=RATE).row("1.25s", 1, stack="encoder").query == (10,)


def test_whispers_own_stretches_are_of_two_hundredths_of_a_second() -> None:
    tokens = sound_tokens(1500, 30.0, heard=1.0)
    assert (tokens[1].text, tokens[50].text, tokens[1499].text) == ("0.02s", "1.00s", "29.98s")
    assert sum(not token.special for token in tokens) == 50
    assert len({token.text for token in tokens}) == 1500


@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_file_is_the_same_sound_to_its_own_steps(width: int, tmp_path: Path) -> None:
    kinds: dict[int, Any] = {1: np.uint8, 2: "<i2", 4: "<i4"}
    scaled = tone().astype(np.float64) * (2.0 ** (8 * width - 1) - 1) + (128 if width == 1 else 0)
    both = np.repeat(np.rint(scaled).astype(kinds[width]), 2)  # two channels
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(width)
        file.setframerate(RATE)
        file.writeframes(both.tobytes())
    samples, rate = samples_of(tmp_path / "tone.wav", None)
    assert rate == RATE
    # Half a step of the file, one in scaling, and float32's own.
    np.testing.assert_allclose(samples, tone(), atol=1.5 * 2.0 ** (1 - 8 * width) + 1e-7)
    reading = whisper().read_sound(tmp_path / "tone.wav", "the cat")
    expected = whisper().read_sound(samples, "the cat", sampling_rate=RATE).row("cat", 1, stack="cross").weights
    np.testing.assert_allclose(reading.row("cat", 1, stack="cross").weights, expected, atol=ROUNDING)


def other_model() -> Model:
    return heedmap.wrap(tiny_watched("whisper"), word_tokenizer(), name="whisper")


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no rate": (
        lambda: whisper().read_sound(tone(), "the"),
        ReadingError,
        "no sampling rate was given: .* wants 16,",
    ),
    "another rate": (
        lambda: whisper().read_sound(tone(), "the", sampling_rate=8000),
        ReadingError,
        "8,000 samples a second: whisper wants 16,000, so resample it",
    ),
    "too long": (
        lambda: whisper().read_sound(tone(3), "the", sampling_rate=RATE),
        ReadingError,
        r"the sound is 3\.0 seconds long, and the model hears 2\.0: cut it",
    ),
    "no sound": (
        lambda: whisper().read_sound(np.ones((2, 3)), "the", sampling_rate=RATE),
        ReadingError,
        r"a sound of shape \(2, 3\) was given",
    ),
    "too loud": (
        lambda: whisper().read_sound(np.full(9, 7.0), "the", sampling_rate=RATE),
        ReadingError,
        "outside -1 to 1",
    ),
    "no file": (lambda: whisper().read_sound("nowhere.wav", "the"), FileError, "there is no file nowhere.wav"),
    "no wav": (lambda: whisper().read_sound(__file__, "the"), FileError, r"is no \.wav file of whole numbers"),
    "no processor": (
        lambda: other_model().read_sound(tone(), "the", sampling_rate=RATE),
        ReadingError,
        r"whisper came without what prepares its sounds: give it, heedmap\.wrap\(module, processor\)",
    ),
    "pictures": (
        lambda: vision_model().read_sound(tone(), "the", sampling_rate=RATE),
        ReadingError,
        r"vit \(vit\) cannot be read from a sound: it is known how for whisper",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_says_what_to_give(kind: str) -> None:
    run, error, message = REFUSED[kind]
    with pytest.raises(error, match=message):
        run()


@pytest.mark.parametrize("way", TEXT_ALONE)
def test_a_text_alone_is_refused_with_the_way_to_read_a_sound(way: str) -> None:
    with pytest.raises(ReadingError, match=r"whisper takes sound, and writes text: .* model\.read_sound\(sound"):
        TEXT_ALONE[way](whisper())
