"""Runs a learner's functions; started as a program of its own by `sandbox`, with nothing of Heedmap loaded.

It reads a list of calls as JSON from standard input and writes what each gave, as JSON, to the file named last.
"""

import contextlib
import copy
import importlib.util
import io
import json
import math
import sys
import traceback
from pathlib import Path
from typing import Any

PRINTED = 2000
"""Characters of what the learner's code prints that are kept."""


def plain(value: Any, depth: int = 0) -> Any:
    """A result as JSON can hold it: numbers, lists, dicts; NumPy's arrays as lists; numbers that are none as words."""
    if depth > 4:
        return {"kind": "something nested too deep"}
    if hasattr(value, "tolist") and not isinstance(value, type):
        value = value.tolist()
    if isinstance(value, bool) or value is None:
        return {"kind": "None" if value is None else "bool"}
    if isinstance(value, (int, float)):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, (list, tuple)):
        return [plain(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {"steps": {str(key): plain(one, depth + 1) for key, one in value.items()}}
    return {"kind": type(value).__name__}


def where(error: BaseException, path: str) -> int | None:
    """The last line of the learner's own file that an error passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    return lines[-1] if lines else None


def described(error: BaseException, path: str) -> dict[str, Any]:
    """An error as JSON: its name, its message, and the line."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return {"error": type(error).__name__, "says": said.splitlines()[0] if said else "", "line": where(error, path)}


def load(path: str) -> Any:
    """The learner's file as a module."""
    specification = importlib.util.spec_from_file_location("learner", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(Path(path).parent))
    specification.loader.exec_module(module)
    return module


def called(module: Any, call: dict[str, Any], path: str) -> dict[str, Any]:
    """What one call gave."""
    function = getattr(module, call["function"], None)
    if function is None:
        return {"missing": True}
    if not callable(function):
        return {"error": "TypeError", "says": f"{call['function']} is not a function", "line": None}
    arguments = copy.deepcopy(call["arguments"])
    try:
        result = plain(function(*arguments))
    except (Exception, SystemExit) as error:
        return described(error, path)
    return {"result": result, "changed": arguments != call["arguments"]}


def main(path: str, answer_file: str) -> None:
    """Load the file, make the calls, write the answers."""
    calls = json.load(sys.stdin)
    printed = io.StringIO()
    answer: dict[str, Any] = {}
    with contextlib.redirect_stdout(printed):
        try:
            module = load(path)
        except (Exception, SystemExit) as error:
            answer["broken"] = described(error, path)
        else:
            answer["answers"] = [called(module, call, path) for call in calls]
    answer["printed"] = printed.getvalue()[:PRINTED]
    Path(answer_file).write_text(json.dumps(answer, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
