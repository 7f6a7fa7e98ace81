"""The page's program and style sheet: built from viewer/ and put beside this file, never committed."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from heedmap.errors import FileError

FOLDER = Path(__file__).parent / "bundle"


@dataclass(frozen=True, slots=True)
class Bundle:
    """One ES module and one style sheet.

    Attributes:
        script: the module; it finds the page's data in a file, and gives a notebook `render`.
        style: the style sheet.
    """

    script: str
    style: str

    @property
    def script_in_html(self) -> str:
        """The module as it can stand inside an HTML script element."""
        return self.script.replace("</script", "<\\/script").replace("<!--", "<\\!--")

    @property
    def script_hash(self) -> str:
        """The hash by which a content security policy allows the module in a file, and nothing else."""
        digest = hashlib.sha256(self.script_in_html.encode()).digest()
        return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def load_bundle(folder: Path = FOLDER, name: str = "page") -> Bundle:
    """Read a bundle.

    Args:
        folder: where bundles are.
        name: which program: that of pages, or of the course's site ("course").

    Raises:
        FileError: it was not built here; the message says how it is.
    """
    try:
        script = (folder / f"{name}.js").read_text(encoding="utf-8")
        style = (folder / f"{name}.css").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FileError(
            f"the page's program is not built here ({error.filename} is missing): run `make viewer` in the checkout, "
            "which needs Node 20.19 or newer; installed wheels bring it along"
        ) from None
    return Bundle(script, style)
