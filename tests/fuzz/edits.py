"""What stands in for a removed head: saved means and other readings, hostile ones, in the pass of a model."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from safetensors import safe_open
from safetensors.torch import save_file

import heedmap
from heedmap.errors import HeedmapError
from heedmap.reading.edits import HeadMeans, head_means, remove
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from tests.fuzz.folder import fresh_folder
from tests.fuzz.headers import TENSOR_CHANGES, with_tensor
from tests.fuzz.mutations import damaged, damaged_json, told_apart
from tests.fuzz.target import Target, answers
from tests.models.making import tiny_tokenizer
from tests.tiny import tiny_model

TEXT = "the cat sat"


@st.composite
def _other_tensors(
    draw: st.DrawFn, header: str, tensors: dict[str, torch.Tensor]
) -> tuple[str, dict[str, torch.Tensor]]:
    """Means of another form under the same header."""
    how = draw(st.sampled_from(sorted(set(TENSOR_CHANGES) - {"rename", "take"})))
    return header, with_tensor(
        tensors, how, draw(st.sampled_from(sorted(tensors))), draw(st.sampled_from(TENSOR_CHANGES[how]))
    )


def edit_cases() -> tuple[SearchStrategy[Any], Any]:
    """Files of means, sound and hostile, and readings of other models as stand-ins."""
    folder = fresh_folder()
    tokenizer = tiny_tokenizer()
    model = heedmap.wrap(tiny_model("llama", vocab_size=len(tokenizer)), tokenizer, name="tiny")
    path = folder / "means.safetensors"
    head_means(model, [TEXT]).save(path)
    content = path.read_bytes()
    with safe_open(path, framework="pt") as file:
        header = file.metadata()["heedmap"]
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a dict
    others: list[Path] = []
    smaller: tuple[dict[str, Any], ...] = ({"num_key_value_heads": 1}, {"head_dim": 8}, {"num_hidden_layers": 1})
    for sizes in smaller:
        other = heedmap.wrap(tiny_model("llama", vocab_size=len(tokenizer), **sizes), tokenizer, name="other")
        others.append(folder / f"other{len(others)}.safetensors")
        other.read(TEXT, values=True).save(others[-1])
    files = st.one_of(
        damaged(content, 2000),
        _other_tensors(header, tensors),
        damaged_json(json.loads(header)).map(lambda text: (text, tensors)),
        st.sampled_from(others),
    )
    heads = st.tuples(st.integers(0, 3), st.integers(0, 4))
    return st.tuples(told_apart(st.just(content), files), heads), functools.partial(check_edit, model, path)


def check_edit(model: Model, path: Path, case: tuple[tuple[Any, bool], tuple[int, int]]) -> None:
    """A text is read with a head removed, or it is said why not."""
    (given, sound), (layer, head) = case
    if isinstance(given, Path):
        edit = remove(layer, head, like=Reading.open(given))
    else:
        if isinstance(given, bytes):
            path.write_bytes(given)
        else:
            text, tensors = given
            save_file(
                {name: one.contiguous().clone() for name, one in tensors.items()}, path, metadata={"heedmap": text}
            )
        with answers(sound):
            means = HeadMeans.open(path)
        str(means)
        edit = remove(layer, head, means)
    try:
        reading = model.read(TEXT, edit=edit)
    except HeedmapError:
        assert not sound or layer > 2 or head > 3
        raise
    str(reading.row("@-1"))


TARGETS = (
    Target("edits", "means and readings that stand in for a removed head, sound and hostile", edit_cases, 20, 2000),
)
