"""Markdown as HTML: what stands in it as HTML is shown as text, never obeyed."""

from __future__ import annotations

import html
from functools import cache

from markdown_it import MarkdownIt


@cache
def _reader() -> MarkdownIt:
    """CommonMark with tables, and without raw HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def paragraphs(markdown: str) -> str:
    r"""Markdown as HTML blocks; its headings begin one level below the page's.

    Example:
        >>> paragraphs("One *word* <b>looks</b>.")
        '<p>One <em>word</em> &lt;b&gt;looks&lt;/b&gt;.</p>\n'
    """
    made: str = _reader().render(markdown)
    made = made.replace("<th></th>", "<td></td>")  # the corner over the names of rows heads nothing
    made = made.replace("<pre>", '<pre tabindex="0" role="group" aria-label="Code">')  # long lines: by keyboard too
    return made.replace("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>').replace(
        "</table>", "</table></div>"
    )


def inline(markdown: str) -> str:
    """Markdown as HTML inside a line.

    Example:
        >>> inline("a *share*")
        'a <em>share</em>'
    """
    made: str = _reader().renderInline(markdown)
    return made


def escaped(text: str) -> str:
    """Plain text as HTML.

    Example:
        >>> escaped('"it" < <b>')
        '&quot;it&quot; &lt; &lt;b&gt;'
    """
    return html.escape(text)


def lines(text: str, label: str) -> str:
    """Lines that keep their columns, as a part that can be scrolled by keyboard."""
    return f'<pre tabindex="0" role="group" aria-label="{escaped(label)}">{escaped(text)}</pre>'
