"""Real glyphs where a font has them, code points where none has, and never a warning."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib import font_manager, rc_context
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from heedmap.drawing import fonts
from heedmap.drawing.fonts import lettering
from tests.drawing.making import HARD, naughty_strings

CHINESE = "你好"


def forget_found_fonts() -> None:
    """Make matplotlib search its list again."""
    manager: Any = fontManager
    manager._findfont_cached.cache_clear()


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with no other fonts than those that come with matplotlib."""
    own = Path(font_manager.__file__).parent / "mpl-data"
    bundled = [entry for entry in fontManager.ttflist if Path(entry.fname).is_relative_to(own)]
    assert any(entry.name == "DejaVu Sans" for entry in bundled)
    monkeypatch.setattr(fontManager, "ttflist", bundled)
    monkeypatch.setattr(fonts, "_look_for_new_fonts", lambda: None)
    forget_found_fonts()
    yield
    forget_found_fonts()


@pytest.fixture
def chinese_font() -> None:
    """A font with Chinese characters, beside those that come with matplotlib."""
    if not any("CJK" in entry.name for entry in fontManager.ttflist):
        pytest.skip("no font with Chinese characters is installed (apt-get install fonts-noto-cjk)")


def draw(labels: list[str], *, bold: bool = False) -> None:
    """Draw labels as a figure does; pytest turns every warning into an error."""
    letters = lettering(labels)
    figure = Figure()
    for label in labels:
        figure.text(0.5, 0.5, letters.text(label)).set(**letters.style(label, bold=bold))
    figure.draw_without_rendering()


@pytest.mark.parametrize("bold", [False, True])
def test_hard_labels_draw_without_a_word(bold: bool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="matplotlib"):
        draw(HARD, bold=bold)
    assert not caplog.records


@pytest.mark.usefixtures("bare_machine")
@pytest.mark.parametrize("bold", [False, True])
def test_hard_labels_draw_without_a_word_on_a_bare_machine(bold: bool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="matplotlib"):
        draw(HARD, bold=bold)
    assert not caplog.records


def test_naughty_strings_draw_without_a_word(data_folder: Path) -> None:
    draw([one for one in naughty_strings(data_folder) if len(one) < 100])


@pytest.mark.usefixtures("bare_machine")
def test_a_mark_that_the_font_of_its_letter_lacks_is_named() -> None:
    """Each of the three is in some font, and no font has all of them."""
    cluster = "\u1e36\u0359\u034e"
    letters = lettering([cluster])
    assert not letters.missing
    assert letters.text(cluster) == "\u1e36⟨U+0359⟩\u034e"
    draw([cluster])


@pytest.mark.usefixtures("bare_machine")
def test_what_no_font_has_is_named() -> None:
    letters = lettering([CHINESE, "it"])
    assert letters.missing == set(CHINESE)
    assert letters.text(CHINESE) == "⟨U+4F60⟩⟨U+597D⟩"
    assert letters.text("it") == "it"
    assert letters.others == ()


@pytest.mark.usefixtures("bare_machine")
def test_a_part_without_shape_is_dropped_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_characters", lambda family, weight="normal": {ord(one) for one in "ab❤⟨U+0⟩"})
    letters = lettering(["a\u200db", "❤\ufe0f"])
    assert letters.text("a\u200db") == "ab"
    assert letters.text("❤\ufe0f") == "❤"


@pytest.mark.usefixtures("chinese_font")
def test_another_font_fills_the_gap() -> None:
    letters = lettering([CHINESE, "it"])
    assert not letters.missing
    assert letters.text(CHINESE) == CHINESE
    assert letters.style(CHINESE)["fontfamily"] == [*letters.own, *letters.others]
    assert letters.style("it")["fontfamily"] == list(letters.own)


@pytest.mark.usefixtures("chinese_font")
def test_what_the_bold_face_lacks_stays_regular() -> None:
    letters = lettering(["it", CHINESE])
    assert letters.style("it", bold=True)["fontweight"] == "bold"
    assert letters.style(CHINESE, bold=True)["fontweight"] == "normal"
    assert letters.style("it")["fontweight"] == "normal"


def test_labels_are_not_mathematics() -> None:
    style = lettering(["$x$"]).style("$x$")
    assert (style["parse_math"], style["usetex"]) == (False, False)


def test_the_settings_of_matplotlib_come_first() -> None:
    with rc_context({"font.family": ["DejaVu Serif", "No Such Font"]}):
        assert lettering(["it"]).own == ("DejaVu Serif",)
    with rc_context({"font.family": ["No Such Font"]}):
        assert lettering(["it"]).own == ("DejaVu Sans",)


@pytest.mark.parametrize(("text", "form"), [("你好", "SC"), ("私は猫", "JP"), ("한국 中", "KR"), ("it", "SC")])
def test_shared_characters_take_the_forms_of_the_language_around_them(text: str, form: str) -> None:
    assert fonts._chinese_characters_of(frozenset(text)) == form


def test_fonts_without_shapes_are_passed_over_and_plain_ones_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        "Zapfino",
        "Noto Color Emoji",
        "Last Resort",
        "Symbola",
        "Noto Sans Thai",
        "Noto Sans CJK SC",
        "Noto Emoji",
    ]
    entries = [SimpleNamespace(name=name, style="normal", weight=400, stretch="normal") for name in names]
    entries.append(SimpleNamespace(name="Slanted", style="italic", weight=400, stretch="normal"))
    monkeypatch.setattr(fontManager, "ttflist", entries)
    expected = ["Noto Sans CJK SC", "Noto Emoji", "Symbola", "Noto Sans Thai", "Zapfino"]
    assert fonts._other_families(frozenset("你")) == expected
