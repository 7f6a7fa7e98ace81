"""In notebooks: a widget with the page's header and blocks, and text with one more line where it cannot be shown."""

from __future__ import annotations

import builtins
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from heedmap.drawing.page import notebook
from heedmap.drawing.page.bundle import Bundle
from heedmap.errors import FileError, MissingExtra
from tests.drawing.page.making import reading

READING = reading()


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small program, and no widget class left over from another one."""
    monkeypatch.setattr(notebook, "load_bundle", lambda: Bundle("export default { render() {} }", "p {}"))
    notebook._widget_class.cache_clear()


@pytest.fixture
def in_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a notebook's kernel ran this."""
    module: Any = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", module)


@pytest.fixture
def without_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if anywidget were not installed."""
    real = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "anywidget":
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)


def test_the_widget_carries_header_and_blocks() -> None:
    widget = READING.widget(layer=1, head=2)
    header = json.loads(widget.header)
    assert header["start"] == {"reading": "self", "layer": 1, "head": 2, "query": None}
    assert sum(widget.sizes) == len(widget.data)
    assert len(widget.sizes) == 1 + max(layer.get("block", 0) for layer in header["readings"][0]["layers"])
    assert widget._esm == "export default { render() {} }"


def test_two_widgets_share_nothing() -> None:
    one, other = READING.widget(layer=1), READING.widget(layer=3)
    assert one.header != other.header
    assert one.model_id != other.model_id


@pytest.mark.usefixtures("in_kernel")
def test_a_notebook_shows_the_page_and_keeps_the_text() -> None:
    shown = READING._repr_mimebundle_()
    data = shown[0] if isinstance(shown, tuple) else shown
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == str(READING)


def test_a_terminal_shows_text() -> None:
    assert READING._repr_mimebundle_(include=None, exclude=None) == {"text/plain": str(READING)}


@pytest.mark.usefixtures("in_kernel", "without_anywidget")
def test_without_anywidget_there_is_text_and_the_command() -> None:
    text = READING._repr_mimebundle_()["text/plain"]
    assert text.startswith(str(READING))
    assert text.splitlines()[-1].startswith('(the page in a notebook needs anywidget: pip install "heedmap[notebook]"')
    with pytest.raises(MissingExtra, match=r'pip install "heedmap\[notebook\]"; reading.page'):
        READING.widget()


@pytest.mark.usefixtures("in_kernel")
def test_without_the_program_there_is_text_and_how_to_build_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Bundle:
        raise FileError("the page's program is not built here")

    monkeypatch.setattr(notebook, "load_bundle", missing)
    assert READING._repr_mimebundle_()["text/plain"].endswith("(the page's program is not built here)")


def test_marimo_is_given_the_widget() -> None:
    assert json.loads(READING._display_().header)["start"]["reading"] == "self"
