"""What a model did with a picture, alone or with a text: its patches by row and column, and the picture to draw on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedmap.errors import ReadingError
from heedmap.reading.forward import evaluating
from heedmap.reading.forward_call import ForwardCall
from heedmap.reading.forward_texts import readings_of
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.listening import TEXT, VISION
from heedmap.reading.on_a_page import OnAPage
from heedmap.reading.patch_row import PatchRow
from heedmap.reading.picture_input import Picture, Pixels, picture_input
from heedmap.reading.pictures import CLASS, patch_name, pictures_of, vision_tower
from heedmap.reading.reading import Reading
from heedmap.reading.short_input import is_two_towers
from heedmap.reading.watch import watch
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.listening_model import ListeningModel

Places = NDArray[np.int64]
"""The positions of a picture's patches among tokens, [row, column]."""

LANGUAGE_MODELS = ("gemma3", "llava", "paligemma")
"""The vision-language models of which it is known how a picture's tokens lie: row by row, in one run."""


@dataclass(frozen=True, slots=True, eq=False)
class PictureReading(OnAPage):
    """What a model did with a picture, as one reading a stack of layers.

    Attributes:
        picture: [height, width, 3], what the model saw: resized and cut by its processor.
        vision: the patches' look at each other: a full `Reading` whose tokens are "r0c0", "r0c1" ... by row and
            column, after "class" where there is one.
        text: the text's; None where there was none. In a vision-language model the tokens of the picture stand in it
            as "r0c0", "r0c1" ... too.
        places: the positions of the patches by stack, [row, column]: in "vision", and in the "text" of a
            vision-language model, whose own grid may be coarser.
    """

    picture: Pixels
    vision: Reading
    text: Reading | None
    places: dict[str, Places]

    def patches(
        self, word: str, layer: int | None = None, head: int | None = None, *, stack: str | None = None
    ) -> PatchRow:
        """Where in the picture a token looks; it prints as a grid and draws itself on the picture.

        Args:
            word: of the text, or "class", or a patch by row and column: "r2c3".
            layer: from 0; None is the middle layer.
            head: from 0; None is the mean over heads.
            stack: "vision" or "text"; by default the text of a vision-language model, else vision.

        Raises:
            ReadingError: no such stack, or one that does not see the picture.
            WordNotFound, AmbiguousWord, OutOfRange: as `Reading.row`.
        """
        name = stack or (TEXT if TEXT in self.places else VISION)
        reading = self.stack(name)
        if name not in self.places:
            raise ReadingError("the text tower does not see the picture: take stack='vision'")
        return PatchRow(reading.row(word, layer, head), self.places[name], self.picture)

    def stack(self, name: str) -> Reading:
        """The reading of a stack: "vision" or "text".

        Raises:
            ReadingError: another name, or there was no text.
        """
        reading = {VISION: self.vision, TEXT: self.text}.get(name)
        if reading is None:
            there = VISION if self.text is None else f"{VISION}, {TEXT}"
            raise ReadingError(f"there is no stack {name!r}: take one of {there}")
        return reading

    def __str__(self) -> str:
        rows, columns = self.places[VISION].shape
        height, width = self.picture.shape[:2]
        beside = "" if self.text is None else f"; {len(self.text.tokens)} tokens of text"
        return f"{self.vision.model['name']}: {rows} x {columns} patches of a picture of {height} x {width}{beside}"


def read_picture(
    model: ListeningModel, picture: Picture, text: str | None = None, *, layers: int | Iterable[int] | None = None
) -> PictureReading:
    """Read a picture in one ordinary forward pass; see `Model.read_picture`."""
    if model.edit:
        raise ReadingError("edits act on texts alone: read a picture with the model as it is")
    given = picture_input(model, picture, text)
    module, tokenizer = model.module, model.tokenizer
    wanted = None if layers is None else model.wanted(layers)
    with evaluating(module), torch.no_grad(), watch(module, tokenizer, layers=wanted) as watched:
        module(**given.inputs)
    (forward,) = watched.forwards
    _, start = vision_tower(forward, module)
    seen = replace(forward, heard=[one for one in forward.heard if one.layer.module.startswith(start)])
    (vision,) = pictures_of(seen, module, model.loaded.source)
    places = {VISION: _grid_of(vision.tokens)}
    if text is None:
        return PictureReading(given.seen, vision, None, places)
    rest = replace(forward, heard=[one for one in forward.heard if not one.layer.module.startswith(start)])
    written = _text_reading(model, rest)
    if not is_two_towers(module):
        places[TEXT] = _places_in_text(model, written, places[VISION].shape)
        written = replace(written, tokens=_named(written.tokens, places[TEXT]))
    return PictureReading(given.seen, vision, written, places)


def _text_reading(model: ListeningModel, forward: ForwardCall) -> Reading:
    """The reading of the text, under the model's own name."""
    (found,) = readings_of(forward, model.module, model.tokenizer)
    layers: tuple[AttentionLayer, ...] = found.layers
    from heedmap.reading.listening_model import describe

    return replace(found, model=describe(model.module, model.loaded.source, layers), reader=None)


def _grid_of(tokens: Tokens) -> Places:
    """The positions of the patches among a picture's own tokens: those named by row and column, which stand last."""
    rows, columns = (int(part) + 1 for part in tokens.labels[-1][1:].split("c"))
    return np.arange(len(tokens) - rows * columns, len(tokens)).reshape(rows, columns)


def _places_in_text(model: ListeningModel, reading: Reading, grid: tuple[int, ...]) -> Places:
    """Where the patches stand in the text of a vision-language model.

    Raises:
        ReadingError: it is not known how they lie, or the text holds none or another number.
    """
    configuration: Any = model.module.config
    kind = configuration.model_type
    if kind not in LANGUAGE_MODELS:
        raise ReadingError(
            f"how the tokens of a picture lie in the text is known for {', '.join(LANGUAGE_MODELS)}, not for {kind}: "
            "run it with your own inputs inside `with heedmap.watch(model.module, model.tokenizer) as watched:`"
        )
    number = configuration.image_token_id
    found = [token.index for token in reading.tokens if token.id == number]
    if not found:
        mark = getattr(model.loaded.processor, "boi_token", None) or getattr(model.loaded.processor, "image_token", "")
        raise ReadingError(
            f"the text has no place for the picture: write {mark} where it stands, or make the text with "
            "processor.apply_chat_template"
        )
    rows, columns = grid
    if kind == "gemma3":
        # Its projector takes the mean of squares of patches.
        rows = columns = int(configuration.mm_tokens_per_image**0.5)
    if kind == "llava" and configuration.vision_feature_select_strategy == "full" and len(found) == rows * columns + 1:
        found = found[1:]  # the class token goes first
    if len(found) != rows * columns or found != list(range(found[0], found[0] + len(found))):
        raise ReadingError(
            f"{len(found)} tokens of the text stand for the picture, where it has {rows} x {columns} patches: give one "
            "picture, and one place for it"
        )
    return np.array(found).reshape(rows, columns)


def _named(tokens: Tokens, places: Places) -> Tokens:
    """The tokens with those of the picture named by row and column."""
    names = {int(places[row, column]): patch_name(row, column) for row, column in np.ndindex(*places.shape)}
    before = int(places[0, 0]) - 1
    if before >= 0 and tokens[before].id == tokens[before + 1].id:
        names[before] = CLASS
    listed = (replace(token, label=names.get(token.index, token.label)) for token in tokens)
    return Tokens(tokens.text, tuple(listed), tokens.cut_off)
