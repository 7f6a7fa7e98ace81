"""Generation under the tap: the model writes what it always writes, and the row that chose each token is kept.

A row is reduced to its weights in the moment in which it passes, since caches write over their own keys: a sliding one
of fixed size rolls its buffer in place. Under a cache the keys of a call are those that the cache still holds, so each
row is put back at the places in the text that its mask rule names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from heedmap.errors import HeedmapError, OutOfRange, ReadingError, TextTooLong, UnsupportedModel
from heedmap.models.quiet import quiet_transformers
from heedmap.reading.call import AttentionCall
from heedmap.reading.forward import input_device, refuse_other_vocabulary
from heedmap.reading.generation import Generation, LayerRows
from heedmap.reading.generation_check import check_generation
from heedmap.reading.layers import AttentionLayer, is_encoder_decoder, position_limit
from heedmap.reading.listening import CROSS, DECODER, ENCODER, LayerListener
from heedmap.reading.memory import require_memory
from heedmap.reading.own_code import has_own_code
from heedmap.reading.progress import Progress
from heedmap.reading.short_input import refuse_text_alone
from heedmap.reading.tap import Heard, tap
from heedmap.text.tokenize import from_ids
from heedmap.text.tokens import Tokens

if TYPE_CHECKING:
    from heedmap.reading.model import Model

OURS = {
    "max_new_tokens": "give new_tokens",
    "max_length": "give new_tokens",
    "output_attentions": "the rows are read from the fast pass",
    "return_dict_in_generate": "a Generation comes back",
    "inputs": "give the text",
    "input_ids": "give the text",
    "attention_mask": "give the text",
    "decoder_input_ids": "the decoder begins with its start token",
    "disable_compile": "a compiled step cannot be heard",
    "generation_config": "give its settings by name",
    "past_key_values": "the model begins with an empty cache",
    "cache": "the model begins with an empty cache",
}
"""Options of transformers' `generate` that are given in another way here, and how."""

_DRAFTS = "several tokens are proposed at once, so that no one row chooses each"
NOT_ONE_ROW = {
    "assistant_model": _DRAFTS,
    "assistant_early_exit": _DRAFTS,
    "prompt_lookup_num_tokens": _DRAFTS,
    "use_mtp": _DRAFTS,
    "guidance_scale": "a second pass without the prompt takes part in each choice",
    "dola_layers": "earlier layers take part in each choice",
    "custom_generate": "it is not known how your own code chooses",
}
"""Ways of writing in which a token is not chosen by the one row before it, and why; asked for or set in the model."""

_WITHOUT = {"guidance_scale": 1.0}
"""What such an option is set to where it does nothing; else None or False."""


def generate(
    model: Model,
    prompt: Tokens,
    new_tokens: int,
    *,
    layers: int | Iterable[int] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Generation:
    """Let a model go on with a prompt, and keep the row that chose each new token; see `Model.generate`."""
    options = _checked_options(options, model.module)
    _refuse_what_cannot_run(model, prompt, new_tokens)
    wanted = model.wanted(layers)
    stacks = (DECODER, CROSS) if is_encoder_decoder(model.module) else ("",)
    beams = int(options.get("num_beams") or 1)
    rows = sum(layer.heads for layer in model.layers if layer.number in wanted) * new_tokens
    require_memory(
        8.0 * rows * (len(prompt) + new_tokens) * (beams + 1),
        "cpu",
        f"keeping {new_tokens} rows of {len(prompt) + new_tokens:,} tokens in {len(wanted)} layers",
        "keep fewer layers (layers=...)",
    )
    from heedmap.reading.listening_model import describe

    check_generation(model.module, options.get("cache_implementation"))
    steps = StepListener(model.layers, wanted)
    ids = torch.tensor([prompt.ids], dtype=torch.long, device=input_device(model.module))
    refuse_other_vocabulary(model.module, ids)
    with steps.hearing(model.module), _seeded(seed, model.module), _counting(model.module, new_tokens, progress):
        output = run_generation(model.module, ids, new_tokens, **options)
    source = prompt if is_encoder_decoder(model.module) else None
    begin = prompt.ids if source is None else output.sequences[0, :1].tolist()
    ids_written, beams_used = what_was_written(output, len(begin))
    tokens = from_ids(model.tokenizer, [*begin, *ids_written])
    options = {**options, **({} if seed is None else {"seed": seed})}

    def of_stack(stack: str, keys: Tokens | None) -> Generation:
        layers = tuple(layer for layer in model.layers if layer.stack == stack)
        rows_of = {
            layer.number: steps.rows(layer, len(begin), beams_used, keys) for layer in layers if layer.number in wanted
        }
        about = {**describe(model.module, model.loaded.source, layers), **({"stack": stack} if stack else {})}
        return Generation(tokens, len(begin), layers, rows_of, about, options, keys)

    found = of_stack(stacks[0], None)
    return found if source is None else replace(found, cross=of_stack(CROSS, source))


def run_generation(module: Any, ids: torch.Tensor, new_tokens: int, **options: Any) -> Any:
    """The `generate` of transformers for one text, without its notes.

    Raises:
        ReadingError: transformers refuses the options; its first sentence says why.
    """
    with quiet_transformers(), torch.no_grad():
        try:
            return module.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=new_tokens,
                return_dict_in_generate=True,
                disable_compile=True,
                **options,
            )
        except HeedmapError:
            raise
        except Exception as error:  # its settings, a folder's generation_config.json too, fail in as many ways
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ReadingError(f"{type(module).__name__} cannot generate so: {reason}") from error


def what_was_written(output: Any, prompt: int) -> tuple[list[int], list[int]]:
    """The ids of the new tokens, and for each the row of the batch in which it was chosen.

    In beam search a text moves between rows; where it has no more tokens, its row is -1.
    """
    written = output.sequences[0, prompt:].tolist()
    beams = getattr(output, "beam_indices", None)
    if beams is None:
        return written, [0] * len(written)
    used = [beam for beam in beams[0].tolist() if beam >= 0]
    return written[: len(used)], used


class StepListener:
    """A receiver for the tap that keeps the weights of each call's last row, by the place of that row in the text."""

    def __init__(self, layers: Sequence[AttentionLayer], wanted: Collection[int]) -> None:
        self._layers = layers
        self._wanted = wanted
        self._found: dict[tuple[str, int], dict[int, _StepWeights]] = {}
        self._place = 0
        self._step = LayerListener(layers, self._keep)

    @contextlib.contextmanager
    def hearing(self, module: nn.Module) -> Iterator[None]:
        """Hear the forward passes made inside the block."""
        handle = module.register_forward_pre_hook(self._begin)
        try:
            with tap(module, lambda heard: self._step(heard)):
                yield
        finally:
            handle.remove()

    def _begin(self, *_: Any) -> None:
        """A forward pass begins: which call belongs to which layer is counted anew."""
        self._step = LayerListener(self._layers, self._keep)

    def _keep(self, layer: AttentionLayer, heard: Heard) -> None:
        """Keep the last row of a layer."""
        if layer.stack == ENCODER:
            return
        if layer.stack != CROSS:  # a look at the source happens in the decoder's place, which its own call names
            self._place = heard.call.rule.query_offset + heard.call.rule.queries - 1
        if layer.number in self._wanted:
            self._found.setdefault((layer.stack, layer.number), {})[self._place] = _last_row(heard.call)

    def rows(self, layer: AttentionLayer, prompt: int, beams: list[int], keys: Sized | None = None) -> LayerRows:
        """The rows of one layer that chose the new tokens.

        Args:
            layer: the layer.
            prompt: how many tokens the prompt has.
            beams: the row of the batch in which each new token was chosen.
            keys: what the rows look at; None for the text itself.

        Raises:
            ReadingError: a row was not heard.
        """
        length = prompt + len(beams)
        steps = self._found.get((layer.stack, layer.number), {})
        missing = [place for place in range(prompt - 1, length - 1) if place not in steps]
        if missing:
            raise ReadingError(f"the row that chose token {missing[0] + 1} was not heard in layer {layer.number}")
        chosen = [steps[prompt - 1 + step].of(beam) for step, beam in enumerate(beams)]
        heads = chosen[0][0].shape[0]
        width = length if keys is None else len(keys)
        weights = np.zeros((len(beams), heads, width))
        allowed = np.zeros((len(beams), width), dtype=np.bool_)
        sinks = np.zeros((len(beams), heads))
        for step, (row, reachable, first, sink) in enumerate(chosen):
            places = slice(first, first + row.shape[1])
            weights[step, :, places] = row
            allowed[step, places] = reachable
            sinks[step] = sink
        return LayerRows(weights, allowed, sinks)


@dataclass(frozen=True, slots=True, eq=False)
class _StepWeights:
    """The last row of one attention call.

    Attributes:
        weights: [batch, head, key], on the keys that it can reach.
        allowed: [batch, key].
        first: place in the text of the first of these keys.
        sinks: [batch, head].
    """

    weights: torch.Tensor
    allowed: torch.Tensor
    first: int
    sinks: torch.Tensor

    def of(self, beam: int) -> tuple[Any, Any, int, Any]:
        """One row of the batch: weights, allowed, first and sinks."""
        return self.weights[beam].numpy(), self.allowed[beam].numpy(), self.first, self.sinks[beam].numpy()


def _last_row(call: AttentionCall) -> _StepWeights:
    """The weights of a call's last row; see `_StepWeights`."""
    last = call.rule.queries - 1
    low, high = call.rule.key_range(last, last + 1)
    scores = call.scores(slice(last, last + 1), slice(low, high))[:, :, 0]
    logsumexp = torch.logsumexp(scores, -1)
    sinks = torch.zeros_like(logsumexp)
    if call.sinks is not None:
        sink = call.sinks[..., -1].to(scores.dtype).expand_as(logsumexp)
        logsumexp = torch.logaddexp(logsumexp, sink)
        sinks = torch.exp(sink - logsumexp)
    weights = torch.exp(scores - logsumexp.unsqueeze(-1)).masked_fill(scores == -torch.inf, 0.0)
    device = call.query.device
    rows, columns = torch.tensor([last], device=device), torch.arange(low, high, device=device)
    allowed = call.rule.allowed(rows, columns)[:, :, 0].any(1).expand(len(weights), -1)
    return _StepWeights(weights.cpu(), allowed.cpu(), call.rule.key_offset + low, sinks.cpu())


def _checked_options(options: dict[str, Any], module: Any) -> dict[str, Any]:
    """The options for transformers: greedy unless sampling is asked for, so that a text can be had again."""
    for name in options:
        if name in OURS:
            raise ReadingError(f"{name} is not given here: {OURS[name]}")
    own = getattr(module, "generation_config", None)
    for name, why in NOT_ONE_ROW.items():
        value = options.get(name, getattr(own, name, None))
        if value is None or value is False or value == _WITHOUT.get(name):
            continue
        if name in options:
            raise ReadingError(f"with {name}, {why}: leave it out")
        raise ReadingError(f"the model's own generation_config sets {name}, and {why}: set it to None")
    if (options.get("num_return_sequences", getattr(own, "num_return_sequences", None)) or 1) != 1:
        raise ReadingError("one text comes back: take num_return_sequences=1")
    return {"do_sample": False, **options}


def _refuse_what_cannot_run(model: Model, prompt: Tokens, new_tokens: int) -> None:
    """Refuse models that do not write, and texts that would not fit."""
    module = model.module
    if model.edit:
        raise ReadingError("a model that writes is not edited: read the whole text with model.read(text, edit=...)")
    refuse_text_alone(module, model.name)
    if has_own_code(module):
        raise UnsupportedModel(
            f"{type(module).__name__} has attention code of its own: what it writes cannot be read step by step yet; "
            "write with model.module.generate, and read the whole text with model.read"
        )
    if not (hasattr(module, "can_generate") and module.can_generate()):
        raise ReadingError(f"{model.name} does not write: it is a {type(module).__name__}, so take a causal model")
    if new_tokens < 1:
        raise OutOfRange(f"{new_tokens} new tokens were asked for: take 1 or more")
    limit = position_limit(module)
    begin = 1 if is_encoder_decoder(module) else len(prompt)
    if limit is not None and begin + new_tokens > limit:
        raise TextTooLong(
            f"{begin} tokens and {new_tokens} new ones are more than the model's {limit} positions: "
            f"ask for {max(limit - begin, 0)} at most"
        )


@contextlib.contextmanager
def _seeded(seed: int | None, module: nn.Module) -> Iterator[None]:
    """Random numbers that begin with a seed inside the block, and go on as they would have after it."""
    if seed is None:
        yield
        return
    device = input_device(module)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def _counting(module: nn.Module, total: int, progress: Progress | None) -> Iterator[None]:
    """Tell after each step how many tokens have been written."""
    if progress is None:
        yield
        return
    done = 0

    def tell(*_: Any) -> None:
        nonlocal done
        done = min(done + 1, total)
        progress(done, total, "writing tokens")

    progress(0, total, "writing tokens")
    handle = module.register_forward_hook(tell)
    try:
        yield
    finally:
        handle.remove()
        if done < total:
            progress(total, total, "writing tokens")
