"""Rows as figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from heedmap.drawing.figures import plot_row
from heedmap.drawing.palette import BLUE_BAR, PALE, SAND_BAR, SAND_TEXT
from tests.drawing.making import HARD, TROPHY, row_of


def test_bars_are_the_weights_in_blue_and_sand() -> None:
    row = row_of(TROPHY, 10)
    axes = plot_row(row)
    (bars,) = axes.containers
    assert isinstance(bars, BarContainer)
    heights = [bar.get_height() for bar in bars]
    assert heights == pytest.approx(np.where(row.allowed, row.weights, 0.0))
    colours = [bar.get_facecolor()[:3] for bar in bars]
    assert colours[0] == pytest.approx(to_rgb(SAND_BAR))
    assert all(colour == pytest.approx(to_rgb(BLUE_BAR)) for colour in colours[1:])
    assert axes.get_ylim()[0] == 0.0


def test_what_stands_at_forbidden_places_is_never_read() -> None:
    row = row_of(TROPHY, 10)
    axes = plot_row(replace(row, weights=np.where(row.allowed, row.weights, 7.0)))
    assert [bar.get_height() for bar in axes.containers[0]] == pytest.approx(np.where(row.allowed, row.weights, 0.0))
    assert axes.get_ylim()[1] < 1


def test_words_numbers_and_sentences_stand_by_the_bars() -> None:
    row = row_of(TROPHY, 10)
    axes = plot_row(row)
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == TROPHY
    assert [label.get_text() for label in labels if label.get_fontweight() == "bold"] == ["it"]
    assert [label.get_text() for label in labels if label.get_color() == PALE] == ["was", "too", "big", "."]
    assert labels[0].get_color() == SAND_TEXT
    texts = [text.get_text() for text in axes.texts]
    assert texts[:-1] == [f"{weight:.3f}" for weight in row.weights[:11]]
    assert texts[-1] == "adds up to 1.000; 4 later tokens cannot be seen"
    assert axes.get_ylabel() == "attention weight\n(share of the row)"
    assert axes.get_title(loc="left") == "where it looks"


def test_a_sink_is_a_bar_of_its_own() -> None:
    axes = plot_row(row_of(TROPHY, 10, missing=0.25))
    sink = axes.containers[1]
    assert isinstance(sink, BarContainer)
    assert [bar.get_height() for bar in sink] == [0.25]
    texts = [text.get_text() for text in axes.texts]
    assert "sink" in texts
    assert any("0.250 goes to the learned sink" in text for text in texts)


def test_of_a_long_row_the_largest_carry_their_names() -> None:
    row = row_of([f"w{number}" for number in range(300)], 299)
    axes = plot_row(row)
    largest = np.argsort(-row.weights)[:5]
    named = {text.get_text() for text in axes.texts[:-1]}
    assert named == {f"{row.weights[place]:.3f} w{place}" for place in largest}
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks[0] == "0 w0"
    assert len(ticks) < 80


def test_what_is_not_a_number_is_marked_and_has_no_bar() -> None:
    weights = row_of(TROPHY, 10).weights.copy()
    weights[3] = np.nan
    axes = plot_row(replace(row_of(TROPHY, 10), weights=weights))
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == [3]
    assert any("1 of 11 weights not a number (nan)" in text.get_text() for text in axes.texts)


def test_a_row_that_may_see_nothing_is_absent() -> None:
    axes = plot_row(replace(row_of(TROPHY, 10), allowed=np.zeros(15, dtype=bool)))
    assert [text.get_text() for text in axes.texts] == ["it may look at no token: this row is absent, not zero"]


def test_given_axes_are_drawn_on() -> None:
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    assert plot_row(row_of(TROPHY, 10), ax=axes) is axes
    figure.draw_without_rendering()
    assert figure.get_size_inches() == pytest.approx([8, 4])
    assert axes.get_position().width > 0.7


def test_hard_labels_are_drawn_as_they_are() -> None:
    axes = plot_row(row_of(HARD, len(HARD) - 1))
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    assert "$x^2$" in [label.get_text() for label in axes.get_xticklabels()]
