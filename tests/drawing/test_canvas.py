"""Saving figures: three formats, whole or not at all, the same every time."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from heedmap.drawing.canvas import PIXELS
from heedmap.drawing.figures import plot_map, save_figure
from heedmap.errors import FileError
from tests.drawing.making import HARD, TROPHY, map_of

SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_each_format_is_written(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"map{suffix}"
    save_figure(plot_map(map_of(TROPHY)).figure, target)
    assert target.read_bytes().startswith(SIGNATURES[suffix.lower()])
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", ["map.bmp", "map", "map.jpg"])
def test_other_suffixes_are_refused_by_name(tmp_path: Path, name: str) -> None:
    message = rf"cannot write a picture as {name}: use \.png, \.svg or \.pdf \(or \.npy, \.csv, \.parquet for"
    with pytest.raises(FileError, match=message):
        save_figure(Figure(), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_the_same_map_is_the_same_file(tmp_path: Path, suffix: str) -> None:
    for number in range(2):
        save_figure(plot_map(map_of(TROPHY), highlight=(10, 1)).figure, tmp_path / f"{number}{suffix}")
    assert (tmp_path / f"0{suffix}").read_bytes() == (tmp_path / f"1{suffix}").read_bytes()


def test_a_hostile_token_stays_text_in_svg(tmp_path: Path) -> None:
    labels = ["</script><script>alert(1)</script>", "<svg onload=alert(1)>", "--><script>", "]]>", "&lt;", *HARD]
    save_figure(plot_map(map_of(labels), title="<svg onload=alert(1)>").figure, tmp_path / "map.svg")
    tree = ElementTree.parse(tmp_path / "map.svg")
    names = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert not names & {"script", "a", "foreignObject", "text", "animate", "set"}
    for element in tree.iter():
        assert not [name for name in element.attrib if name.lower().startswith("on")]


def test_a_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "map.png"
    target.write_bytes(b"old")

    def half(self: Figure, path: Path, **_: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(FileError, match=r"cannot write .*map\.png: No space left on device"):
        save_figure(Figure(), target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_part_of_a_figure_saves_the_whole(tmp_path: Path) -> None:
    whole = Figure(figsize=(6, 3))
    part = whole.add_subfigure(whole.add_gridspec(1, 2)[0])
    axes = plot_map(map_of(list("ab")), ax=part.subplots())
    save_figure(axes.figure, tmp_path / "part.png")
    save_figure(whole, tmp_path / "whole.png")
    assert (tmp_path / "part.png").read_bytes() == (tmp_path / "whole.png").read_bytes()


def test_a_long_title_has_room_on_the_paper(tmp_path: Path) -> None:
    """Letters are hinted, and so wider in the file than they were on the screen: the paper is fitted to the file."""
    target = tmp_path / "map.png"
    title = "where “class” looks: layer 11, mean over heads of ./illimitable-illusory-million"
    save_figure(plot_map(map_of(list("abcdefgh")), title=title).figure, target)
    right_edge = imread(target)[:, -PIXELS // 10 :]
    assert (right_edge == right_edge[0, 0]).all()
