"""A model that reads: the calls that make a `Reading`, a table of statistics, or new tokens."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from heedmap.errors import TextError
from heedmap.reading.again import Ran, weights_known_by
from heedmap.reading.call import AttentionCall
from heedmap.reading.edits import NONE, Edit
from heedmap.reading.forward import input_device, predicts_next_token
from heedmap.reading.listening_model import ListeningModel
from heedmap.reading.odds import most_likely
from heedmap.reading.own_code import has_own_code, refuse_values, require_layer_maps
from heedmap.reading.progress import Progress
from heedmap.reading.reading import Reading
from heedmap.reading.tap import Heard
from heedmap.text.ranges import SpansGiven
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.generation import Generation
    from heedmap.reading.padded import Side
    from heedmap.reading.picture_input import Picture
    from heedmap.reading.picture_reading import PictureReading
    from heedmap.reading.sound_reading import Sound
    from heedmap.reading.spans import SpanShares
    from heedmap.reading.statistics import Statistics
    from heedmap.reading.two_stacks import EncoderDecoderReading


@dataclass(frozen=True, eq=False, repr=False)
class Model(ListeningModel):
    """A model and its tokenizer, ready to read texts.

    Attributes:
        loaded: module, tokenizer and where they came from.
    """

    @overload
    def read(
        self,
        text: str,
        *,
        target: None = None,
        layers: int | Iterable[int] | None = None,
        values: bool = False,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
        edit: Edit = NONE,
    ) -> Reading: ...
    @overload
    def read(
        self,
        text: str,
        *,
        target: str,
        layers: int | Iterable[int] | None = None,
        values: bool = False,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
        edit: Edit = NONE,
    ) -> EncoderDecoderReading: ...
    def read(
        self,
        text: str,
        *,
        target: str | None = None,
        layers: int | Iterable[int] | None = None,
        values: bool = False,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
        edit: Edit = NONE,
    ) -> Reading | EncoderDecoderReading:
        """Read one text in a single ordinary forward pass.

        Args:
            text: what to read.
            target: what the decoder of an encoder-decoder runs, and it alone; its row i chooses token i + 1.
            layers: the layers to keep, from 0; None keeps all.
            values: also keep each layer's values and output, for `explain` on a saved reading.
            special_tokens: whether begin-of-text and the like are added; None is the tokenizer's own way.
            truncate: cut a text that is longer than the model's positions.
            progress: told how many layers have run; see `heedmap.reading.progress`.
            edit: heads that are removed and looks that are forbidden, beside what is edited already; see
                `heedmap.reading.edits`. All else that a model does is edited by `model.edited(edit)`.

        Returns:
            a `Reading`; its memory grows with the length of the text, not with its square. For an encoder-decoder an
            `EncoderDecoderReading`, which holds one for each stack.

        Raises:
            EmptyText, TextTooLong: the text cannot be read.
            OutOfRange: the model has no such layer.
            TokenizerMissing: the model came without a tokenizer.
            TooLarge: it needs more memory than is free; see `cost`.
            ReadingError: an encoder-decoder without a target, or a target for another model.
            UnsupportedModel: it is not known how to edit this model.

        Example:
            >>> import heedmap
            >>> len(heedmap.load("smollm2").read("The cat sat on the mat.").tokens)
            7
        """
        model = self.edited(edit) if edit else self
        tokens = model.tokenize(text, special_tokens=special_tokens, truncate=truncate)
        if target is None:
            return model.read_tokens(tokens, layers=layers, values=values, progress=progress)
        from heedmap.reading.two_stacks import decoder_tokens, read_two_stacks

        ran = decoder_tokens(model, target, special_tokens=special_tokens, truncate=truncate)
        return read_two_stacks(model, tokens, ran, layers=layers, values=values, progress=progress)

    def read_batch(
        self,
        texts: Sequence[str],
        *,
        layers: int | Iterable[int] | None = None,
        batch_size: int = 8,
        padding: Side = "right",
        values: bool = False,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
    ) -> list[Reading]:
        """Read many texts in few forward passes; each gets the numbers that it has alone.

        Texts of like length run together, padded to one length. The padding is no part of the readings, and positions
        start at each text's first real token. At the first use of a side the model is checked on two short texts.

        Args:
            texts: what to read.
            layers: the layers to keep, from 0; None keeps all.
            batch_size: how many texts run together at most.
            padding: where the padding stands, "right" or "left"; the readings name it.
            values: also keep each layer's values and output.
            special_tokens: whether begin-of-text and the like are added; None is the tokenizer's own way.
            truncate: cut texts that are longer than the model's positions.
            progress: told how many texts have been read.

        Returns:
            one `Reading` a text, in the order given.

        Raises:
            EmptyText, TextTooLong: a text cannot be read.
            TextError: one text was given instead of several.
            OutOfRange: the model has no such layer, or a batch of no texts.
            UnsupportedModel: the model reads a padded text otherwise than the text alone.
            TooLarge: a batch needs more memory than is free.

        Example:
            >>> import heedmap
            >>> readings = heedmap.load("smollm2").read_batch(["The cat sat.", "It rains in the mountains."], layers=12)
            >>> [len(reading.tokens) for reading in readings]
            [4, 6]
        """
        from heedmap.reading.together import read_together

        if isinstance(texts, str):
            raise TextError("read_batch takes a list of texts, and this is one: read(text), or read_batch([text])")
        tokens = [self.tokenize(text, special_tokens=special_tokens, truncate=truncate) for text in texts]
        return read_together(
            self, tokens, layers=layers, batch_size=batch_size, padding=padding, values=values, progress=progress
        )

    def generate(
        self,
        text: str,
        new_tokens: int = 20,
        *,
        layers: int | Iterable[int] | None = None,
        seed: int | None = None,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
        **options: Any,
    ) -> Generation:
        """Let the model go on with a text, and keep for each new token the row that chose it, at the step it did so.

        The model writes what it writes without being read: at the first use of each kind of cache that is checked on
        a few tokens. Row i chooses token i + 1. Memory grows with the tokens times the new tokens. In an
        encoder-decoder the text is the source; `.cross` of the generation has the rows on it.

        Args:
            text: the prompt.
            new_tokens: how many tokens to write at most; a token that ends the text ends it sooner.
            layers: the layers to keep, from 0; None keeps all.
            seed: where the random numbers of sampling begin; None takes torch's as they are.
            special_tokens: whether begin-of-text and the like are added; None is the tokenizer's own way.
            truncate: cut a prompt that is longer than the model's positions.
            progress: told how many tokens have been written.
            options: those of transformers' `generate`: `do_sample`, `temperature`, `num_beams`,
                `cache_implementation` ("static" ...) and so on. Without `do_sample=True` the most likely is taken.

        Raises:
            EmptyText, TextTooLong: the prompt cannot be read, or there are no positions for the new tokens.
            OutOfRange: no new tokens, or the model has no such layer.
            ReadingError: the model does not write, or not with these options.
            UnsupportedModel: it writes something else when it is read.
            TooLarge: the rows need more memory than is free.

        Example:
            >>> import heedmap
            >>> generation = heedmap.load("smollm2").generate("The cat sat on the", 4, layers=12)
            >>> generation.text
            "The cat sat on the cat's back,"
            >>> print(generation.row(0, layer=12, head=4).says)
            row 4 “the” chooses token 5 “cat”
        """
        from heedmap.reading.generate import generate

        tokens = self.tokenize(text, special_tokens=special_tokens, truncate=truncate)
        return generate(self, tokens, new_tokens, layers=layers, seed=seed, progress=progress, **options)

    def read_picture(
        self, picture: Picture, text: str | None = None, *, layers: int | Iterable[int] | None = None
    ) -> PictureReading:
        """Read a picture, or a picture and a text, in a single ordinary forward pass.

        Args:
            picture: a file, a PIL picture, or an array [height, width, 3].
            text: for a model of both; in a vision-language model with the processor's mark where the picture stands.
            layers: the layers to keep, from 0, of each stack that has them; None keeps all.

        Returns:
            a `PictureReading`: its patches by row and column, "r0c0", "r0c1" ..., and what looks where in the picture.

        Raises:
            ReadingError: the model takes no pictures, no text or not without one; it is not known how its patches lie;
                or it came without its processor.
            FileError: the picture's file cannot be read.
            OutOfRange: the model has no such layer.
        """
        from heedmap.reading.picture_reading import read_picture

        return read_picture(self, picture, text, layers=layers)

    def read_sound(
        self,
        sound: Sound,
        target: str,
        *,
        sampling_rate: int | None = None,
        layers: int | Iterable[int] | None = None,
        values: bool = False,
        progress: Progress | None = None,
    ) -> EncoderDecoderReading:
        """Read a sound and what is said in it, in a single ordinary forward pass of a speech model (Whisper).

        Args:
            sound: a .wav file, or its samples, [sample], from -1 to 1.
            target: the text that the decoder runs; its row i chooses token i + 1.
            sampling_rate: samples a second, of samples given by hand.
            layers: as in `read`.
            values: as in `read`.
            progress: as in `read`.

        Returns:
            an `EncoderDecoderReading` whose source is the sound: a token for each stretch, named by its time: "0.02s".

        Raises:
            ReadingError: the model takes no sound, came without its processor, or wants another sampling rate.
            FileError: the sound's file cannot be read.
            OutOfRange: the model has no such layer.
        """
        from heedmap.reading.sound_reading import read_sound

        return read_sound(
            self, sound, target, sampling_rate=sampling_rate, layers=layers, values=values, progress=progress
        )

    def read_tokens(
        self,
        tokens: Tokens,
        *,
        layers: int | Iterable[int] | None = None,
        values: bool = False,
        progress: Progress | None = None,
    ) -> Reading:
        """Read tokens that are already made; the rest is as in `read`."""
        self.cost(len(tokens), layers=layers, values=values).require()
        if has_own_code(self.module):
            refuse_values(self.module, values)
            require_layer_maps(len(self.wanted(layers)), self.layers[0].heads, len(tokens), input_device(self.module))
        calls: OrderedDict[int, AttentionCall] = OrderedDict()

        def keep(layer: int, heard: Heard) -> None:
            calls[layer] = heard.kept(values=values)

        answer = self.listen(tokens, keep, layers=layers, progress=progress)
        logits = answer[0, -1] if predicts_next_token(self.module) else None
        return Reading(
            tokens=tokens,
            layers=self.layers,
            calls=calls,
            model=self.describe(),
            logits=logits,
            candidates=() if logits is None else most_likely(logits, self.tokenizer),
            reader=self,
            ran=Ran(weights_known_by(self.module)),
        )

    def spans(
        self,
        text: str,
        spans: SpansGiven | None = None,
        *,
        split: str | None = None,
        of: str | None = None,
        layers: int | Iterable[int] | None = None,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
    ) -> SpanShares:
        """How much of a text's attention goes to each named part, measured during the pass with nothing kept.

        Args:
            text: what to read.
            spans: the parts by name: {"task": (0, 812)} or {"task": "0:812"} in characters, {"doc": "tok:0:200"} in
                tokens, half-open; or a list of `NamedSpan`.
            split: cut what no span holds into parts: "paragraphs", "sentences", "turns", or a marker such as "### Doc".
            of: who looks: "last" token, "all" tokens, a word, or a range; by default the last in a model that
                predicts the next token, all in others.
            layers: the layers to measure, from 0; None measures all.
            special_tokens: whether begin-of-text and the like are added; None is the tokenizer's own way.
            truncate: cut a text that is longer than the model's positions.
            progress: told how many layers have run.

        Raises:
            EmptyText, TextTooLong: the text cannot be read.
            TextError: no part was named, or parts overlap or are empty.
            OutOfRange: a part reaches outside the text, or the model has no such layer.
            WordNotFound, AmbiguousWord: the word that looks is not there, or several times.

        Example:
            >>> import heedmap
            >>> shares = heedmap.load("smollm2").spans("It rains. The cat sat.", split="sentences", layers=7)
            >>> [(line.name, line.share > 0) for line in shares.table()]
            [('first token', True), ('1 It rains.', True), ('2 The cat sat.', True)]
        """
        from heedmap.reading.spans import parts_of_text, spans_of_text

        tokens = self.tokenize(text, special_tokens=special_tokens, truncate=truncate)
        parts = parts_of_text(tokens, spans, split)
        return spans_of_text(self, parts, of=of, layers=layers, progress=progress)

    def stats(
        self,
        text: str,
        *,
        layers: int | Iterable[int] | None = None,
        only: Collection[str] | None = None,
        largest: bool = False,
        received: bool = False,
        positions: bool = False,
        special_tokens: bool | None = None,
        truncate: bool = False,
        progress: Progress | None = None,
    ) -> Statistics:
        """Exact statistics of all heads on one text, reduced layer by layer during the pass; nothing else is kept.

        Memory grows with the length of the text, so that texts can be measured whose maps would not fit.

        Args:
            text: what to read.
            layers: the layers to measure, from 0; None measures all.
            only: the columns to compute: "first", "itself" and "previous" cost next to nothing, whatever needs whole
                rows ("special", "entropy", "normalised_entropy", "effective_tokens", "distance") one more attention
                call together; None takes all but "largest". See `heedmap.reading.statistics.COLUMNS`.
            largest: also the largest weight of each row, by tiles: it costs about as much as the rest.
            received: also what each token receives, for `Statistics.received`: one more attention call.
            positions: also keep the values at each position, for `Statistics.curve`.
            special_tokens: whether begin-of-text and the like are added; None is the tokenizer's own way.
            truncate: cut a text that is longer than the model's positions.
            progress: told how many layers have run; see `heedmap.reading.progress`.

        Returns:
            a table with one row a head: means and medians over the positions after the first.

        Raises:
            EmptyText, TextTooLong: the text cannot be read.
            OutOfRange: the model has no such layer, or there is no such column.
            TokenizerMissing: the model came without a tokenizer.
            TooLarge: it needs more memory than is free.

        Example:
            >>> import heedmap
            >>> stats = heedmap.load("smollm2").stats("The cat sat on the mat.")
            >>> round(float(stats["first"][stats.where(layer=12, head=4)[0]]), 3)
            0.626
        """
        from heedmap.reading.statistics import StatisticsMeter, stats_of_tokens

        tokens = self.tokenize(text, special_tokens=special_tokens, truncate=truncate)
        meter = StatisticsMeter(tokens, only=only, largest=largest, received=received, positions=positions)
        return stats_of_tokens(self, meter, layers=layers, progress=progress)
