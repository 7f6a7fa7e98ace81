"""transformers and the Hub's library without their notes, warnings and bars: what matters is told by Heedmap itself."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.RLock()


@contextmanager
def quiet_hub() -> Iterator[None]:
    """Silence huggingface_hub for the block, and put its settings back as they were.

    The settings belong to the whole process, so that only one thread at a time is inside.
    """
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
        logging,
    )

    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verbosity, no_bars = logging.get_verbosity(), are_progress_bars_disabled()
        logging.set_verbosity(logging.CRITICAL)
        disable_progress_bars()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if not no_bars:
                enable_progress_bars()


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence transformers for the block, and put its settings back as they were."""
    from transformers.utils import logging

    with quiet_hub():
        verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
