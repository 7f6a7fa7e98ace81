"""GGUF files: dequantised once, kept by their hash, refused when they are something else."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from transformers import AutoTokenizer

from heedmap.errors import FileError, MissingWeights, ModelError, TokenizerMissing, UnsupportedModel
from heedmap.models import gguf as gguf_module
from heedmap.models.gguf import gguf_copy
from heedmap.models.progress import Progress
from tests.models.making import gguf_weights, write_gguf

SILENT = Progress(shown=False)


def test_the_copy_holds_the_dequantised_tensors(cache: Path, tmp_path: Path) -> None:
    held = write_gguf(tmp_path / "tiny.gguf")
    folder, record = gguf_copy(tmp_path / "tiny.gguf", SILENT)
    assert folder.parent == cache / "gguf"
    copied = load_file(folder / "model.safetensors")
    # The format's own library is the oracle; exact, since both multiply the same integers by the same scale.
    # (q and k are left out: GGUF stores their rows in another order.)
    for ours, theirs in {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.layers.1.self_attn.v_proj.weight": "blk.1.attn_v.weight",
        "model.layers.1.mlp.down_proj.weight": "blk.1.ffn_down.weight",
        "model.norm.weight": "output_norm.weight",
    }.items():
        np.testing.assert_array_equal(copied[ours], held[theirs])
    for ours, theirs in {"q_proj": "attn_q", "k_proj": "attn_k"}.items():
        rows = copied[f"model.layers.0.self_attn.{ours}.weight"]
        np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(held[f"blk.0.{theirs}.weight"], axis=0))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.convert_ids_to_tokens(tokenizer("the").input_ids) == ["th", "e"]
    assert record.sha256


def test_the_second_start_neither_converts_nor_hashes(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(file)
    first = gguf_copy(file, SILENT)
    monkeypatch.setattr(gguf_module, "sha256_of", lambda file: pytest.fail("hashed"))
    monkeypatch.setattr(gguf_module, "convert", lambda *arguments: pytest.fail("converted"))
    assert gguf_copy(file, SILENT) == first


def test_a_file_under_another_name_is_known_by_its_content(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    first = gguf_copy(tmp_path / "tiny.gguf", SILENT)
    shutil.copy(tmp_path / "tiny.gguf", tmp_path / "another name.gguf")
    monkeypatch.setattr(gguf_module, "convert", lambda *arguments: pytest.fail("converted"))
    assert gguf_copy(tmp_path / "another name.gguf", SILENT) == first


def test_a_changed_file_is_converted_anew(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    write_gguf(file)
    first, _ = gguf_copy(file, SILENT)
    times = file.stat()
    weights = gguf_weights()
    weights["output_norm.weight"] += 1
    write_gguf(file, weights)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    second, _ = gguf_copy(file, SILENT)
    assert second != first
    norms = [load_file(folder / "model.safetensors")["model.norm.weight"] for folder in (first, second)]
    np.testing.assert_allclose(norms[1] - norms[0], 1, atol=1e-6)


def test_the_copy_is_said_once_and_nothing_else(cache: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    for _ in range(2):
        gguf_copy(tmp_path / "tiny.gguf", Progress(shown=True))
    assert capfd.readouterr() == ("", "heedmap: converting tiny.gguf (1 MB) to safetensors, once ...\n")


def test_what_is_no_gguf_file(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.gguf"
    file.write_text("<html>not found</html>")
    with pytest.raises(FileError, match=r"page.gguf is not a GGUF file: it starts with b'<htm', not with b'GGUF'"):
        gguf_copy(file, SILENT)


def test_one_part_of_a_split_model(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "big-00001-of-00003.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match=r"one part of a split model: join the parts with `llama-gguf-split --merge`"):
        gguf_copy(file, SILENT)


def test_an_architecture_that_transformers_does_not_convert(cache: Path, tmp_path: Path) -> None:
    write_gguf(tmp_path / "odd.gguf", architecture="oddity")
    with pytest.raises(UnsupportedModel, match=r"odd.gguf cannot be converted: .*oddity"):
        gguf_copy(tmp_path / "odd.gguf", SILENT)


@pytest.mark.parametrize("kept", [40, 2000, 9000, -200])
def test_a_file_that_was_cut_off(cache: Path, tmp_path: Path, kept: int) -> None:
    write_gguf(tmp_path / "whole.gguf")
    file = tmp_path / "cut.gguf"
    file.write_bytes((tmp_path / "whole.gguf").read_bytes()[:kept])
    with pytest.raises(UnsupportedModel, match=r"cut.gguf cannot be converted"):
        gguf_copy(file, SILENT)
    assert list((cache / "gguf").glob("*/model.safetensors")) == []


def test_missing_tensors_are_counted_and_named(cache: Path, tmp_path: Path) -> None:
    weights = gguf_weights()
    del weights["blk.1.ffn_up.weight"], weights["blk.1.ffn_norm.weight"]
    write_gguf(tmp_path / "tiny.gguf", weights)
    with pytest.raises(MissingWeights, match=r"lacks 2 tensors of its model: .*layers.1.*up_proj.weight"):
        gguf_copy(tmp_path / "tiny.gguf", SILENT)


def test_a_file_without_a_tokenizer(cache: Path, tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf", tokenizer=False)
    with pytest.raises(TokenizerMissing, match=r"no tokenizer can be made from .*tiny.gguf: .*heedmap.wrap\(module, "):
        gguf_copy(tmp_path / "tiny.gguf", SILENT)


def test_an_unreadable_file(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*none.gguf: No such file"):
        gguf_copy(tmp_path / "none.gguf", SILENT)


def test_a_version_from_the_future(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "new.gguf"
    file.write_bytes(b"GGUF" + struct.pack("<I", 99) + bytes(64))
    with pytest.raises(UnsupportedModel, match=r"new.gguf cannot be converted"):
        gguf_copy(file, SILENT)
