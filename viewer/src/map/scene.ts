// Everything that one picture of a map is made of, so that the screen, a PNG and an SVG draw the same.

import type { Token } from "../data/types";
import type { Ink } from "./paint";
import type { Segment } from "./segments";
import type { Cell, Pane, Size, Viewport } from "./viewport";
import { widestLabel } from "./label-text";

/** Colours of the page around the cells. */
export interface Colours {
  paper: string;
  ink: string;
  quiet: string;
  line: string;
  accent: string;
  choice: string;
  sand: string;
}

/** Where things stand, in CSS pixels. */
export interface Layout {
  width: number;
  height: number;
  /** The corner of the pane. */
  left: number;
  top: number;
  /** Where the titles of the axes stand: the column title's height, the row title's distance from the left. */
  titleX: number;
  titleY: number;
  pane: Pane;
  /** Room for labels of rows and of columns. */
  rowRoom: number;
  columnRoom: number;
}

/** A tile's picture and the tokens it stands for. */
export interface Placed {
  picture: HTMLCanvasElement;
  rows: Segment;
  columns: Segment;
  first: boolean;
  holes: boolean;
}

export interface Scene {
  layout: Layout;
  view: Viewport;
  size: Size;
  ratio: number;
  colours: Colours;
  ink: Ink;
  queries: readonly Token[];
  keys: readonly Token[];
  /** In drawing order: coarse ones first, where finer ones are still to come. */
  placed: readonly Placed[];
  /** Cells that are not numbers, where cells are large enough for a cross. */
  broken: readonly Cell[];
  causal: boolean;
  window: number | null;
  query: number | null;
  choice: number | null;
  mark: { query: number; text: string } | null;
}

export const TURN = 60;
export const STRIP = 7;
const TITLE = 20;
const GAP = 6;
const LEAST_PANE = 240;

/** Cells from this size on have a gap between them, in device pixels. */
export const SEPARATE = 8;

/** Where the cells go in a box of this width, at most so high. */
export function layoutOf(
  width: number,
  most: number,
  size: Size,
  queries: readonly Token[],
  keys: readonly Token[],
): Layout {
  const roomy = width >= 520 ? 120 : 72;
  const rowRoom = widestLabel(queries, roomy);
  const columnRoom = widestLabel(keys, roomy);
  const radians = (TURN * Math.PI) / 180;
  const left = TITLE + rowRoom + GAP + STRIP + 4;
  const top = TITLE + columnRoom * Math.sin(radians) + GAP + 8;
  const right = Math.min(columnRoom * Math.cos(radians), width >= 520 ? 60 : 22) + 2;
  const paneWidth = Math.max(40, width - left - right);
  const square = (paneWidth * size.rows) / size.columns;
  const height = Math.max(Math.min(square, Math.max(LEAST_PANE, most - top)), 24);
  return {
    width,
    height: top + height + 4,
    left,
    top,
    titleX: 9,
    titleY: 9,
    pane: { width: paneWidth, height },
    rowRoom,
    columnRoom,
  };
}

/** The keys between which a row may look, by its place alone. */
export function reach(scene: Pick<Scene, "causal" | "window" | "size">, query: number): [start: number, stop: number] {
  const stop = scene.causal ? Math.min(scene.size.columns, query + 1) : scene.size.columns;
  const back = scene.window !== null && scene.causal ? Math.max(0, query - scene.window + 1) : 0;
  return [back, stop];
}
