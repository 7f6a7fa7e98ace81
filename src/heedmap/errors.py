"""Everything that Heedmap raises on purpose, in one tree.

    HeedmapError
    ├── NumbersError            numbers or shapes given by hand that do not fit
    ├── ModelError              a model that cannot be found, fetched or loaded
    │   ├── ModelNotFound       no such name, Hub id, folder or file
    │   ├── ModelGated          the Hub wants a login or an accepted licence
    │   ├── ModelNotHere        offline, or the network does not answer, and no copy here
    │   ├── TermsNotAccepted    the model has terms that must be accepted first
    │   ├── FetchFailed         the download broke or gave other bytes than the pinned hash
    │   ├── UnsafeWeights       pickled weights, or code from the Hub
    │   ├── MissingWeights      tensors the checkpoint lacks, so that they would be random
    │   ├── TokenizerMissing    a model without a tokenizer
    │   └── UnsupportedModel    a model whose attention cannot be read rightly
    ├── TextError               a text, word or token that cannot be read
    │   ├── EmptyText           nothing to read
    │   ├── TextTooLong         more tokens than the model has positions
    │   ├── WordNotFound        the word does not stand in the text
    │   └── AmbiguousWord       the word stands there several times
    ├── OutOfRange              a layer, head or token that the model does not have
    ├── TooLarge                more than the memory here can hold
    ├── ReadingError            something that a reading did not keep, or a damaged file
    ├── LessonError             a lesson that is not there, or a broken lesson file
    ├── ClaimError              a claim about a report that cannot be read, or names what is not there
    ├── FileError               a file that cannot be read or written
    │   └── DataError           a data set of no known format, or a row of it that cannot be used
    ├── ServerError             the local application cannot start, or its worker ended
    │   ├── ReadingGone         a reading that is no longer in memory
    │   └── WorkerDied          the process that runs the models ended before it answered
    └── MissingExtra            an optional package that is not installed

A message says what was given, what would have been right, and the next step.
The library raises these; only the command line turns them into a line and an exit code.
"""

from __future__ import annotations

__all__ = [
    "AmbiguousWord",
    "ClaimError",
    "DataError",
    "EmptyText",
    "FetchFailed",
    "FileError",
    "HeedmapError",
    "LessonError",
    "MissingExtra",
    "MissingWeights",
    "ModelError",
    "ModelGated",
    "ModelNotFound",
    "ModelNotHere",
    "NumbersError",
    "OutOfRange",
    "ReadingError",
    "ReadingGone",
    "ServerError",
    "TermsNotAccepted",
    "TextError",
    "TextTooLong",
    "TokenizerMissing",
    "TooLarge",
    "UnsafeWeights",
    "UnsupportedModel",
    "WordNotFound",
    "WorkerDied",
]


class HeedmapError(Exception):
    """The base of every error that Heedmap raises on purpose."""


class NumbersError(HeedmapError, ValueError):
    """Numbers or shapes given by hand do not fit together."""


class ModelError(HeedmapError):
    """A model cannot be found, fetched or loaded."""


class ModelNotFound(ModelError):  # noqa: N818 - the tree reads as sentences
    """No catalogue name, Hub id, folder or file of this name."""


class ModelGated(ModelError):  # noqa: N818
    """The Hub wants a login, or a licence accepted on its site."""


class ModelNotHere(ModelError):  # noqa: N818
    """Offline, or the network does not answer, and there is no copy on this machine."""


class TermsNotAccepted(ModelError):  # noqa: N818
    """The model has terms of use that must be accepted first."""


class FetchFailed(ModelError):  # noqa: N818
    """The download broke off, or gave other bytes than the pinned hash."""


class UnsafeWeights(ModelError):  # noqa: N818
    """Pickled weights, or a model that needs code from the Hub."""


class MissingWeights(ModelError):  # noqa: N818
    """The checkpoint lacks tensors, so that they would be newly initialised at random."""


class TokenizerMissing(ModelError):  # noqa: N818
    """A model without a tokenizer."""


class UnsupportedModel(ModelError):  # noqa: N818
    """A model whose attention cannot be read rightly."""


class TextError(HeedmapError):
    """A text, word or token that cannot be read."""


class EmptyText(TextError):  # noqa: N818
    """There is nothing to read."""


class TextTooLong(TextError):  # noqa: N818
    """The text has more tokens than the model has positions."""


class WordNotFound(TextError):  # noqa: N818
    """The word does not stand in the text."""


class AmbiguousWord(TextError):  # noqa: N818
    """The word stands in the text several times, and the place matters."""


class OutOfRange(HeedmapError, IndexError):  # noqa: N818
    """A layer, head or token that is not there."""


class TooLarge(HeedmapError):  # noqa: N818
    """What was asked for does not fit the memory here; the message names the part to ask for instead."""


class ReadingError(HeedmapError):
    """A reading did not keep what was asked for, or its file is damaged."""


class ClaimError(HeedmapError):
    """A claim about a report cannot be read, or names a figure or verdict that is not there."""


class FileError(HeedmapError):
    """A file cannot be read or written."""


class DataError(FileError):
    """A data set is of no known format, or a row of it cannot be used."""


class MissingExtra(HeedmapError, ImportError):  # noqa: N818
    """An optional package is not installed."""


class LessonError(HeedmapError):
    """A lesson, exercise or block of the course is not there, or its file is broken (file and line are named)."""


class ServerError(HeedmapError):
    """The local application cannot start, or cannot do what was asked."""


class ReadingGone(ServerError):  # noqa: N818
    """The reading was closed, or let go to make room."""


class WorkerDied(ServerError):  # noqa: N818
    """The process that runs the models ended before it answered."""
