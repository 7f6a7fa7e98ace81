"""For the API pages: a docstring's section `Example:` is one of examples, which griffe knows as `Examples:` alone."""

from __future__ import annotations

import re
from typing import Any

import griffe

_TITLE = re.compile(r"^Example:$", re.MULTILINE)


class ExampleSections(griffe.Extension):
    """Renames the section before docstrings are parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """See the class."""
        if obj.docstring is not None:
            obj.docstring.value = _TITLE.sub("Examples:", obj.docstring.value)
