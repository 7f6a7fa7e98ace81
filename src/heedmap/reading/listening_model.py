"""A model that can be listened to: a checked module and tokenizer, run once, each attention call handed over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import torch

from heedmap.errors import TokenizerMissing
from heedmap.models.load import LoadedModel, ModelSource
from heedmap.reading.cost import Cost, estimate
from heedmap.reading.edits import NONE, Edit
from heedmap.reading.forward import input_device, run
from heedmap.reading.kept_calls import check_layer, refuse_other_positions
from heedmap.reading.layers import AttentionLayer, attention_layers, other_layers, position_limit, silent_layers
from heedmap.reading.listening import CROSS, LayerListener
from heedmap.reading.own_code import EAGER, has_own_code, require_layer_maps, run_own_code
from heedmap.reading.parallel import tensor_parallel_part
from heedmap.reading.progress import Progress, counted
from heedmap.reading.short_input import refuse_text_alone
from heedmap.reading.tap import Heard, tap
from heedmap.text.tokenize import tokenize
from heedmap.text.tokens import Tokens
from heedmap.whole_numbers import one_or_several

if TYPE_CHECKING:
    from heedmap.reading.editor import EditedText, Editor


@dataclass(frozen=True, eq=False)
class ListeningModel:
    """A model and its tokenizer, checked, whose attention calls can be heard; used as a `Model`.

    Attributes:
        loaded: module, tokenizer and where they came from.
        edit: what is edited while it reads; see `edited`.
    """

    loaded: LoadedModel
    edit: Edit = NONE

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
        about = describe(self.module, self.loaded.source, self.layers)
        return {**about, "edits": self.edit.to_json()} if self.edit else about

    def edited(self, edit: Edit) -> Self:
        """The same model with a head removed or a look forbidden in all that it reads; edits add up.

        Nothing is changed in the module: the edit acts while texts run. See `heedmap.reading.edits`.

        Example:
            >>> import heedmap
            >>> from heedmap.reading.edits import remove
            >>> model = heedmap.load("smollm2").edited(remove(16, 3, zero=True))
            >>> [edit["head"] for edit in model.stats("The cat sat.", only=["first"]).model["edits"]]
            [3]
        """
        return replace(self, edit=self.edit + edit)

    def editor(self, texts: Sequence[EditedText]) -> Editor | None:
        """What carries out the edits of one forward pass over some texts; None where nothing is edited."""
        if not any(text.edit for text in texts):
            return None
        from heedmap.reading.editor import Editor

        return Editor(self.module, self.layers, texts, describe(self.module, self.loaded.source, self.layers))

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

    def tokenize(self, text: str, *, special_tokens: bool | None = None, truncate: bool = False) -> Tokens:
        """The tokens that `read` runs, without running them; arguments and errors are its own.

        Example:
            >>> import heedmap
            >>> heedmap.load("smollm2").tokenize("The cat sat").labels
            ['The', 'cat', 'sat']
        """
        if self.tokenizer is None:
            refuse_text_alone(self.module, self.name)
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

        refuse_text_alone(self.module, self.name)
        refuse_without_target(self)
        wanted = self.wanted(layers)

        def pick(pair: tuple[AttentionLayer, Heard]) -> None:
            layer, heard = pair
            refuse_other_positions(layer.number, heard.call, len(tokens), len(tokens))
            if layer.number in wanted:
                receive(layer.number, heard)

        tell = counted(pick, len(self.layers), "reading layers", progress)
        ids = torch.tensor([tokens.ids], dtype=torch.long, device=input_device(self.module))
        listener = LayerListener(self.layers, lambda layer, heard: tell((layer, heard)))
        editor = self._editor_of(tokens)
        if has_own_code(self.module):
            require_layer_maps(1, self.layers[0].heads, len(tokens), input_device(self.module))
            return run_own_code(self.module, ids, listener)
        with tap(self.module, listener, editor=editor):
            return run(self.module, ids)

    def _editor_of(self, tokens: Tokens) -> Editor | None:
        """The editor of one text alone."""
        if not self.edit:
            return None
        from heedmap.reading.editor import edited_text

        return self.editor([edited_text(self.edit, tokens)])

    def wanted(self, layers: int | Iterable[int] | None) -> set[int]:
        """The numbers of the layers that are asked for: some, or all for None.

        Raises:
            OutOfRange: the model has no such layer.
        """
        if layers is None:
            return {layer.number for layer in self.layers}
        numbers = one_or_several(layers)
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
