// Which part of a map is on screen, in cells and CSS pixels: arithmetic only, nothing is drawn here.

import type { Range } from "../data/types";

/** How many cells a map has. */
export interface Size {
  rows: number;
  columns: number;
}

/** The rectangle that cells are drawn in, in CSS pixels. */
export interface Pane {
  width: number;
  height: number;
}

/** Cells are square: `cell` CSS pixels each; (`x`, `y`) is the place, in cells, at the pane's corner. */
export interface Viewport {
  cell: number;
  x: number;
  y: number;
}

export interface Cell {
  query: number;
  key: number;
}

export const LARGEST_CELL = 64;

/** A map of few tokens is not blown up beyond this. */
export const COMFORTABLE_CELL = 30;

/** The whole map. Cells that are large enough to be seen one by one take whole device pixels. */
export function fit(size: Size, pane: Pane, ratio: number): Viewport {
  const wanted = Math.min(pane.width / size.columns, pane.height / size.rows, COMFORTABLE_CELL);
  const device = wanted * ratio;
  return { cell: device >= 2 ? Math.floor(device) / ratio : wanted, x: 0, y: 0 };
}

/** Keeps the map in the pane: no empty border where there are cells to show. */
export function clamp(view: Viewport, size: Size, pane: Pane): Viewport {
  const within = (value: number, cells: number, pixels: number) =>
    Math.max(0, Math.min(value, cells - pixels / view.cell));
  return { cell: view.cell, x: within(view.x, size.columns, pane.width), y: within(view.y, size.rows, pane.height) };
}

/** Larger or smaller cells; what lies under the point (`px`, `py`) of the pane stays there. */
export function zoomAt(
  view: Viewport,
  factor: number,
  px: number,
  py: number,
  size: Size,
  pane: Pane,
  ratio: number,
): Viewport {
  const smallest = fit(size, pane, ratio).cell;
  const cell = Math.min(Math.max(LARGEST_CELL, smallest), Math.max(smallest, view.cell * factor));
  const moved = { cell, x: view.x + px / view.cell - px / cell, y: view.y + py / view.cell - py / cell };
  return clamp(moved, size, pane);
}

/** The map moved by so many CSS pixels, as a hand drags it. */
export function pan(view: Viewport, dx: number, dy: number, size: Size, pane: Pane): Viewport {
  return clamp({ cell: view.cell, x: view.x - dx / view.cell, y: view.y - dy / view.cell }, size, pane);
}

/** The least movement that brings a cell into the pane, with a cell of room around it. */
export function reveal(view: Viewport, { query, key }: Cell, size: Size, pane: Pane): Viewport {
  const along = (start: number, cells: number, index: number) =>
    Math.max(index + 2 - cells, Math.min(start, Math.max(0, index - 1)));
  const moved = {
    cell: view.cell,
    x: along(view.x, pane.width / view.cell, key),
    y: along(view.y, pane.height / view.cell, query),
  };
  return clamp(moved, size, pane);
}

/** The cells that are on screen, at least in part. */
export function visible(view: Viewport, size: Size, pane: Pane): { rows: Range; columns: Range } {
  const along = (start: number, pixels: number, cells: number): Range => ({
    start: Math.max(0, Math.floor(start)),
    stop: Math.min(cells, Math.ceil(start + pixels / view.cell)),
  });
  return { rows: along(view.y, pane.height, size.rows), columns: along(view.x, pane.width, size.columns) };
}

/** The cell under a point of the pane, or null beside the map. */
export function cellAt(view: Viewport, px: number, py: number, size: Size): Cell | null {
  const key = Math.floor(view.x + px / view.cell);
  const query = Math.floor(view.y + py / view.cell);
  return key >= 0 && query >= 0 && key < size.columns && query < size.rows ? { query, key } : null;
}

/** How often cells are halved before they are drawn: blocks of 2^level cells take at least one device pixel. */
export function levelOf(cell: number, ratio: number): number {
  const device = cell * ratio;
  return device >= 1 ? 0 : Math.ceil(-Math.log2(device) - 1e-9);
}

export function isWhole(view: Viewport, size: Size, pane: Pane, ratio: number): boolean {
  return view.cell <= fit(size, pane, ratio).cell * 1.0001;
}
