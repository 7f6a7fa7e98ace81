// From what the map shows and the tiles there are to the picture that is drawn.

import type { LayerInfo, Range, ReadingSource } from "../data/types";
import type { Ink } from "./paint";
import type { ColourScale, Theme } from "./props";
import { type Colours, type Layout, type Placed, type Scene, SEPARATE } from "./scene";
import type { Piece, Pooling, TileStore } from "./tile-store";
import { type Cell, type Viewport, visible } from "./viewport";

/** What the map shows; of the page's properties those that decide the picture. */
export interface Subject {
  source: ReadingSource;
  info: LayerInfo;
  head: number | null;
  how: Pooling;
  theme: Theme;
  scale: ColourScale;
  apart: boolean;
  difference: boolean;
  query: number | null;
  choice: number | null;
  mark: { query: number; text: string } | null;
}

export interface Shown {
  subject: Subject;
  store: TileStore;
  view: Viewport;
  layout: Layout;
  ratio: number;
  colours: Colours;
  level: number;
}

/** On a map of differences, before any has arrived. */
const NO_TOP = 1;

export function compose(shown: Shown): Scene {
  const { subject, store, view, layout, ratio, colours, level } = shown;
  const { source, query, choice, mark } = subject;
  const { rows, columns } = visible(view, store.size, layout.pane);
  const ink = inkOf(subject, store, level);
  return {
    layout,
    view,
    size: store.size,
    ratio,
    colours,
    ink,
    queries: source.queries.tokens,
    keys: source.keys.tokens,
    placed: best(store, level, rows, columns).flatMap((piece) => placed(store, piece, ink)),
    broken: level > 0 || view.cell * ratio < SEPARATE ? [] : brokenCells(store, rows, columns),
    causal: store.causal,
    window: store.info.window,
    query,
    choice,
    mark,
  };
}

export const isCovered = (pieces: readonly Piece[]): boolean => pieces.every((piece) => piece.empty || piece.tile);

/** Nearest to the middle of what is on screen first; the first token's thin column before everything. */
export function fromMiddle(pieces: readonly Piece[], rows: Range, columns: Range): Piece[] {
  const middle = ({ start, stop }: Range) => (start + stop) / 2;
  const distance = (piece: Piece) =>
    piece.first ? 0 : Math.hypot(middle(piece.rows) - middle(rows), middle(piece.columns) - middle(columns));
  return [...pieces].sort((a, b) => distance(a) - distance(b));
}

/** The finest pieces there are; under those still to come, the coarser ones. */
function best(store: TileStore, level: number, rows: Range, columns: Range): Piece[] {
  const pieces = store.cover(level, rows, columns);
  if (isCovered(pieces)) return pieces;
  const coarser: Piece[] = [];
  for (let above = store.coarsest; above > level; above--) coarser.push(...store.cover(above, rows, columns));
  return [...coarser, ...pieces];
}

function placed(store: TileStore, piece: Piece, ink: Ink): Placed[] {
  const picture = store.picture(piece, ink);
  if (!picture) return [];
  return [{ picture, rows: piece.rows, columns: piece.columns, first: piece.first, holes: piece.summary!.holes }];
}

function inkOf({ theme, scale, apart, difference, how }: Subject, store: TileStore, level: number): Ink {
  const mean = how === "mean" && level > 0;
  // Differences have one scale for all columns; of weights, the first has its own.
  const largest = difference
    ? store.largest.map((one, above) => Math.max(one, store.largestOfFirst[above]!))
    : store.largest;
  // Means of blocks are much smaller than weights, so their scale ends at the largest mean on screen.
  const seen = mean ? largest[level] : Math.max(0, ...largest.filter((one) => one !== undefined));
  const top = difference || apart || mean ? seen || NO_TOP : 1;
  return { theme, scale, difference, top };
}

function brokenCells(store: TileStore, rows: Range, columns: Range): Cell[] {
  if (!store.broken) return [];
  const result: Cell[] = [];
  for (let query = rows.start; query < rows.stop; query++) {
    for (let key = columns.start; key < columns.stop; key++) {
      const found = store.lookup(0, query, key);
      if (found?.allowed && Number.isNaN(found.weight)) result.push({ query, key });
    }
  }
  return result;
}
