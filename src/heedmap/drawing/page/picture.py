"""The picture under a map of patches, as it can stand inside the page."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path

from PIL import Image

from heedmap.errors import FileError
from heedmap.reading.picture_input import Picture, as_pixels

_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
"""How files begin that every browser shows."""


def data_url(picture: Picture) -> str:
    """The picture as a data URL: a file as it is, all else as PNG.

    Raises:
        FileError: the file cannot be read, or is no PNG, JPEG, GIF or WebP.
        ReadingError: an array that is no picture.
    """
    if isinstance(picture, str | os.PathLike):
        name = os.fspath(picture)
        try:
            data = Path(picture).read_bytes()
        except OSError as error:
            raise FileError(f"cannot read {name}: {error.strerror}") from None
    else:
        name = type(picture).__name__
        buffer = io.BytesIO()
        Image.fromarray(as_pixels(picture)).save(buffer, format="PNG")
        data = buffer.getvalue()
    kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)
    if kind is None:
        raise FileError(f"{name} is no picture that every browser shows: save it as PNG, JPEG, GIF or WebP first")
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
