"""transformers and the Hub's library without their notes, warnings and bars: Heedmap itself says what matters."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.RLock()


@contextmanager
def quiet_hub() -> Iterator[None]:
    """Silence huggingface_hub for the block, and put its settings back as they were.

    The settings belong to the whole process, so that only one thread at a time is inside.
    """
    import huggingface_hub.utils

    utils: Any = huggingface_hub.utils
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verbosity, no_bars = utils.logging.get_verbosity(), utils.are_progress_bars_disabled()
        utils.logging.set_verbosity(logging.CRITICAL)
        utils.disable_progress_bars()
        try:
            yield
        finally:
            utils.logging.set_verbosity(verbosity)
            # Whichever it was: transformers' own switch, used within, turns the Hub's bars on.
            (utils.disable_progress_bars if no_bars else utils.enable_progress_bars)()


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence transformers for the block, and put its settings back as they were."""
    import transformers.utils

    switches: Any = transformers.utils.logging
    with quiet_hub():
        verbosity, bars = switches.get_verbosity(), switches.is_progress_bar_enabled()
        switches.set_verbosity(logging.CRITICAL)
        switches.disable_progress_bar()
        try:
            yield
        finally:
            switches.set_verbosity(verbosity)
            if bars:
                switches.enable_progress_bar()
