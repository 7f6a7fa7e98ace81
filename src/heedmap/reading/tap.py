"""Listens to every attention call of a model during its ordinary fast forward pass.

transformers looks up its attention function by a name in the model's configuration. The tap registers a function of
its own, together with a mask function (a name without one silently loses its mask), switches the name for the length
of a `with` block, and hands each call to a receiver. The function computes what the fused kernel computes, so the
model says what it always says.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface

from heedmap.errors import UnsupportedModel
from heedmap.reading.call import AttentionCall
from heedmap.reading.forward import evaluating
from heedmap.reading.lazy_mask import LazyMask, lazy_bool_mask, lazy_float_mask
from heedmap.reading.rule import MaskRule, told_apart

# Two names for one function: the mask that reaches a model's own code must be of the kind it was loaded for, since
# files that mix own attention code with the interface add the mask to scores in the one case and not in the other.
_NAME_FOR_BOOL_MASKS = "heedmap_tap"
_NAME_FOR_FLOAT_MASKS = "heedmap_tap_float"


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """One attention call as it passes.

    Attributes:
        module: the name of the attention module in the model.
        call: what went into it, with its log-sum-exp.
        value: [batch, key_value_head, key, value_dim].
        output: [batch, head, query, value_dim], as without dropout.
        dropout: the share of weights that the model dropped on the way to its own output.
    """

    module: str
    call: AttentionCall
    value: torch.Tensor
    output: torch.Tensor
    dropout: float = 0.0

    def kept(self, *, values: bool = False) -> AttentionCall:
        """The call as a reading keeps it: its output marked, and with values and output if they are wanted."""
        numbers = self.output.to(self.call.exact_dtype)
        direction = torch.arange(1, numbers.shape[-1] + 1, device=numbers.device, dtype=numbers.dtype).cos()
        marked = replace(self.call, output_mark=numbers @ direction if numbers.shape[-1] else None)
        return replace(marked, value=self.value, output=self.output) if values else marked


Receiver = Callable[[Heard], None]


class CallEditor(Protocol):
    """What may change a call as it passes; see `heedmap.reading.editor`."""

    def before(self, module: str, call: AttentionCall) -> AttentionCall:
        """The call that runs instead."""

    def after(self, module: str, output: torch.Tensor) -> torch.Tensor:
        """The output, [batch, head, query, value_dim], that the model goes on with instead."""

    def refuse_choice(self, module: str) -> None:
        """Asked before the call of a layer that picks its keys itself."""


@dataclass(frozen=True, slots=True)
class Session:
    """An open tap: who listens, what the modules are called, and what edits them.

    A tap that keeps the mode changes nothing, so that one around it (`outer`) hears its calls too.
    """

    receive: Receiver
    names: dict[int, str]
    editor: CallEditor | None = None
    keep_mode: bool = False
    outer: Session | None = None
    configurations: tuple[Any, ...] = ()

    @property
    def is_heard_here(self) -> bool:
        """Whether this tap hears the calls of the thread that asks."""
        session = _session.get()
        while session is not None and session is not self:
            session = session.outer
        return session is self

    def hand_over(self, module: nn.Module, heard: Heard) -> None:
        """Give a call of a module to this tap, and to those around it that know the module."""
        session: Session | None = self
        while session is not None:
            name = session.names.get(id(module))
            if name is not None or session is self:
                session.receive(replace(heard, module=name or ""))
            session = session.outer

    def switch_again(self) -> None:
        """Take configurations back whose attention function was set to another inside the tap; it is set at the end."""
        with _locks_guard:
            for one in self.configurations:
                name = one._attn_implementation_internal
                if name not in (_NAME_FOR_BOOL_MASKS, _NAME_FOR_FLOAT_MASKS):
                    _loaded_names[id(one)] = name, _loaded_names[id(one)][1]
                    one._attn_implementation_internal = _name_for(name)

    def enter(self) -> contextvars.Token[Session | None] | None:
        """Hear this thread's calls too; None where that, or another tap's listening, is so already."""
        return _session.set(self) if _session.get() is None else None

    @staticmethod
    def leave(token: contextvars.Token[Session | None]) -> None:
        """End what `enter` began."""
        _session.reset(token)


_session: contextvars.ContextVar[Session | None] = contextvars.ContextVar("heedmap_tap", default=None)
_locks: weakref.WeakKeyDictionary[nn.Module, threading.RLock] = weakref.WeakKeyDictionary()
_locks_guard = threading.Lock()
_loaded_names: dict[int, tuple[str, int]] = {}
"""Of each configuration that is in a tap now, by its id: the name from before, and in how many taps it is."""


@contextlib.contextmanager
def tap(
    module: nn.Module, receive: Receiver, *, keep_mode: bool = False, editor: CallEditor | None = None
) -> Iterator[Session]:
    """Let `receive` hear every attention call of the forward passes made inside the block, in this thread.

    The model is in eval mode inside (dropout would falsify weights) and is left exactly as it was found, whatever
    happens. One tap a model at a time: a second thread waits.

    Args:
        module: a transformers model.
        receive: called once an attention call, in order, with detached tensors.
        keep_mode: leave the model in the mode that it is in, and let it go on with what its own attention function
            returns wherever that could be seen: gradients, dropout, autocast, and the weights that eager attention
            returns. What is heard are the weights before dropout.
        editor: changes the calls of one forward pass as they pass; then what is heard is what the model went on with.

    Raises:
        UnsupportedModel: a part of the model has attention code of its own, which no switch reaches.
    """
    configurations = switchable_configurations(module)
    mode = contextlib.nullcontext() if keep_mode else evaluating(module)
    with lock_of(module), _not_compiled(module), mode:
        outer = _session.get() if keep_mode else None
        session = Session(
            receive,
            {id(part): name for name, part in module.named_modules()},
            editor,
            keep_mode,
            outer if outer is not None and outer.keep_mode else None,
            tuple(configurations),
        )
        token = _session.set(session)
        try:
            with contextlib.ExitStack() as switched:
                for configuration in configurations:
                    switched.enter_context(_switched(configuration))
                yield session
        finally:
            _session.reset(token)


def _name_for(loaded: str) -> str:
    """The tap's name for a model that was loaded with an attention function: its masks are of that function's kind."""
    return _NAME_FOR_FLOAT_MASKS if loaded == "eager" else _NAME_FOR_BOOL_MASKS


@contextlib.contextmanager
def _switched(configuration: Any) -> Iterator[None]:
    """A configuration that names the tap's attention function, until the last tap that it is in has ended.

    Two models may share a configuration, and be tapped in two threads: whoever ends first must leave the tap's name to
    the other, and who ends last must know the name from before.
    """
    with _locks_guard:
        loaded, taps = _loaded_names.get(id(configuration), (configuration._attn_implementation_internal, 0))
        _loaded_names[id(configuration)] = loaded, taps + 1
        configuration._attn_implementation_internal = _name_for(loaded)
    try:
        yield
    finally:
        with _locks_guard:
            loaded, taps = _loaded_names.pop(id(configuration))
            if taps > 1:
                _loaded_names[id(configuration)] = loaded, taps - 1
            else:
                configuration._attn_implementation_internal = loaded


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Inside, no tap that is open in this thread hears a call: what the library runs itself is not the user's."""
    token = _session.set(Session(lambda _: None, {}))
    try:
        yield
    finally:
        _session.reset(token)


def _not_compiled(module: nn.Module) -> contextlib.AbstractContextManager[Any]:
    """Run what `torch.compile` made as it was written: a compiled part goes on calling what it was compiled with."""
    if any(getattr(part, "_compiled_call_impl", None) or hasattr(part, "_orig_mod") for part in module.modules()):
        stance: contextlib.AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
        return stance
    return contextlib.nullcontext()


def switchable_configurations(module: nn.Module) -> list[Any]:
    """The configurations that name the attention function of the model's parts.

    Raises:
        UnsupportedModel: a part has its own attention code, or this is no transformers model at all.
    """
    parts = [part for part in module.modules() if isinstance(part, PreTrainedModel)]
    if not parts:
        raise UnsupportedModel(
            f"{type(module).__name__} is not a transformers model: only models built on transformers' PreTrainedModel "
            "can be read"
        )
    found: dict[int, Any] = {}

    def add(configuration: Any) -> None:
        if configuration is None or id(configuration) in found:
            return
        found[id(configuration)] = configuration
        for name in getattr(configuration, "sub_configs", {}):
            add(getattr(configuration, name, None))

    for part in parts:
        if not part._can_set_attn_implementation():
            raise UnsupportedModel(
                f"{type(part).__name__} has attention code of its own ({part.config.model_type}): "
                "its attention cannot be read yet"
            )
        add(part.config)
    return list(found.values())


def outermost_models(module: nn.Module) -> list[str]:
    """The names of the transformers models in a module that are in no other; of a model itself, an empty name."""
    found: list[str] = []
    for name, part in module.named_modules():
        if isinstance(part, PreTrainedModel) and not any(not one or name.startswith(f"{one}.") for one in found):
            found.append(name)
    return found


def lock_of(module: nn.Module) -> threading.RLock:
    """The lock of a model."""
    with _locks_guard:
        return _locks.setdefault(module, threading.RLock())


def _refuse_unknown(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    block_indices: torch.Tensor | None,
    others: dict[str, Any],
) -> None:
    """Refuse a call of which it is not known how its arguments make weights.

    Raises:
        UnsupportedModel: naming the class and the argument.
    """
    if query.ndim != 4 or key.ndim != 4:
        raise UnsupportedModel(
            f"{type(module).__name__} calls attention with a query of shape {tuple(query.shape)} and a key of shape "
            f"{tuple(key.shape)}: expected 4 dimensions (batch, head, token, dim)"
        )
    if block_indices is not None:
        raise UnsupportedModel(f"{type(module).__name__} picks blocks of keys by an index: this cannot be read yet")
    for name, given in others.items():
        if isinstance(given, torch.Tensor) and given.is_floating_point():
            raise UnsupportedModel(
                f"{type(module).__name__} gives its attention numbers called '{name}', of which it is not known what "
                "they do to the weights: this cannot be read yet"
            )


def _rule_given(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    attention_mask: torch.Tensor | None,
    is_causal: bool | None,
    indices: torch.Tensor | None,
) -> MaskRule:
    """The rule of the call's mask, cut to the keys that there are."""
    if isinstance(attention_mask, LazyMask):
        rule = attention_mask.rule
    else:
        causal = is_causal if is_causal is not None else getattr(module, "is_causal", True)
        rule = _rule_of(attention_mask, query, key, bool(causal))
    if rule.keys > key.shape[2]:
        rule = rule.crop_keys(key.shape[2])
    if rule.keys == 1 < key.shape[2]:
        # A sliding window of 1: the cache keeps every key, and the one cell of the mask holds for all of them.
        rule = MaskRule(rule.queries, key.shape[2], rule.batch, query_offset=key.shape[2] - rule.queries)
    if indices is not None:
        # transformers merges these into the mask for its own two functions, and hands them to any other.
        rule = rule.choose(indices)
    return rule


def _attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    block_indices: torch.Tensor | None = None,
    loaded_eager: bool = False,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The attention function that transformers calls under the tap; the argument names are its contract."""
    _refuse_unknown(module, query, key, block_indices, others)
    rule = _rule_given(module, query, key, attention_mask, is_causal, indices)
    sink_scores = s_aux if s_aux is not None else sinks
    session = _session.get()
    editor = None if session is None else session.editor
    name = "" if session is None else session.names.get(id(module), "")
    rounded = [_as_autocast(one) for one in (query, key, value)]
    call = AttentionCall(
        query=rounded[0],
        key=rounded[1],
        rule=rule,
        scale=query.shape[-1] ** -0.5 if scaling is None else float(scaling),
        softcap=softcap,
        bias=position_bias,
        sinks=None
        if sink_scores is None
        else sink_scores.reshape(1, -1, 1)
        if sink_scores.ndim == 1
        else sink_scores[..., 0],
    )
    dropped = dropout if module.training else 0.0
    if session is not None and session.keep_mode:
        given = (query, key, value, position_bias, sink_scores)
        with_gradients = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in given)
        if loaded_eager or dropped or with_gradients or _autocast_is_on(query):
            known: dict[str, Any] = {"scaling": scaling, "is_causal": is_causal, "softcap": softcap}
            known |= {"s_aux": s_aux, "sinks": sinks, "position_bias": position_bias}
            others |= {"dropout": dropout} | {name: one for name, one in known.items() if one is not None}
            mask = rule if isinstance(attention_mask, LazyMask) or indices is not None else attention_mask
            dtype = torch.bool if attention_mask is None else attention_mask.dtype
            output, weights = _as_loaded(module, (query, key, value), mask, dtype, loaded_eager, others)
            session.hand_over(module, _heard_beside(name, call, rounded[2], None if dropped else output, dropped))
            return output, weights
    if editor is not None:
        if indices is not None:
            editor.refuse_choice(name)
        call = editor.before(name, call)
    output, logsumexp = call.compute(rounded[2])
    output = output if editor is None else editor.after(name, output)
    if session is not None:
        heard = replace(_detached(call), logsumexp=logsumexp.detach())
        session.hand_over(module, Heard(name, heard, rounded[2].detach(), output.detach()))
    return output.transpose(1, 2).contiguous(), None


def _as_autocast(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as autocast, where it is on, hands it to matrix products and to torch's attention."""
    if not _autocast_is_on(tensor) or tensor.dtype == torch.float64:
        return tensor
    return tensor.to(torch.get_autocast_dtype(tensor.device.type))


def _autocast_is_on(tensor: torch.Tensor) -> bool:
    """Whether autocast is on where a tensor lies; some devices have none."""
    kind = tensor.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)


def _as_loaded(
    module: nn.Module,
    query_key_value: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    mask: MaskRule | torch.Tensor | None,
    mask_dtype: torch.dtype,
    loaded_eager: bool,
    arguments: dict[str, Any],
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What the model's own attention function returns: its eager one, or transformers' for torch's SDPA."""
    if isinstance(mask, MaskRule):
        # As transformers does: no mask where none is needed, so that torch takes its fast kernels.
        if not loaded_eager and (mask.allows_everything or mask.is_full_causal):
            arguments = {**arguments, "is_causal": not mask.allows_everything}
            mask = None
        else:
            mask = mask.materialise(mask_dtype, query_key_value[0].device)
    own = _eager_function(module) if loaded_eager else sdpa_attention_forward
    output, weights = own(module, *query_key_value, mask, **arguments)
    return output, weights


def _eager_function(module: nn.Module) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """The eager attention function of the file that a module's class comes from."""
    for kind in type(module).__mro__:
        found = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    raise UnsupportedModel(
        f"{type(module).__name__} has no 'eager_attention_forward' in its file: load it with "
        "attn_implementation='sdpa' to watch it"
    )


def _detached(call: AttentionCall) -> AttentionCall:
    """The call without its gradients."""
    return replace(
        call,
        query=call.query.detach(),
        key=call.key.detach(),
        bias=None if call.bias is None else call.bias.detach(),
        sinks=None if call.sinks is None else call.sinks.detach(),
    )


def _heard_beside(
    name: str, call: AttentionCall, value: torch.Tensor, output: torch.Tensor | None, dropout: float
) -> Heard:
    """A call whose output, [batch, query, head, value_dim], the model's own function made; None where it dropped."""
    call, value = _detached(call), value.detach()
    with torch.no_grad():
        without_dropout, logsumexp = call.compute(value)
    if output is not None:
        # A row that may look at nothing is absent here, whatever the model's function makes of it.
        absent = (logsumexp == -torch.inf).unsqueeze(-1)
        without_dropout = output.detach().transpose(1, 2).masked_fill(absent, 0.0)
    return Heard(name, replace(call, logsumexp=logsumexp), value, without_dropout, dropout=dropout)


def _rule_of(mask: torch.Tensor | None, query: torch.Tensor, key: torch.Tensor, causal: bool) -> MaskRule:
    """The rule of a mask that the model made itself, or of none: then as transformers' SDPA function reads it."""
    rule = MaskRule(query.shape[2], key.shape[2], query.shape[0])
    if mask is None:
        return replace(rule, ahead=0) if causal and rule.queries > 1 else rule
    if mask.ndim != 4:
        raise UnsupportedModel(f"a mask of {mask.ndim} dimensions reached the attention: expected 4")
    return replace(rule, table=told_apart(mask[..., : rule.keys]))


AttentionInterface.register(_NAME_FOR_BOOL_MASKS, _attention)
AttentionMaskInterface.register(_NAME_FOR_BOOL_MASKS, lazy_bool_mask)
AttentionInterface.register(_NAME_FOR_FLOAT_MASKS, partial(_attention, loaded_eager=True))
AttentionMaskInterface.register(_NAME_FOR_FLOAT_MASKS, lazy_float_mask)
