"""Parts of documents that programs write: what stands between `<!-- NAME: start -->` and `<!-- NAME: end -->`.

Where NAME is the path of a file, the part shows that file, so that it can be read wherever the page is read and
is still a file that runs. Other parts hold what was measured, drawn from the code, or counted.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

LANGUAGES = {".console": "console", ".py": "python", ".sh": "bash", ".txt": "text", ".yml": "yaml"}
"""How a file is fenced; Markdown (.md) is taken over as it is."""

_PART = re.compile(r"^<!-- (?P<name>[^\n]+): start -->\n.*?^<!-- (?P=name): end -->$", re.MULTILINE | re.DOTALL)


def names(text: str) -> list[str]:
    """The parts of a document, in order.

    Example:
        >>> names(part("counts", "12 cases"))
        ['counts']
    """
    return [found["name"] for found in _PART.finditer(text)]


def files(text: str) -> list[Path]:
    """The files that a document shows, in order."""
    return [ROOT / name for name in names(text) if Path(name).suffix]


def part(name: str, body: str) -> str:
    r"""A part with its marks.

    Example:
        >>> part("counts", "12 cases\n")
        '<!-- counts: start -->\n\n12 cases\n\n<!-- counts: end -->'
    """
    return f"<!-- {name}: start -->\n\n{body.strip(chr(10))}\n\n<!-- {name}: end -->"


def without_parts(text: str) -> str:
    """What is written by hand in a document."""
    return _PART.sub("", text)


def with_part(text: str, name: str, body: str) -> str:
    """A document with one of its parts written again.

    Raises:
        KeyError: it has no such part.
    """
    if name not in names(text):
        raise KeyError(f"there is no part {name!r}: expected `<!-- {name}: start -->` and its end")
    return _PART.sub(lambda found: part(name, body) if found["name"] == name else found[0], text)


def with_files(text: str) -> str:
    """A document with every file that it shows as that file is now."""
    for path in files(text):
        text = with_part(text, str(path.relative_to(ROOT)), _shown(path))
    return text


def write_part(document: Path, name: str, body: str) -> None:
    """Write one part of a document that lies on disk."""
    document.write_text(with_part(document.read_text(encoding="utf-8"), name, body), encoding="utf-8")


def write_files(document: Path) -> None:
    """Write the parts of a document that show files."""
    document.write_text(with_files(document.read_text(encoding="utf-8")), encoding="utf-8")


def _shown(path: Path) -> str:
    """A file as Markdown shows it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    longest = max((len(ticks) for ticks in re.findall(r"^`{3,}", text, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{LANGUAGES[path.suffix]}\n{text.rstrip()}\n{fence}"
