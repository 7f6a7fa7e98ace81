"""Silence for a while, and everything as it was afterwards."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import transformers
from huggingface_hub import utils as hub_utils

from heedmap.models.quiet import quiet_hub, quiet_transformers

SWITCHES: Any = transformers.utils.logging
HUB: Any = hub_utils


@pytest.fixture
def loud() -> Iterator[None]:
    """The settings of somebody who wants to hear everything."""
    before = SWITCHES.get_verbosity(), HUB.logging.get_verbosity()
    SWITCHES.set_verbosity(logging.INFO)
    HUB.logging.set_verbosity(logging.INFO)
    SWITCHES.enable_progress_bar()
    yield
    SWITCHES.set_verbosity(before[0])
    HUB.logging.set_verbosity(before[1])


@pytest.mark.usefixtures("loud")
def test_nothing_is_heard_inside_and_everything_afterwards(capfd: pytest.CaptureFixture[str]) -> None:

    def speak_and_fail() -> None:
        with quiet_transformers():
            SWITCHES.get_logger("transformers.modeling_utils").warning("a warning")
            warnings.warn("a Python warning", stacklevel=1)
            list(SWITCHES.tqdm(range(3)))
            raise KeyError

    with pytest.raises(KeyError):
        speak_and_fail()
    assert capfd.readouterr() == ("", "")
    assert SWITCHES.get_verbosity() == logging.INFO
    assert HUB.logging.get_verbosity() == logging.INFO
    assert SWITCHES.is_progress_bar_enabled()
    assert not HUB.are_progress_bars_disabled()


@pytest.mark.usefixtures("loud")
def test_bars_that_were_off_stay_off() -> None:
    SWITCHES.disable_progress_bar()
    try:
        with quiet_transformers():
            pass
        assert not SWITCHES.is_progress_bar_enabled()
        assert HUB.are_progress_bars_disabled()
    finally:
        SWITCHES.enable_progress_bar()


@pytest.mark.usefixtures("loud")
def test_the_hubs_own_switch_is_kept_apart() -> None:
    HUB.disable_progress_bars()
    try:
        with quiet_transformers(), quiet_hub():
            pass
        assert SWITCHES.is_progress_bar_enabled()
        assert HUB.are_progress_bars_disabled()
    finally:
        HUB.enable_progress_bars()
