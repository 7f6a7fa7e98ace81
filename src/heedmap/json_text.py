"""Reading JSON that anybody may have written: whatever is wrong with it is one kind of error."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str | bytes, *, strict: bool = False) -> Any:
    r"""The value of a JSON text.

    Python's own parser fails in four ways: at what is no JSON, at bytes that are no UTF-8, at what is nested too deep,
    and at numbers of more than 4,300 digits. It lets halves of surrogate pairs through, which no file or terminal can
    be given.

    Args:
        text: the text, or its bytes in UTF-8.
        strict: refuse NaN and Infinity, which JSON does not know, and what is read as infinite (1e999).

    Raises:
        ValueError: for all of these; a `json.JSONDecodeError` with its place where it is no JSON.

    Example:
        >>> parse_json('{"share": 0.25}')
        {'share': 0.25}
        >>> parse_json(f'{{"share": {"9" * 5000}}}')
        Traceback (most recent call last):
        ValueError: a number in it has more than 4,300 digits
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        value = json.loads(text, **(_STRICT if strict else {}))
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except _Constant as error:
        raise ValueError(f"{error} is no number of JSON") from None
    except ValueError:
        raise ValueError("a number in it has more than 4,300 digits") from None
    if _SURROGATE.search(text) and not _is_writable(value):
        raise ValueError(r"a text in it holds half of a surrogate pair (\ud800 to \udfff), which is no letter")
    return value


class _Constant(ValueError):  # noqa: N818 - never leaves this file
    """NaN or Infinity, met where it may not stand."""


def _refuse(name: str) -> NoReturn:
    raise _Constant(name)


def _finite(number: str) -> float:
    """The number that some digits are."""
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


_STRICT: dict[str, Any] = {"parse_constant": _refuse, "parse_float": _finite}


def _is_writable(value: Any) -> bool:
    """Whether all texts of a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
