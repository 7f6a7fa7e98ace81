"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from heedmap.lab.words import SEARCHED
from heedmap.text.labels import visible

_ACTING = re.compile(r"([\\`*_\[\]<>|#~])")


def plain(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Example:
        >>> plain("a|b *c*")
        'a\\|b \\*c\\*'
    """
    return _ACTING.sub(r"\\\1", visible(text))


def report_markdown(context: Mapping[str, Any]) -> str:
    """The report that `heedmap.lab.write.context_of` has put into words."""
    lines = [f"# {plain(context['title'])}", "", plain(context["about"])]
    for finding in context["findings"]:
        lines += ["", *_finding(finding)]
    lines += ["", "## How it was measured", ""]
    lines += [f"- {plain(name)}: {plain(value)}" for name, value in context["run"]]
    lines += ["", "Run it again and compare, figure by figure: `heedmap lab rerun report.json`"]
    return "\n".join(lines) + "\n"


def _finding(finding: Mapping[str, Any]) -> Iterator[str]:
    """One experiment."""
    yield f"## {finding['name']}: {plain(finding['purpose'])}"
    yield from ("", f"**{plain(finding['verdict'])}**. {plain(finding['sentence'])}")
    for title, name in (("What it shows", "shows"), ("What it does not show", "does_not_show")):
        yield from ("", f"{title}:", "", *(f"- {plain(line)}" for line in finding[name]))
    for chart in finding["charts"]:
        yield from ("", f"![{plain(chart['says'])}]({chart['file']}){_searched(chart)}")
    for link in finding["links"]:
        yield from ("", f"[{plain(link['says'])}]({link['address']})")
    for table in finding["tables"]:
        note = f". {plain(table['note'])}" if table["note"] else ""
        yield from ("", f"**{plain(table['title'])}**{_searched(table)}{note}", "")
        yield _row(table["columns"])
        yield _row("---" for _ in table["columns"])
        for row in table["rows"]:
            yield _row(cell["text"] for cell in row)


def _searched(of: Mapping[str, Any]) -> str:
    """That something was chosen by searching, where it was."""
    return f" ({SEARCHED})" if of["searched"] else ""


def _row(cells: Iterable[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(map(plain, cells))} |"
