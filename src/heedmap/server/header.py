"""What the page is told of a reading that stays here: its tokens, layers and odds; numbers come when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heedmap.drawing.page.contents import Contents
from heedmap.drawing.page.fill import Shown, reading_entry
from heedmap.drawing.page.layers import has_bias, layer_info
from heedmap.drawing.page.rules import page_rule
from heedmap.reading.own_code import EAGER

if TYPE_CHECKING:
    from heedmap.reading.call import AttentionCall
    from heedmap.reading.reading import Reading

SCHEMA = "heedmap/served/1"


def served_header(reading: Reading) -> dict[str, Any]:
    """A reading as the page's own header has it, with every layer's numbers left on the server.

    Example:
        >>> import heedmap
        >>> header = served_header(heedmap.load("smollm2").read("The cat sat."))
        >>> header["texts"][0]["labels"], len(header["reading"]["layers"])
        (['The', 'cat', 'sat', '.'], 30)
    """
    contents = Contents()
    entry = reading_entry(contents, Shown("self", "self-attention", reading, reading.middle))
    steps = reading.model.get("weights_from") != EAGER
    entry["layers"] = [_layer(number, reading.calls[number], steps=steps) for number in reading.calls]
    entry["notes"] = ["Every number is computed from the model's own queries and keys when it is looked at."]
    last = len(reading.tokens) - 1
    start = {"reading": "self", "layer": reading.middle, "head": None, "query": last}
    return {"schema": SCHEMA, "texts": contents.texts, "reading": entry, "start": start}


def _layer(number: int, call: AttentionCall, *, steps: bool) -> dict[str, Any]:
    """One layer as the page's `LayerInfo`."""
    return {
        **layer_info(number, call, page_rule(call.rule, call.query.device)),
        "carries": "queries and keys",
        "precision": "float32",
        "worst": 0.0,
        "hasSteps": steps and not has_bias(call),
    }
