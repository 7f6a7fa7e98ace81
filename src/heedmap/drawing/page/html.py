"""The page as one HTML file: nothing is fetched, and nothing in it runs but the page's own program."""

from __future__ import annotations

import html

from heedmap._version import __version__
from heedmap.cut_text import cut_text
from heedmap.drawing.page.blocks import as_text
from heedmap.drawing.page.bundle import Bundle
from heedmap.drawing.page.contents import Contents

_LONGEST_TITLE = 60

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="heedmap {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="heedmap"></div>
<noscript>This page draws with JavaScript, which is turned off here. It loads nothing from anywhere.</noscript>
<script type="application/json" id="heedmap-header">{header}</script>
{blocks}
<script type="module">{script}</script>
</body>
</html>
"""


def render(contents: Contents, bundle: Bundle, title: str) -> str:
    """The whole file as text.

    Args:
        contents: header and blocks.
        bundle: the page's program.
        title: what the browser's tab says; any text.
    """
    blocks = "\n".join(
        f'<script type="text/plain" id="heedmap-block-{place}">{as_text(block)}</script>'
        for place, block in enumerate(contents.blocks)
    )
    return _TEMPLATE.format(
        policy=content_policy(bundle),
        version=__version__,
        title=html.escape(title.encode("utf-8", "replace").decode()),
        style=bundle.style,
        header=contents.header_text(),
        blocks=blocks,
        script=bundle.script_in_html,
    )


def content_policy(bundle: Bundle) -> str:
    """What the file allows itself: its own program by its hash, workers made from it, and pictures it holds itself."""
    rules = {
        "default-src": "'none'",
        "script-src": f"'{bundle.script_hash}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "worker-src": "blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def fixed_size(bundle: Bundle) -> int:
    """Bytes of the file beside its header and blocks."""
    return len(bundle.script.encode()) + len(bundle.style.encode()) + 2000


def page_title(text: str) -> str:
    """A title from the text that was read: one line, cut where it is long.

    Example:
        >>> page_title("The trophy did not fit in the suitcase because it was too big. " * 2)
        'The trophy did not fit in the suitcase because it was too bi… · Heedmap'
    """
    line = " ".join(text.split())
    short = cut_text(line, _LONGEST_TITLE)
    return f"{short} · Heedmap"
