"""What each head gives on average over a data set: what stands in for a head that is removed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from heedmap.errors import FileError, OutOfRange, ReadingError
from heedmap.files import write_beside
from heedmap.json_form import check_form
from heedmap.json_text import parse_json
from heedmap.models.progress import first_line
from heedmap.reading.progress import Progress
from heedmap.reading.tap import Heard
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model

SCHEMA = "heedmap/head-means/1"

_HEADER = {"model": {"name": str}, "texts": int, "tokens": int}


@dataclass(frozen=True, eq=False, slots=True)
class HeadMeans:
    """The mean output of every head over all tokens of some texts, before the output table.

    Attributes:
        values: by layer, [head, value_dim] in float64 on the CPU.
        model: what they were measured on.
        texts: how many texts.
        tokens: how many tokens they had.
    """

    values: dict[int, torch.Tensor] = field(repr=False)
    model: dict[str, Any]
    texts: int
    tokens: int

    def of(self, layer: int, head: int) -> torch.Tensor:
        """The mean output of one head, [value_dim].

        Raises:
            OutOfRange: it was not measured.
        """
        if layer not in self.values:
            measured = ", ".join(str(number) for number in sorted(self.values))
            raise OutOfRange(f"the means of layer {layer} were not measured (there are those of layers {measured})")
        if not 0 <= head < len(self.values[layer]):
            raise OutOfRange(f"head {head} is out of range: layer {layer} has {len(self.values[layer])} heads")
        return self.values[layer][head]

    def require_model(self, model: dict[str, Any]) -> None:
        """Refuse to stand in for the heads of another model.

        Raises:
            ReadingError: they were measured on other weights.
        """
        names = ("class", "sha256", "layers", "heads")
        if any(self.model.get(name) != model.get(name) for name in names):
            raise ReadingError(
                f"the means were measured on {self.model.get('name')} ({self.model.get('class')}), and this is "
                f"{model.get('name')} ({model.get('class')}): measure them on it with head_means(model, texts)"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the means as one safetensors file.

        Raises:
            FileError: the file cannot be written; one that was there stays as it was.
        """
        header = {"schema": SCHEMA, "model": self.model, "texts": self.texts, "tokens": self.tokens}
        tensors = {str(layer): values.contiguous() for layer, values in self.values.items()}
        with write_beside(Path(path)) as temporary:
            try:
                save_file(tensors, temporary, metadata={"heedmap": json.dumps(header, allow_nan=False)})
            except SafetensorError as error:
                raise FileError(f"cannot write {path}: {error}") from None

    @staticmethod
    def open(path: str | os.PathLike[str]) -> HeadMeans:
        """Open means that were saved.

        Raises:
            FileError: the file cannot be read.
            ReadingError: it holds no means, or is damaged.
        """
        path = Path(path)
        if not path.is_file():
            raise FileError(f"there is no file {path}")
        try:
            with safe_open(path, framework="pt") as file:
                header = parse_json((file.metadata() or {}).get("heedmap", "{}"))
                if header.get("schema") != SCHEMA:
                    raise ReadingError(f"{path} holds no means of heads: save some with head_means(...).save(path)")
                check_form(header, _HEADER, "its header", ValueError)
                values = {int(name): file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a dict
            for layer, means in values.items():
                if means.ndim != 2 or not means.is_floating_point() or not means.numel() or layer < 0:
                    raise ValueError(f"the means of layer {layer} are of {means.dtype} and {tuple(means.shape)}")
            return HeadMeans(values, header["model"], header["texts"], header["tokens"])
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}") from None
        except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ReadingError(
                f"{path} is damaged, or holds no means: {type(error).__name__}: {first_line(error)}"
            ) from None

    def __str__(self) -> str:
        return (
            f"means of {len(self.values)} layers of {self.model['name']} over {self.texts} texts, {self.tokens} tokens"
        )


def head_means(model: Model, texts: Sequence[str | Tokens], *, progress: Progress | None = None) -> HeadMeans:
    """Measure the mean output of every head over a data set; each token counts once, nothing else is kept.

    Args:
        model: a model of one stack.
        texts: the data set; what stands in for a head should be of the kind that the head is removed in.
        progress: told how many texts have run.

    Raises:
        ReadingError: there is no text, or the model has two stacks.
        UnsupportedModel: the family has attention code of its own, so that the heads' outputs are not heard.

    Example:
        >>> import heedmap
        >>> means = head_means(heedmap.load("smollm2"), ["The cat sat.", "It rained all day."])
        >>> means.texts, means.tokens, tuple(means.of(12, 4).shape)
        (2, 10, (64,))
    """
    from heedmap.reading.editor import refuse_own_code

    refuse_own_code(model.module)
    if not texts:
        raise ReadingError("there is no text to take means of: give at least one")
    sums: dict[int, torch.Tensor] = {}
    count = 0

    def add(layer: int, heard: Heard) -> None:
        sums[layer] = sums.get(layer, 0) + heard.output[0].double().sum(1).cpu()

    for done, text in enumerate(texts):
        if progress is not None:
            progress(done, len(texts), "mean outputs of heads")
        tokens = model.tokenize(text) if isinstance(text, str) else text
        model.listen(tokens, add)
        count += len(tokens)
    if progress is not None:
        progress(len(texts), len(texts), "mean outputs of heads")
    return HeadMeans(
        {layer: total / count for layer, total in sorted(sums.items())}, model.describe(), len(texts), count
    )
