"""A model that reads: a torch module with its tokenizer, and the calls that make a `Reading`."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import torch

from heedmap.errors import TokenizerMissing
from heedmap.models.load import LoadedModel, ModelSource, load_model
from heedmap.reading.call import AttentionCall
from heedmap.reading.cost import Cost, estimate
from heedmap.reading.forward import input_device, predicts_next_token, run
from heedmap.reading.layers import AttentionLayer, attention_layers, other_layers, position_limit, silent_layers
from heedmap.reading.listening import CROSS, LayerListener
from heedmap.reading.odds import most_likely
from heedmap.reading.own_code import EAGER, has_own_code, refuse_values, require_layer_maps, run_own_code
from heedmap.reading.parallel import tensor_parallel_part
from heedmap.reading.progress import Progress, counted
from heedmap.reading.reading import Reading, check_layer
from heedmap.reading.tap import Heard, tap
from heedmap.text.ranges import SpansGiven
from heedmap.text.tokenize import tokenize
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.generation import Generation
    from heedmap.reading.padded import Side
    from heedmap.reading.spans import SpanShares
    from heedmap.reading.statistics import Statistics
    from heedmap.reading.two_stacks import EncoderDecoderReading


def load(
    name_or_path: str | os.PathLike[str],
    *,
    revision: str | None = None,
    dtype: str = "auto",
    device: str = "auto",
    allow_random: bool = False,
) -> Model:
    """Load a model by catalogue name, Hub id, folder or `.gguf` file, and check that it is read rightly.

    A catalogue model that is not here yet is fetched first, unless offline or its terms must be accepted.

    Args:
        name_or_path: "smollm2", "org/name", "./my model", "weights.gguf" ...
        revision: branch, tag or commit on the Hub.
        dtype: "auto" (as stored), "float32", "float16", "bfloat16" or "float64".
        device: "auto" (a GPU when there is one), "cpu", "cuda:1" ...
        allow_random: accept weights that the checkpoint lacks and that are therefore random.

    Raises:
        ModelError: it cannot be found, fetched or loaded, or its attention cannot be read; the kinds are in
            `heedmap.errors`.

    Example:
        >>> import heedmap
        >>> heedmap.load("smollm2")
        Model(smollm2: LlamaForCausalLM, 30 layers x 9 heads, float32 on cpu)
    """
    loaded = load_model(name_or_path, revision=revision, dtype=dtype, device=device, allow_random=allow_random)
    return Model(loaded)


def wrap(module: torch.nn.Module, tokenizer: Any, *, name: str | None = None) -> Model:
    """Read a model that your own code has loaded.

    Args:
        module: a transformers model; of one that `torch.compile` made, the model in it is read, uncompiled.
        tokenizer: its fast tokenizer.
        name: what to call it in the output; its class by default.

    Raises:
        UnsupportedModel: its attention cannot be read rightly.
    """
    module = getattr(module, "_orig_mod", module)  # torch.compile wraps the model, and shares its tables
    called = name or type(module).__name__
    return Model(LoadedModel(module, tokenizer, ModelSource(called, "wrapped", called, None, None)))


@dataclass(frozen=True, eq=False)
class Model:
    """A model and its tokenizer, ready to read texts.

    Attributes:
        loaded: module, tokenizer and where they came from.
    """

    loaded: LoadedModel

    def __post_init__(self) -> None:
        attention_layers(self.module)

    @property
    def module(self) -> Any:
        """The torch module."""
        return self.loaded.module

    @property
    def tokenizer(self) -> Any:
        """The tokenizer."""
        return self.loaded.tokenizer

    @property
    def name(self) -> str:
        """What the model was asked for by."""
        return self.loaded.source.name

    @property
    def layers(self) -> tuple[AttentionLayer, ...]:
        """The layers whose attention can be read; their numbers are the model's own."""
        return attention_layers(self.module)

    @property
    def other_layers(self) -> dict[int, str]:
        """The layers without attention, by number, and what they are; empty but for hybrid models.

        Example:
            >>> import heedmap
            >>> heedmap.load("smollm2").other_layers
            {}
        """
        return other_layers(self.module)

    def describe(self) -> dict[str, Any]:
        """What numbers measured on this model should name: the "model" of every JSON output."""
        return describe(self.module, self.loaded.source, self.layers)

    def cost(self, tokens: int, *, layers: int | Iterable[int] | None = None, values: bool = False) -> Cost:
        """What reading so many tokens will cost, before it starts.

        Args:
            tokens: how many.
            layers: the layers to keep, as in `read`.
            values: whether values and outputs are kept too.

        Raises:
            OutOfRange: the model has no such layer.

        Example:
            >>> import heedmap
            >>> cost = heedmap.load("smollm2").cost(8192, layers=12)
            >>> f"{cost.operations:.1g} operations, {cost.kept / 2**20:.1f} MiB kept"
            '4e+12 operations, 24.3 MiB kept'
        """
        return estimate(self.module, self.layers, tokens, kept=self.wanted(layers), values=values)

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

        Returns:
            a `Reading`; its memory grows with the length of the text, not with its square. For an encoder-decoder an
            `EncoderDecoderReading`, which holds one for each stack.

        Raises:
            EmptyText, TextTooLong: the text cannot be read.
            OutOfRange: the model has no such layer.
            TokenizerMissing: the model came without a tokenizer.
            TooLarge: it needs more memory than is free; see `cost`.
            ReadingError: an encoder-decoder without a target, or a target for another model.
        """
        tokens = self.tokenize(text, special_tokens=special_tokens, truncate=truncate)
        if target is None:
            return self.read_tokens(tokens, layers=layers, values=values, progress=progress)
        from heedmap.reading.two_stacks import decoder_tokens, read_two_stacks

        ran = decoder_tokens(self, target, special_tokens=special_tokens, truncate=truncate)
        return read_two_stacks(self, tokens, ran, layers=layers, values=values, progress=progress)

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
            kept = replace(heard.call, value=heard.value, output=heard.output) if values else heard.call
            calls[layer] = kept

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

    def tokenize(self, text: str, *, special_tokens: bool | None = None, truncate: bool = False) -> Tokens:
        """The tokens that `read` runs, without running them; arguments and errors are its own."""
        if self.tokenizer is None:
            raise TokenizerMissing(f"{self.name} has no tokenizer: give one with heedmap.wrap(module, tokenizer)")
        limit = position_limit(self.module)
        return tokenize(self.tokenizer, text, special_tokens=special_tokens, limit=limit, truncate=truncate)

    def listen(
        self,
        tokens: Tokens,
        receive: Callable[[int, Heard], None],
        *,
        layers: int | Iterable[int] | None = None,
        progress: Progress | None = None,
    ) -> torch.Tensor:
        """Run tokens once and hand over each layer's attention call as it passes; nothing is kept.

        Args:
            tokens: what to run.
            receive: called with the number of the layer and what was heard of it, in the order they run.
            layers: the layers to hand over, from 0; None hands over all.
            progress: told how many layers have run.

        Returns:
            the model's answer, see `heedmap.reading.forward.run`.

        Raises:
            OutOfRange: the model has no such layer.
        """
        from heedmap.reading.two_stacks import refuse_without_target

        refuse_without_target(self)
        wanted = self.wanted(layers)

        def pick(pair: tuple[AttentionLayer, Heard]) -> None:
            layer, heard = pair
            if layer.number in wanted:
                receive(layer.number, heard)

        tell = counted(pick, len(self.layers), "reading layers", progress)
        ids = torch.tensor([tokens.ids], dtype=torch.long, device=input_device(self.module))
        listener = LayerListener(self.layers, lambda layer, heard: tell((layer, heard)))
        if has_own_code(self.module):
            require_layer_maps(1, self.layers[0].heads, len(tokens), input_device(self.module))
            return run_own_code(self.module, ids, listener)
        with tap(self.module, listener):
            return run(self.module, ids)

    def wanted(self, layers: int | Iterable[int] | None) -> set[int]:
        """The numbers of the layers that are asked for: some, or all for None.

        Raises:
            OutOfRange: the model has no such layer.
        """
        if layers is None:
            return {layer.number for layer in self.layers}
        numbers = [layers] if isinstance(layers, int) else list(layers)
        return {check_layer(number, self.layers, self.describe()) for number in numbers}

    def __repr__(self) -> str:
        about = self.describe()
        return (
            f"Model({about['name']}: {about['class']}, {about['layers']} layers x {about['heads']} heads, "
            f"{about['dtype']} on {about['device']})"
        )


def describe(module: Any, source: ModelSource, layers: tuple[AttentionLayer, ...]) -> dict[str, Any]:
    """A model as JSON: where it came from, and what it is; hybrids also name their layers without attention."""
    others = {str(number): kind for number, kind in silent_layers(module).items()}
    part = tensor_parallel_part(module, layers[0].heads)
    return {
        "name": source.name,
        "class": type(module).__name__,
        "kind": source.kind,
        "location": source.location,
        "revision": source.revision,
        "sha256": source.sha256,
        "dtype": str(module.dtype).removeprefix("torch."),
        "device": str(input_device(module)),
        # The decoder's look at the source belongs to its own layers.
        "layers": sum(layer.stack != CROSS for layer in layers) or len(layers),
        "heads": layers[0].heads,
        "key_value_heads": layers[0].key_value_heads,
        **({"layers_without_attention": others} if others else {}),
        **({"tensor_parallel": part} if part else {}),
        **({"weights_from": EAGER} if has_own_code(module) else {}),
    }
