"""A second pass over what was read: run as the first one was, and proved to be the same before any of it is shown.

A reading keeps queries, keys and log-sum-exps. Values, the output table, and what entered the attention module take
another pass. Its inputs are those of the first pass, the model must have the same weights, and in every layer that the
reading kept it must give the same queries, keys, log-sum-exps and outputs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from heedmap.errors import ReadingError
from heedmap.reading.batch import text_call
from heedmap.reading.call import AttentionCall
from heedmap.reading.forward import input_device
from heedmap.reading.listening import AttentionLayer, LayerListener
from heedmap.reading.own_code import has_own_code, refuse_values
from heedmap.reading.progress import Progress, counted
from heedmap.reading.tap import Heard, tap

if TYPE_CHECKING:
    from heedmap.reading.kept_calls import KeptCalls
    from heedmap.reading.model import Model

_SAMPLE = 32
"""Numbers of each table by which its weights are known again."""

_SWITCHES = ("_disable_adapters", "_active_adapter", "merged_adapters", "scaling")
"""What turns an adapter of PEFT on and off, or weighs it, without a change of any weight."""

_PROVED = {"query": "queries", "key": "keys", "logsumexp": "log-sum-exps", "output_mark": "outputs"}
"""What of a call a second pass must give again, and how it is called."""

_NOT_KEPT = (
    "past_key_values",
    "labels",
    "return_dict",
    "output_attentions",
    "output_hidden_states",
)
"""Arguments that do not change what a whole text's attention is, or that do not last."""

_TO_KEEP_VALUES = {
    "watched": "keep the values while the call runs, heedmap.watch(model, tokenizer, values=True)",
    "read": "keep the values while the text is read, model.read(text, values=True)",
}
_TO_DO_ANEW = {
    "watched": "watch the call again, and ask before anything of the model changes",
    "read": "read the text again, and ask before anything of the model changes",
}


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """How the forward pass of a reading was run.

    Attributes:
        weights: what the model's weights are known by, see `weights_known_by`; None where nobody looked.
        inputs: what the module was called with, by name; None where the tokens' ids ran alone.
        text: the reading's row of the batch that ran.
        start: where its first token stands in the row.
        autocast: the dtype of torch's autocast by kind of device, where it was on.
    """

    weights: dict[str, int] | None = field(default=None, repr=False)
    inputs: dict[str, Any] | None = field(default=None, repr=False)
    text: int = 0
    start: int = 0
    autocast: dict[str, torch.dtype] = field(default_factory=lambda: _autocast_now(), repr=False)

    def own_part(self, tensor: torch.Tensor, length: int) -> torch.Tensor:
        """The reading's own tokens of a tensor [text|1, token, ...], as a batch of one."""
        return self.own_row(tensor)[:, self.start : self.start + length]

    def own_row(self, tensor: torch.Tensor) -> torch.Tensor:
        """The reading's own row of a tensor [text|1, ...], as a batch of one."""
        return tensor if tensor.shape[0] == 1 else tensor[self.text : self.text + 1]


def _autocast_now() -> dict[str, torch.dtype]:
    """The dtype of torch's autocast by kind of device, where it is on."""
    return {kind: torch.get_autocast_dtype(kind) for kind in ("cpu", "cuda") if torch.is_autocast_enabled(kind)}


def weights_known_by(module: nn.Module) -> dict[str, int]:
    """What the weights of a model are known by: for each table some of its numbers, for each adapter its switches.

    It takes some milliseconds. What it does not see, such as a change of one single number, shows in what the layers
    give.
    """
    known: dict[str, int] = {}
    samples: dict[torch.device, list[tuple[str, torch.Tensor]]] = {}
    for name, table in chain(module.named_parameters(), module.named_buffers()):
        known[name] = hash((tuple(table.shape), table.dtype))
        if table.device.type != "meta" and table.numel():
            numbers = table.detach().flatten()
            chosen = numbers[:: max(len(numbers) // _SAMPLE, 1)][:_SAMPLE].double()
            samples.setdefault(table.device, []).append((name, nn.functional.pad(chosen, (0, _SAMPLE - len(chosen)))))
    for listed in samples.values():
        rows = torch.stack([sample for _, sample in listed]).cpu().numpy()
        for (name, _), row in zip(listed, rows, strict=True):
            known[name] = hash((known[name], row.tobytes()))
    for name, part in module.named_modules():
        switches = {one: vars(part)[one] for one in _SWITCHES if one in vars(part)}
        if switches:
            known[f"{name} (adapter)"] = hash(repr(switches))
    return known


def inputs_to_keep(given: dict[str, Any]) -> dict[str, Any]:
    """What a module was called with, as far as a second call needs it; tensors without their gradients."""
    return {
        name: one.detach() if isinstance(one, torch.Tensor) else one
        for name, one in given.items()
        if one is not None and name not in _NOT_KEPT
    }


def run_again(
    reading: KeptCalls,
    receive: Callable[[int, Heard], None],
    *,
    layers: int | Iterable[int] | None = None,
    progress: Progress | None = None,
    keeps_values: bool = False,
) -> None:
    """Run what was read once more, and hand over each layer's call, proved to be that of the first pass.

    Layers that the reading did not keep are proved by those that it kept, and by its logits.

    Args:
        reading: what was read.
        receive: called with the layer's number and the reading's own part of the call, [1, head, token, dim].
        layers: the layers to hand over, from 0; None hands over all.
        progress: told how many layers have run.
        keeps_values: whether the reading would not have asked, had its values been kept; for the advice of an error.

    Raises:
        ReadingError: there is no live model, or the second pass is not the first one; the message says what differs.
    """
    advice = (_TO_KEEP_VALUES if keeps_values else _TO_DO_ANEW)[_how(reading)]
    model = _model_of(reading, advice)
    _refuse_another_state(reading, model, advice)
    wanted = model.wanted(layers)
    ran = reading.ran
    length = len(reading.tokens)
    texts, size_of_row = (1, length) if ran.inputs is None else ran.inputs["input_ids"].shape
    model.cost(texts * size_of_row, layers=wanted, values=True).require()

    def check(layer: int, heard: Heard) -> None:
        own = heard
        if ran.inputs is not None:
            call = replace(heard.call, value=heard.value, output=heard.output)
            call = text_call(call, ran.text, ran.start, ran.start + length)
            assert call.value is not None
            assert call.output is not None
            own = replace(heard, call=replace(call, value=None, output=None), value=call.value, output=call.output)
        if layer in reading.calls:
            _refuse_another_call(reading.calls[layer], own.kept(), layer, advice)
        if layer in wanted:
            receive(layer, own)

    def told_again(done: int, total: int, what: str) -> None:
        if progress is not None:
            progress(done, total, f"{what} again")

    kind = input_device(model.module).type
    logits: torch.Tensor | None
    with torch.autocast(kind, ran.autocast.get(kind), enabled=kind in ran.autocast):
        if ran.inputs is None:
            logits = model.listen(reading.tokens, check, progress=told_again)
        else:
            logits = getattr(_run_inputs(model, ran.inputs, check, told_again), "logits", None)
    if reading.logits is not None and logits is not None:
        place = logits.shape[1] - size_of_row + ran.start + length - 1
        _refuse_difference(reading.logits, logits[ran.text, place], "logits", "the model", model.module.dtype, advice)


def _run_inputs(
    model: Model, inputs: dict[str, Any], receive: Callable[[int, Heard], None], progress: Progress | None
) -> Any:
    """Call the module as it was called, and hand over each layer's call."""

    def pick(pair: tuple[AttentionLayer, Heard]) -> None:
        receive(pair[0].number, pair[1])

    tell = counted(pick, len(model.layers), "reading layers", progress)
    listener = LayerListener(model.layers, lambda layer, heard: tell((layer, heard)))
    with tap(model.module, listener), torch.no_grad():
        # With `use_cache` as it was: it decides how transformers takes positions that begin anew in a row.
        return model.module(**inputs, return_dict=True)


def with_values(
    reading: KeptCalls, layers: Iterable[int], progress: Progress | None = None
) -> dict[int, AttentionCall]:
    """The reading's own calls of some layers, each with its values and output.

    Those that were not kept come from a second pass; query, key and log-sum-exp stay the reading's own.

    Raises:
        ReadingError: as `run_again`.
        UnsupportedModel: the family has attention code of its own, so that its values are not heard.
    """
    calls = {number: reading.call(number) for number in layers}
    missing = [number for number, call in calls.items() if call.value is None or call.output is None]
    if missing and reading.reader is not None and has_own_code(reading.reader.module):
        refuse_values(reading.reader.module, values=True)

    def keep(number: int, heard: Heard) -> None:
        calls[number] = replace(calls[number], value=heard.value, output=heard.output)

    if missing:
        run_again(reading, keep, layers=missing, progress=progress, keeps_values=True)
    return calls


def _how(reading: KeptCalls) -> str:
    """Whether a reading was watched or read."""
    return "watched" if reading.model.get("kind") == "watched" else "read"


def _model_of(reading: KeptCalls, advice: str) -> Model:
    """The live model of a reading.

    Raises:
        ReadingError: there is none.
    """
    if reading.reader is not None:
        return reading.reader
    if _how(reading) == "watched":
        why = "the watched call is not one that can be run again: it ran a part of a model, or more than text"
    elif reading.model.get("stack"):
        why = "the stacks of an encoder-decoder are not run again"
    else:
        why = "it was saved without values, and has no live model"
    raise ReadingError(f"this needs what the reading did not keep, and {why}: {advice}")


def _refuse_another_state(reading: KeptCalls, model: Model, advice: str) -> None:
    """Refuse a model that is not in the state in which it was read.

    Raises:
        ReadingError: it dropped weights in training mode, or its weights or adapters have changed.
    """
    if "dropout" in reading.model:
        raise ReadingError(
            f"the call ran in training mode with a dropout of {reading.model['dropout']:g}, and no second pass drops "
            f"the same numbers: {advice}"
        )
    if reading.ran.weights is None:
        return
    now = weights_known_by(model.module)
    changed = [name for name in sorted({*now, *reading.ran.weights}) if now.get(name) != reading.ran.weights.get(name)]
    if changed:
        others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise ReadingError(
            f"{changed[0]}{others} changed since this was read, so that a second pass is not the first one: {advice}"
        )


def _refuse_another_call(kept: AttentionCall, again: AttentionCall, layer: int, advice: str) -> None:
    """Refuse a layer's call that is not the one that was kept.

    Raises:
        ReadingError: naming what differs.
    """
    where = f"layer {layer}"
    kept, again = kept.made_exact(), again.made_exact()
    for name, what in _PROVED.items():
        _refuse_difference(getattr(kept, name), getattr(again, name), what, where, kept.query.dtype, advice)


def _refuse_difference(
    kept: torch.Tensor | None,
    again: torch.Tensor | None,
    what: str,
    where: str,
    worked_in: torch.dtype,
    advice: str,
) -> None:
    """Refuse numbers that differ by more than rounding.

    Raises:
        ReadingError: they do.
    """
    if kept is None or again is None:
        return
    if kept.dtype != again.dtype or kept.shape != again.shape:
        found = f"{what} of {_kind(again)} instead of {_kind(kept)}"
    else:
        # Kernels add in another order for a batch, and layers pass that on: the root of the rounding unit is far
        # above it (1e-6 in float32), and far below what other inputs give.
        tolerance = torch.finfo(worked_in).eps ** 0.5
        one, other = kept.double(), again.to(kept.device).double()
        size = float(one[one.isfinite()].abs().max()) if bool(one.isfinite().any()) else 0.0
        if torch.allclose(one, other, rtol=0, atol=tolerance * max(size, 1e-6), equal_nan=True):
            return
        finite = (one - other).abs()
        finite = finite[finite.isfinite()]
        found = f"other {what} (off by {float(finite.max()) if len(finite) else float('nan'):.2g} of {size:.2g})"
    raise ReadingError(
        f"a second pass gives {found} in {where}, so that it is not the one that was read: inputs, masks, adapters, "
        f"hooks, training mode or autocast are not what they were; {advice}"
    )


def _kind(tensor: torch.Tensor) -> str:
    """A tensor's dtype and shape."""
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
