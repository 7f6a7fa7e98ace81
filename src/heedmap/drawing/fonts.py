"""Which fonts hold the characters of some labels, so that a figure shows letters and never empty boxes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from matplotlib import font_manager
from matplotlib.font_manager import FontProperties, fontManager

from heedmap.drawing.labels import visible
from heedmap.text.clusters import clusters

UNUSABLE = ("last resort", "color", "blank")
"""Parts of the names of fonts that claim characters without a shape that matplotlib can draw."""

CODE_POINT = frozenset("⟨U+0123456789ABCDEF⟩")
"""What the name of a missing character is written with."""

REGULAR = (400, "normal", "regular")


@dataclass(frozen=True)
class Lettering:
    """The fonts for some labels.

    Attributes:
        own: the figure's own font families.
        others: the families that fill their gaps.
        plain: the characters that the figure's own fonts have.
        bold: the characters that their bold faces have.
        missing: the characters that no font on this machine has.
    """

    own: tuple[str, ...]
    others: tuple[str, ...]
    plain: frozenset[str]
    bold: frozenset[str]
    missing: frozenset[str]

    def text(self, label: str) -> str:
        """The label as it can be drawn: what no font has is named by its code point.

        Characters that have no shape of their own (joiners, variation selectors) are then left out.
        """
        return "".join(map(self._drawable, clusters(visible(label))))

    def _drawable(self, cluster: str) -> str:
        """One character as people see it: matplotlib draws its letter and marks with one font or not at all."""
        if len(cluster) == 1:
            return _named(cluster) if cluster in self.missing else cluster
        known = [ord(one) for one in cluster if one not in self.missing]
        fonts = [_characters(family) for family in (*self.own, *self.others)]
        whole = next((font for font in fonts if font.issuperset(known)), None)
        font = whole or next(one for one in fonts if known[0] in one)
        return "".join(one if ord(one) in font else _named(one) for one in cluster)

    def style(self, label: str, *, bold: bool = False) -> dict[str, object]:
        """What `Text` needs to draw `text(label)` as it is: its fonts, and no mathematics or TeX in it.

        Only labels that the figure's bold face can show are bold: matplotlib would take another weight and say so.
        """
        shown = self.text(label)
        heavy = bold and self.bold.issuperset(shown)
        return {
            "fontfamily": [*self.own, *(() if self.plain.issuperset(shown) else self.others)],
            "fontweight": "bold" if heavy else "normal",
            "parse_math": False,
            "usetex": False,
        }


def lettering(labels: Iterable[str]) -> Lettering:
    """Find fonts for all characters of some labels.

    The figure's own families (`font.family` of matplotlib's settings) come first. Only for what they lack are other
    fonts of this machine looked at, those installed since matplotlib last looked as well; they are then known to
    matplotlib for the rest of the process. Colour emoji fonts cannot be drawn by matplotlib and are passed over.

    Args:
        labels: the labels, not yet made visible.

    Example:
        >>> lettering(["trophy", "$x$"]).text("$x$")
        '$x$'
    """
    wanted = frozenset(CODE_POINT.union(*map(visible, labels)))
    own = _own_families()
    plain = frozenset(one for one in wanted if any(ord(one) in _characters(family) for family in own))
    bold = frozenset(one for one in wanted if any(ord(one) in _characters(family, "bold") for family in own))
    missing = wanted - plain
    others = []
    if missing:
        _look_for_new_fonts()
        for family in _other_families(wanted):
            found = {one for one in missing if ord(one) in _characters(family)}
            if found:
                others.append(family)
                missing -= found
            if not missing:
                break
    return Lettering(tuple(own), tuple(others), plain, bold, missing)


def _named(character: str) -> str:
    """The code point of a character that cannot be drawn, nothing for one that has no shape anyway."""
    if unicodedata.category(character) == "Cf" or unicodedata.name(character, "").startswith("VARIATION SELECTOR"):
        return ""
    return f"⟨U+{ord(character):04X}⟩"


def _own_families() -> list[str]:
    """The font families that a figure would use now, those of them that are there."""
    families = []
    for family in FontProperties().get_family():
        with suppress(ValueError):  # not installed
            font_manager.findfont(FontProperties(family=[family]), fallback_to_default=False)
            families.append(family)
    return families or ["DejaVu Sans"]


def _other_families(wanted: frozenset[str]) -> list[str]:
    """All other families with a regular face, the likely and plain ones first."""
    names = {
        entry.name
        for entry in fontManager.ttflist
        if entry.style == "normal" and entry.weight in REGULAR and entry.stretch == "normal"
    }
    usable = [name for name in names if not any(part in name.lower() for part in UNUSABLE)]
    likely = [f"Noto Sans CJK {_chinese_characters_of(wanted)}", "Noto Sans", "DejaVu Sans", "Noto Emoji", "Symbola"]

    def rank(name: str) -> tuple[int, str]:
        exact = likely.index(name) if name in likely else len(likely) + (not name.startswith("Noto Sans"))
        return exact, name

    return sorted(usable, key=rank)


def _chinese_characters_of(wanted: frozenset[str]) -> str:
    """Whose forms the shared characters of Chinese, Japanese and Korean take, by the letters that stand with them."""
    names = [unicodedata.name(one, "") for one in wanted if one > "\u2fff"]
    if any(name.startswith(("HIRAGANA", "KATAKANA")) for name in names):
        return "JP"
    return "KR" if any(name.startswith("HANGUL") for name in names) else "SC"


def _characters(family: str, weight: str = "normal") -> frozenset[int]:
    """The code points for which a family has a glyph."""
    return _characters_of_file(font_manager.findfont(FontProperties(family=[family], weight=weight)))


@cache
def _characters_of_file(path: str) -> frozenset[int]:
    """The code points for which a font file has a glyph."""
    return frozenset(font_manager.get_font(path).get_charmap())


@cache
def _look_for_new_fonts() -> None:
    """Make matplotlib know the fonts that were installed since it last made its list."""
    known = {entry.fname for entry in fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            with suppress(Exception):  # a font that cannot be read, or not be scaled, is no use here
                fontManager.addfont(path)
