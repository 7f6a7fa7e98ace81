"""GGUF files: dequantised once, kept as safetensors in the cache, so that the second start is quick."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from contextlib import redirect_stderr, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from heedmap.errors import FileError, MissingWeights, ModelError, TokenizerMissing, UnsupportedModel
from heedmap.files import write_beside
from heedmap.json_text import parse_json
from heedmap.models.places import building, cache_folder, locked, megabytes, require_space, writing
from heedmap.models.progress import Progress, first_line
from heedmap.models.quiet import quiet_transformers
from heedmap.models.record import Record, read_record, sha256_of, write_record

_MAGIC = b"GGUF"
_EARLIEST_TRANSFORMERS = (5, 23)
# 5.0 and 5.17 cut a Gemma file's words into letters, 5.18 to 5.20 leave out its begin-of-text, and before 5.18 smollm2
# ends texts with the wrong token. 5.23 and 5.24 were seen to be right. What they save, 5.0 and 5.10 read alike.
_SPLIT_NAME = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


def gguf_copy(gguf_file: Path, progress: Progress) -> tuple[Path, Record]:
    """The folder with the safetensors copy of a GGUF file, made at the first call.

    The copy is known by the file's hash, so that a moved or renamed file is not converted again. The hash itself is
    remembered with the file's path, size and time, and taken anew when one of them has changed.

    Raises:
        FileError: not a GGUF file, unreadable, or no room for the copy.
        UnsupportedModel: an architecture or a number format that transformers cannot convert.
        ModelError: transformers is too old to convert it rightly.
    """
    gguf_file = gguf_file.resolve()
    _check_header(gguf_file)
    sha256 = _known_hash(gguf_file)
    target = cache_folder() / "gguf" / sha256[:20]
    record = read_record(target)
    if record is not None:
        return target, record
    size = gguf_file.stat().st_size
    what = f"the safetensors copy of {gguf_file.name}"
    with (
        writing(target.parent, size, what),
        locked(target, lambda: progress.say(f"another process is converting {gguf_file.name}: waiting for it")),
    ):
        record = read_record(target)
        if record is None:
            require_converter(gguf_file.name)
            require_space(target.parent, size, what)
            progress.say(f"converting {gguf_file.name} ({megabytes(size)}) to safetensors, once ...")
            with building(target) as folder:
                convert(gguf_file, folder, progress)
                record = write_record(folder, name=str(gguf_file), origin=str(gguf_file), origin_sha256=sha256)
    return target, record


def require_converter(what: str) -> None:
    """Refuse to convert with a transformers that makes wrong tokenizers of GGUF files.

    Args:
        what: the file or model to be converted, for the message.

    Raises:
        ModelError: transformers is too old.
    """
    here = version("transformers")
    if tuple(int(part) for part in here.split(".")[:2]) < _EARLIEST_TRANSFORMERS:
        wanted = ".".join(map(str, _EARLIEST_TRANSFORMERS))
        raise ModelError(
            f"converting {what} needs transformers {wanted} or newer, and here is {here}, which makes a wrong "
            f"tokenizer of it: `pip install --upgrade transformers` (a copy once converted can be read with any 5)"
        )


def convert(gguf_file: Path, folder: Path, progress: Progress) -> None:
    """Dequantise a GGUF file into `folder`: model.safetensors, config.json and the tokenizer's files.

    Raises:
        UnsupportedModel: an architecture or a number format that transformers cannot convert.
        MissingWeights: the file lacks tensors of its architecture.
        TokenizerMissing: there is no tokenizer in the file, or an unknown kind of one.
    """
    with progress.bar(f"converting {gguf_file.name}", None):
        # Within the bar, since importing torch is a part of the wait.
        import transformers

        model_class: Any = transformers.AutoModelForCausalLM
        dense = transformers.GgufConfig(dequantize=True)
        location = {"gguf_file": gguf_file.name, "local_files_only": True}
        # The reader's own bar knows no switch.
        with quiet_transformers(), redirect_stderr(io.StringIO()):
            try:
                module, report = model_class.from_pretrained(
                    str(gguf_file.parent), **location, quantization_config=dense, dtype="auto", output_loading_info=True
                )
            except Exception as error:  # a damaged file trips its readers in as many ways as they have lines
                raise UnsupportedModel(f"{gguf_file} cannot be converted: {first_line(error)}") from None
            if report["missing_keys"]:
                names = sorted(report["missing_keys"])
                raise MissingWeights(f"{gguf_file} lacks {len(names)} tensors of its model: {', '.join(names[:3])} ...")
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(str(gguf_file.parent), **location)
            except Exception as error:  # whatever its converters trip over: there is no tokenizer to be had
                raise TokenizerMissing(
                    f"no tokenizer can be made from {gguf_file}: {first_line(error)}; load the model yourself and use "
                    f"heedmap.wrap(module, tokenizer)"
                ) from None
            module.save_pretrained(folder, max_shard_size="1000GB")
            tokenizer.save_pretrained(folder)


def _check_header(gguf_file: Path) -> None:
    """Refuse what is no GGUF file, or only one part of a model."""
    try:
        with gguf_file.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except OSError as error:
        raise FileError(f"cannot read {gguf_file}: {error.strerror}") from None
    if magic != _MAGIC:
        raise FileError(f"{gguf_file} is not a GGUF file: it starts with {magic!r}, not with {_MAGIC!r}")
    if _SPLIT_NAME.search(gguf_file.name):
        raise ModelError(
            f"{gguf_file} is one part of a split model: join the parts with `llama-gguf-split --merge` first"
        )


def _known_hash(gguf_file: Path) -> str:
    """The file's SHA-256, from the note in the cache if size and time are those of then."""
    state = gguf_file.stat()
    seen = {"path": str(gguf_file), "size": state.st_size, "mtime_ns": state.st_mtime_ns}
    note = cache_folder() / "gguf" / "seen" / f"{hashlib.sha256(os.fsencode(gguf_file)).hexdigest()[:20]}.json"
    try:
        known = parse_json(note.read_bytes())
        sha256 = known.pop("sha256")
        if known == seen:
            return str(sha256)
    except (OSError, ValueError, KeyError, AttributeError):
        pass  # no note yet, or a damaged one: it is written anew
    sha256 = sha256_of(gguf_file)
    with suppress(OSError, FileError):  # a cache that may only be read, or is full, may hold the copy all the same
        note.parent.mkdir(parents=True, exist_ok=True)
        with write_beside(note) as beside:
            beside.write_text(json.dumps({**seen, "sha256": sha256}), "utf-8")
    return sha256
