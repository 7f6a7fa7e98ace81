"""One page of the course as a whole HTML file, with its program and style inside it or beside it."""

from __future__ import annotations

from dataclasses import dataclass

from heedmap._version import __version__
from heedmap.drawing.page.bundle import Bundle
from heedmap.drawing.page.html import content_policy
from heedmap.lessons.site.text import escaped

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="heedmap {version}">
<title>{title}</title>
{head}
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
{end}
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Program:
    """The program and style of a page, as HTML.

    Attributes:
        head: what stands in the head.
        end: what stands at the end of the body.
    """

    head: str
    end: str


def inside(bundle: Bundle) -> Program:
    """Everything inside the page, which then needs nothing else and may load nothing."""
    rules = f"{content_policy(bundle)}; frame-src 'self' file:"  # the maps that stand beside a lesson
    policy = f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
    return Program(
        f"{policy}\n<style>{bundle.style}</style>", f'<script type="module">{bundle.script_in_html}</script>'
    )


def beside(script: str, style: str) -> Program:
    """Files at addresses of their own, for a server whose policy forbids code inside pages."""
    return Program(
        f'<link rel="stylesheet" href="{escaped(style)}">', f'<script type="module" src="{escaped(script)}"></script>'
    )


def render(
    program: Program, *, title: str, heading: str, body: str, navigation: str, neighbours: str, data: str
) -> str:
    """The whole file as text.

    Args:
        program: the course's program and style.
        title: what the browser's tab says.
        heading: the page's heading, plain text.
        body: what stands in it, HTML.
        navigation: links to the other lessons, HTML.
        neighbours: links to the lesson before and after, HTML.
        data: what the program needs, an HTML element; may be empty.
    """
    return _TEMPLATE.format(
        version=__version__,
        title=escaped(title),
        head=program.head,
        heading=escaped(heading),
        body=body,
        navigation=navigation,
        neighbours=neighbours,
        data=data,
        end=program.end,
    )


def link(target: str, text: str) -> str:
    """A link."""
    return f'<a href="{escaped(target)}">{escaped(text)}</a>'


def parts(pages: list[tuple[str, list[str]]]) -> str:
    """The pages of a lesson one below the other, each with its heading (that of the first is only spoken)."""
    made = []
    for index, (title, pieces) in enumerate(pages):
        heading = f"<h2>{escaped(title)}</h2>" if index else '<h2 class="spoken">To begin with</h2>'
        made.append(f'<section class="part">{heading}{"".join(pieces)}</section>')
    return "\n".join(made)
