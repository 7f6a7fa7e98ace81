"""Heedmap reads, draws and tests the attention of transformer language models."""

from heedmap._version import __version__ as __version__
