"""Characters that steer a terminal instead of showing something: written out wherever text is printed."""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
"""Of C0 all but the tabulator and the line end, DEL, all of C1 (U+009B begins a command as ESC [ does), and what turns
the direction of all that follows."""


def without_controls(text: str) -> str:
    r"""A text whose control characters are written out, on as many lines as before.

    Example:
        >>> print(without_controls("a\x1b[31m\u009b b"))
        a\x1b[31m\x9b b
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def json_without_controls(text: str) -> str:
    r"""The same for a text of JSON, which stays the same value: JSON itself escapes C0 alone.

    Example:
        >>> print(json_without_controls('"a\u009b"'))
        "a\u009b"
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
