"""Hostile models, a folder with one bad file or a GGUF file: to every command and to the application's worker."""

from __future__ import annotations

import json
import os
import shutil
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from heedmap.errors import HeedmapError
from heedmap.server.work import Work
from tests.fuzz.command_line import run
from tests.fuzz.folder import fresh_folder
from tests.fuzz.mutations import damaged, damaged_file, damaged_json, same_json, told_apart
from tests.fuzz.readings import joined, parts_of, with_header
from tests.fuzz.target import GIBIBYTE, Target, answers
from tests.models.making import save_tiny_model, write_gguf

TEXT = "the cat sat"

_BOUNDARIES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 64, 2**16, 2**31 - 1, 2**31, 2**62, 2**63, 10**30, 0.5, -0.5, 1e-320, 1e308),
    *(None, True, False, "", "64", "x", [], [0], {}, {"a": 1}),
)
_GENERATION: dict[str, Any] = {
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
    "do_sample": False,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 50,
    "max_length": 20,
    "max_new_tokens": 3,
    "min_length": 0,
    "num_beams": 1,
    "num_return_sequences": 1,
    "repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "use_cache": True,
    "cache_implementation": None,
    "forced_bos_token_id": None,
    "suppress_tokens": None,
    "bad_words_ids": None,
    "output_attentions": False,
    "return_dict_in_generate": False,
    "guidance_scale": None,
    "penalty_alpha": None,
    "prompt_lookup_num_tokens": None,
    "stop_strings": None,
    "watermarking_config": None,
}
"""Settings that a generation_config.json may hold."""


def _json_changes(sound: dict[str, Any]) -> SearchStrategy[bytes]:
    """One to three fields at the boundaries of what they may hold, or damage of any kind."""
    names = st.sampled_from(sorted(sound))
    changed = st.dictionaries(names, st.sampled_from(_BOUNDARIES), min_size=1, max_size=3)
    return changed.map(lambda changes: json.dumps({**sound, **changes}).encode()) | damaged_file(sound)


def _weights(content: bytes) -> SearchStrategy[bytes]:
    """Weights that are no numbers or enormous, in one tensor; cut and flipped files; and headers that lie."""
    header, body = parts_of(content)
    names = [name for name in header if name != "__metadata__"]

    def filled(name: str, value: float) -> bytes:
        start, stop = header[name]["data_offsets"]
        return joined(json.dumps(header), body[:start] + struct.pack("<f", value) * ((stop - start) // 4) + body[stop:])

    odd = st.sampled_from((np.nan, np.inf, -np.inf, 0.0, 1e30, 1e-40, -1.0))
    return st.builds(filled, st.sampled_from(names), odd) | damaged(content, 3000) | with_header(content, damaged_json)


def _files(folder: Path) -> SearchStrategy[tuple[str, bytes]]:
    """The name and content of the one file that is another."""
    configuration, tokenizer_configuration = (
        json.loads((folder / name).read_bytes()) for name in ("config.json", "tokenizer_config.json")
    )
    made = {
        "config.json": _json_changes(configuration),
        "generation_config.json": _json_changes(_GENERATION),
        "tokenizer_config.json": _json_changes(tokenizer_configuration),
        "tokenizer.json": damaged_file(json.loads((folder / "tokenizer.json").read_bytes())),
        "model.safetensors": _weights((folder / "model.safetensors").read_bytes()),
    }
    return st.one_of([st.tuples(st.just(name), content) for name, content in made.items()])


def _commands(model: str, out: Path) -> dict[str, list[str]]:
    """A command line for each way to a model."""
    named = [TEXT, "--model", model]
    return {
        "read": ["read", *named, "--word", "cat", "--json"],
        "greedy": ["read", *named, "--generate", "3"],
        "sampled": ["read", *named, "--generate", "3", "--sample", "--seed", "1", "--json"],
        "beams": ["read", *named, "--generate", "2", "--beams", "2"],
        "map": ["map", *named, "-o", str(out / "map.npy")],
        "stats": ["stats", *named, "--json"],
        "spans": ["spans", *named, "--split", "sentences", "--json"],
        "next": ["next", *named, "--json"],
        "explain": ["explain", *named, "--word", "cat", "--from-vector"],
        "view": ["view", *named, "-o", str(out / "view.html")],
        "cost": ["cost", model, "--json"],
        "served": [],
    }


def serve(model: str) -> None:
    """What the application's worker answers of a model: a text, its statistics, a row, a tile and vectors."""

    def progress(*_: object) -> None:
        """Nobody is told."""

    work = Work()
    asked = {"model": model, "text": TEXT, "special_tokens": None, "truncate": False, "reading": "one"}
    json.dumps(work.read(asked, progress).head, allow_nan=False)
    place = {"reading": "one", "layer": None, "head": 0, "query": 1}
    tile = {"rows_start": 0, "rows_stop": 3, "columns_start": 0, "columns_stop": 3, "height": 2, "width": 2}
    for name in ("statistics", "row", "tile", "vectors"):
        with suppress(HeedmapError):
            answer = getattr(work, name)({**place, **tile, "how": "mean"}, progress)
            json.dumps(answer.head, allow_nan=False)


def _ask(model: str, out: Path, command: str) -> None:
    """A command, or the worker; what it prints as JSON is strict JSON."""
    if command == "served":
        return serve(model)
    printed = run(_commands(model, out)[command])
    if "--json" in _commands(model, out)[command]:
        json.loads(printed, parse_constant=_refuse)
    return None


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not strict JSON")


def folder_cases() -> tuple[SearchStrategy[Any], Any]:
    """A model whose folder holds one other file, and a command."""
    sound_folder = save_tiny_model(fresh_folder() / "sound")
    folder, out = fresh_folder() / "given", fresh_folder()
    shutil.copytree(sound_folder, folder)
    commands = st.sampled_from(sorted(_commands("", out)))
    same = same_json(json.loads((folder / "config.json").read_bytes())).map(lambda content: ("config.json", content))
    drawn = told_apart(same, _files(sound_folder))

    def check(case: tuple[tuple[tuple[str, bytes], bool], str]) -> None:
        ((name, content), sound), command = case
        shutil.rmtree(folder)
        shutil.copytree(sound_folder, folder)
        (folder / name).write_bytes(content)
        with answers(sound):
            _ask(str(folder), out, command)

    return st.tuples(drawn, commands), check


def gguf_command_cases() -> tuple[SearchStrategy[Any], Any]:
    """A GGUF file, and a command."""
    folder, out = fresh_folder(), fresh_folder()
    path = folder / "tiny.gguf"
    write_gguf(path)
    content = path.read_bytes()
    commands = st.sampled_from(sorted(set(_commands("", out)) - {"cost"}))
    header = content.index(b"output_norm.weight") + 2000
    drawn = told_apart(st.just(content), damaged(content, 200) | damaged(content, header))

    def check(case: tuple[tuple[bytes, bool], str]) -> None:
        (given, sound), command = case
        path.write_bytes(given)
        shutil.rmtree(folder / "cache", ignore_errors=True)
        with patch.dict(os.environ, HEEDMAP_CACHE=str(folder / "cache")), answers(sound):
            _ask(str(path), out, command)

    return st.tuples(drawn, commands), check


TARGETS = (
    Target(
        "folders",
        "model folders with one hostile file, to every command and to the application's worker",
        folder_cases,
        12,
        2400,
        2 * GIBIBYTE,
        60.0,
    ),
    Target(
        "gguf commands",
        "hostile GGUF files to every command and to the application's worker",
        gguf_command_cases,
        2,
        600,
        2 * GIBIBYTE,
        60.0,
    ),
)
