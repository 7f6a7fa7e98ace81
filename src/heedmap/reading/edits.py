"""Edits of a model while it reads: remove a head, or forbid a look. They add up, and the readings say which were on.

    from heedmap.reading.edits import forbid, head_means, remove
    means = head_means(model, texts)
    model.read(text, edit=remove(16, 3, means) + forbid("it", "trophy", layers=[12]))
    model.edited(remove(16, 3, means)).stats(text)

An edit tells what follows from taking something away in this one model. Other heads may take over what a removed head
did, so a small effect does not prove that it has no role (McGrath et al. 2023, "The Hydra Effect").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from heedmap.errors import OutOfRange, ReadingError
from heedmap.reading.head_means import HeadMeans, head_means
from heedmap.text.tokens import Word
from heedmap.whole_numbers import one_or_several

if TYPE_CHECKING:
    from heedmap.reading.reading import Reading

__all__ = ["NONE", "Edit", "Forbidden", "HeadMeans", "Removal", "Words", "forbid", "head_means", "remove"]

Words: TypeAlias = str | int | Word | Sequence[str | int | Word]
"""Tokens by word ("it", "it#2", "@5"), by index, or several of these; words are found in the text that is read."""

OFF_THE_DISTRIBUTION = "zero is off the distribution: no text makes the head give it"


@dataclass(frozen=True, slots=True)
class Removal:
    """One head that is removed: what it gives, before the output table, is replaced.

    Attributes:
        layer: from 0.
        head: from 0.
        by: "mean", "zero" or "text".
        means: the means of a data set, for "mean".
        text: the other text's reading, for "text": token i gets what its token i got.
        at: the tokens where the head is removed; None for all.
        stack: "encoder", "decoder" or "cross" in an encoder-decoder.
    """

    layer: int
    head: int
    by: str
    means: HeadMeans | None = field(default=None, repr=False)
    text: Reading | None = field(default=None, repr=False)
    at: Words | None = None
    stack: str = ""

    def to_json(self) -> dict[str, Any]:
        """The removal as JSON."""
        about: dict[str, Any] = {"edit": "remove head", "layer": self.layer, "head": self.head, "by": self.by}
        if self.means is not None:
            about |= {"texts": self.means.texts, "tokens": self.means.tokens}
        if self.text is not None:
            about["text"] = self.text.text
        if self.by == "zero":
            about["note"] = OFF_THE_DISTRIBUTION
        return about | _beside(at=self.at, stack=self.stack)

    def __str__(self) -> str:
        instead = {
            "mean": f"its mean over {self.means.texts} texts" if self.means is not None else "",
            "zero": "zero (off the distribution)",
            "text": f"what it gave in “{self.text.text}”" if self.text is not None else "",
        }[self.by]
        where = "" if self.at is None else f" at {_listed(self.at)}"
        return f"{_stacked(self.stack)}layer {self.layer} head {self.head} replaced by {instead}{where}"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Tokens that may not look at tokens, before the softmax: what is left of each row still adds up to 1.

    Attributes:
        queries: the tokens that look.
        keys: the tokens that they may not look at.
        layers: from 0; None for all.
        heads: from 0, in each of the layers; None for all.
        stack: "encoder", "decoder" or "cross" in an encoder-decoder; keys of "cross" are the source's tokens.
    """

    queries: Words
    keys: Words
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    stack: str = ""

    def to_json(self) -> dict[str, Any]:
        """What is forbidden, as JSON."""
        layers, heads = (None if some is None else list(some) for some in (self.layers, self.heads))
        about = {"edit": "forbid look", "of": _named(self.queries), "at": _named(self.keys)}
        return {**about, "layers": layers, "heads": heads} | _beside(stack=self.stack)

    def __str__(self) -> str:
        layers = "all layers" if self.layers is None else f"layers {', '.join(map(str, self.layers))}"
        heads = "all heads" if self.heads is None else f"heads {', '.join(map(str, self.heads))}"
        where = f"{_stacked(self.stack)}{layers}, {heads}"
        return f"{_listed(self.queries)} may not look at {_listed(self.keys)} ({where})"


@dataclass(frozen=True, slots=True)
class Edit:
    """Removals and forbidden looks that are on together; `+` puts two edits together.

    Attributes:
        parts: in the order in which they were given.
    """

    parts: tuple[Removal | Forbidden, ...] = ()

    def __add__(self, other: Edit) -> Edit:
        return Edit(self.parts + other.parts)

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def removals(self) -> list[Removal]:
        """The heads that are removed."""
        return [part for part in self.parts if isinstance(part, Removal)]

    @property
    def forbidden(self) -> list[Forbidden]:
        """The looks that are forbidden."""
        return [part for part in self.parts if isinstance(part, Forbidden)]

    def to_json(self) -> list[dict[str, Any]]:
        """The parts as JSON, as they stand under "edits" in the model of every output."""
        return [part.to_json() for part in self.parts]

    def __str__(self) -> str:
        return "; ".join(str(part) for part in self.parts) or "no edit"


NONE = Edit()
"""Nothing is edited."""


def remove(
    layer: int,
    head: int,
    means: HeadMeans | None = None,
    *,
    zero: bool = False,
    like: Reading | None = None,
    at: Words | None = None,
    stack: str = "",
) -> Edit:
    """Remove a head: replace what it gives by its mean over a data set, by zero, or by what it gave in another text.

    A head is removed after its weights have been read, so that its own row does not change; later layers do. Grouped
    heads share keys and values, not outputs: one goes and the others stay.

    Args:
        layer: from 0.
        head: from 0.
        means: what the head gives on average, see `head_means`; the usual way.
        zero: replace it by 0 instead, which is off the distribution: no text makes the head give that.
        like: a reading of another text, kept with `values=True`, whose outputs are put in token by token: of as many
            tokens, or `at` names those that both have.
        at: the tokens where the head is removed; None for all.
        stack: "encoder", "decoder" or "cross" in an encoder-decoder.

    Raises:
        ReadingError: none, or more than one, of the three ways was given.
        OutOfRange: the means, or the reading, do not have such a layer or head.

    Example:
        >>> import heedmap
        >>> print(remove(16, 3, zero=True))
        layer 16 head 3 replaced by zero (off the distribution)
        >>> model = heedmap.load("smollm2")
        >>> model.read("The cat sat.", edit=remove(16, 3, zero=True)).model["edits"][0]["by"]
        'zero'
    """
    if (means is not None) + zero + (like is not None) != 1:
        raise ReadingError(
            "say what stands in for the removed head: the means of a data set (head_means(model, texts)), zero=True, "
            "or like=a reading of another text; one of the three"
        )
    if means is not None:
        means.of(layer, head)
    by = "mean" if means is not None else "zero" if zero else "text"
    return Edit((Removal(int(layer), int(head), by, means, like, at, stack),))


def forbid(
    queries: Words,
    keys: Words,
    *,
    layers: int | Iterable[int] | None = None,
    heads: int | Iterable[int] | None = None,
    stack: str = "",
) -> Edit:
    """Forbid tokens to look at tokens, before the softmax: the rest of each row takes the share.

    Args:
        queries: the tokens that look.
        keys: the tokens that they may not look at.
        layers: from 0; None for all.
        heads: from 0, in each of the layers; None for all.
        stack: "encoder", "decoder" or "cross" in an encoder-decoder.

    Raises:
        OutOfRange: no layers or heads, or negative ones.

    Example:
        >>> import heedmap
        >>> model = heedmap.load("smollm2")
        >>> reading = model.read("The cat sat on the mat.", edit=forbid("mat", "cat", layers=12, heads=[4]))
        >>> float(reading.row("mat", 12, 4).weights[1]), round(reading.row("mat", 12, 4).sum, 4)
        (0.0, 1.0)
    """
    return Edit((Forbidden(queries, keys, _numbers("layer", layers), _numbers("head", heads), stack),))


def _numbers(what: str, given: int | Iterable[int] | None) -> tuple[int, ...] | None:
    """Layers or heads in order, None for all."""
    if given is None:
        return None
    numbers = tuple(sorted(set(one_or_several(given))))
    if not numbers or numbers[0] < 0:
        raise OutOfRange(f"no {what} {numbers[0]}" if numbers else f"no {what} was named: give some, or None for all")
    return numbers


def _named(words: Words) -> list[str]:
    """Tokens as they were given."""
    several = [words] if isinstance(words, str | int | Word) else list(words)
    return [one.text if isinstance(one, Word) else f"@{one}" if isinstance(one, int) else one for one in several]


def _listed(words: Words) -> str:
    """Tokens as they were given, in words."""
    return ", ".join(f"“{name}”" for name in _named(words))


def _stacked(stack: str) -> str:
    """The stack before a layer's number."""
    return f"{stack} " if stack else ""


def _beside(at: Words | None = None, stack: str = "") -> dict[str, Any]:
    """What is said only where it matters."""
    return ({} if at is None else {"at": _named(at)}) | ({"stack": stack} if stack else {})
