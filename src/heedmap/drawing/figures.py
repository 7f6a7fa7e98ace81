"""Figures with matplotlib: a map, a row, and a file that holds one."""

from heedmap.drawing.canvas import save_figure
from heedmap.drawing.map_figure import plot_map
from heedmap.drawing.row_figure import plot_row

__all__ = ["plot_map", "plot_row", "save_figure"]
