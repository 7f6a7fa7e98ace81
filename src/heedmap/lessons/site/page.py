"""One page of the site as a whole HTML file, with its program and style inside and nothing to fetch."""

from __future__ import annotations

from heedmap._version import __version__
from heedmap.drawing.page.bundle import Bundle
from heedmap.drawing.page.html import content_policy
from heedmap.lessons.site.text import escaped

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
<div id="heedmap" class="heedmap course" data-host="file">
<a class="skip" href="#lesson">Skip to the text</a>
<header><nav aria-label="Course">{navigation}</nav></header>
<main id="lesson">
<h1>{heading}</h1>
{body}
</main>
<footer>
<nav aria-label="Before and after">{neighbours}</nav>
<p>Made by Heedmap {version}; every figure was computed.</p>
</footer>
</div>
<noscript><p>Answers are checked with JavaScript, which is off here. The text can be read without it.</p></noscript>
{data}
<script type="module">{script}</script>
</body>
</html>
"""


def render(bundle: Bundle, *, title: str, heading: str, body: str, navigation: str, neighbours: str, data: str) -> str:
    """The whole file as text.

    Args:
        bundle: the course's program and style.
        title: what the browser's tab says.
        heading: the page's heading, plain text.
        body: what stands in it, HTML.
        navigation: links to the other lessons, HTML.
        neighbours: links to the lesson before and after, HTML.
        data: what the program needs, an HTML element; may be empty.
    """
    return _TEMPLATE.format(
        policy=content_policy(bundle),
        version=__version__,
        title=escaped(title),
        style=bundle.style,
        heading=escaped(heading),
        body=body,
        navigation=navigation,
        neighbours=neighbours,
        data=data,
        script=bundle.script_in_html,
    )


def link(target: str, text: str, *, here: bool = False) -> str:
    """A link; that of the page itself is marked."""
    current = ' aria-current="page"' if here else ""
    return f'<a href="{escaped(target)}"{current}>{escaped(text)}</a>'


def parts(pages: list[tuple[str, list[str]]]) -> str:
    """The pages of a lesson one below the other, each with its heading (the first has the lesson's own)."""
    made = []
    for index, (title, pieces) in enumerate(pages):
        heading = f"<h2>{escaped(title)}</h2>" if index else ""
        made.append(f'<section class="part">{heading}{"".join(pieces)}</section>')
    return "\n".join(made)
