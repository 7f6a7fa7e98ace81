// The tiles of one map: asked for where somebody looks, kept while they are of use, and the best there is until then.

import type { LayerInfo, Range, ReadingSource, Tile } from "../data/types";
import { type Ink, inkName, paint, type Summary, summary } from "./paint";
import { overlaps, type Segment, segments } from "./segments";

export type Pooling = "mean" | "max";

/** One tile of the map at one level, there or still to come. */
export interface Piece {
  name: string;
  level: number;
  rows: Segment;
  columns: Segment;
  /** It holds the first token's column and nothing else. */
  first: boolean;
  /** Nothing in it can be seen, so nothing is asked for. */
  empty: boolean;
  tile: Tile | null;
  summary: Summary | null;
  picture: HTMLCanvasElement | null;
  /** The ink of the picture. */
  inked: string;
  used: number;
}

interface Grid {
  rows: Segment[];
  columns: Segment[];
}

const IN_FLIGHT = 3;
/** Numbers that are kept, some 150 MB with their pictures, and pieces: what is on screen is kept whatever it takes. */
const MOST_CELLS = 16_000_000;
const MOST_PIECES = 4096;

export class TileStore {
  /** The largest number seen so far outside the first column, by level. */
  readonly largest: number[] = [];
  /** The same of the first column. */
  readonly largestOfFirst: number[] = [];
  broken = false;
  fault: string | null = null;
  private readonly grids: Grid[] = [];
  private readonly pieces = new Map<string, Piece>();
  private readonly flying = new Map<string, AbortController>();
  private waiting: Piece[] = [];
  private clock = 0;
  /** Numbers that are held. */
  cells = 0;
  private closed = false;

  constructor(
    readonly source: ReadingSource,
    readonly info: LayerInfo,
    readonly head: number | null,
    readonly how: Pooling,
    private readonly arrived: () => void,
  ) {}

  get size(): { rows: number; columns: number } {
    return { rows: this.source.queries.tokens.length, columns: this.source.keys.tokens.length };
  }

  /** Whether nothing later than a query can be seen from it, by its place alone. */
  get causal(): boolean {
    return this.info.causal && this.size.rows === this.size.columns;
  }

  /** Whether there is anything to draw yet. */
  get hasAny(): boolean {
    return this.largest.length > 0;
  }

  /** The coarsest level that has tiles. */
  get coarsest(): number {
    return this.largest.length - 1;
  }

  get loading(): boolean {
    return this.flying.size > 0 || this.waiting.length > 0;
  }

  /** The pieces that cover a part of the map at a level. */
  cover(level: number, rows: Range, columns: Range): Piece[] {
    const grid = this.grid(level);
    const result: Piece[] = [];
    for (const down of grid.rows) {
      if (!overlaps(down, rows)) continue;
      for (const across of grid.columns) if (overlaps(across, columns)) result.push(this.piece(level, down, across));
    }
    return result;
  }

  /** Asks for what is missing of these pieces, in this order, and for nothing else any more. */
  want(pieces: readonly Piece[]): void {
    // A source that failed once fails again: it is not asked in every frame.
    if (this.fault !== null) return;
    this.forget(pieces);
    const missing = pieces.filter((piece) => !piece.tile && !piece.empty);
    const names = new Set(missing.map((piece) => piece.name));
    for (const [name, flight] of this.flying) {
      if (names.has(name)) continue;
      flight.abort();
      this.flying.delete(name);
    }
    this.waiting = missing.filter((piece) => !this.flying.has(piece.name));
    this.send();
  }

  /** The number of a cell, or of the pooled cell over it, if its tile is there. */
  lookup(level: number, query: number, key: number): { weight: number; allowed: boolean } | null {
    const [piece] = this.cover(level, { start: query, stop: query + 1 }, { start: key, stop: key + 1 });
    if (!piece) return null;
    if (piece.empty) return { weight: 0, allowed: false };
    if (!piece.tile) return null;
    const row = Math.floor(((query - piece.rows.start) * piece.rows.cells) / (piece.rows.stop - piece.rows.start));
    const column = Math.floor(
      ((key - piece.columns.start) * piece.columns.cells) / (piece.columns.stop - piece.columns.start),
    );
    const cell = row * piece.tile.width + column;
    return { weight: piece.tile.weights[cell]!, allowed: piece.tile.allowed[cell] === 1 };
  }

  /** The tokens that share the pooled cell of this one: [queries, keys]. */
  block(level: number, query: number, key: number): [Range, Range] {
    const inside = (parts: Segment[], index: number): Range => {
      const part = parts.find((one) => index >= one.start && index < one.stop)!;
      const step = (part.stop - part.start) / part.cells;
      const start = part.start + Math.floor((index - part.start) / step) * step;
      return { start, stop: start + step };
    };
    const grid = this.grid(level);
    return [inside(grid.rows, query), inside(grid.columns, key)];
  }

  /** The picture of a piece in an ink, painted anew only when the ink has changed. */
  picture(piece: Piece, ink: Ink): HTMLCanvasElement | null {
    if (!piece.tile) return null;
    piece.used = ++this.clock;
    const name = inkName(ink);
    if (piece.inked !== name) {
      piece.picture = paint(piece.tile, ink, piece.first, piece.picture);
      piece.inked = name;
    }
    return piece.picture;
  }

  close(): void {
    this.closed = true;
    for (const flight of this.flying.values()) flight.abort();
    this.flying.clear();
    this.waiting = [];
  }

  private grid(level: number): Grid {
    const { rows, columns } = this.size;
    return (this.grids[level] ??= {
      rows: segments({ start: 0, stop: rows }, level),
      // The first token has tiles of its own, so that it can be told from its neighbours however small the map.
      columns: [
        ...segments({ start: 0, stop: Math.min(1, columns) }, 0),
        ...segments({ start: 1, stop: columns }, level),
      ],
    });
  }

  private piece(level: number, rows: Segment, columns: Segment): Piece {
    const name = `${level}/${rows.start}/${columns.start}`;
    let piece = this.pieces.get(name);
    if (!piece) {
      const empty = this.causal && columns.start >= rows.stop;
      const first = columns.start === 0;
      piece = {
        name,
        level,
        rows,
        columns,
        first,
        empty,
        tile: null,
        summary: null,
        picture: null,
        inked: "",
        used: ++this.clock,
      };
      this.pieces.set(name, piece);
    }
    return piece;
  }

  /** Lets go of pieces that are not on screen, those first that were not drawn for the longest time. */
  private forget(onScreen: readonly Piece[]): void {
    if (this.cells <= MOST_CELLS && this.pieces.size <= MOST_PIECES) return;
    const kept = new Set(onScreen);
    const old = [...this.pieces.values()].filter((piece) => !kept.has(piece) && !this.flying.has(piece.name));
    old.sort((a, b) => a.used - b.used);
    for (const piece of old) {
      // Well below the limit, so that not every frame has to look again.
      if (this.cells < 0.8 * MOST_CELLS && this.pieces.size < 0.8 * MOST_PIECES) break;
      this.pieces.delete(piece.name);
      this.cells -= piece.tile?.weights.length ?? 0;
    }
  }

  private send(): void {
    while (this.flying.size < IN_FLIGHT && this.waiting.length) void this.fetch(this.waiting.shift()!);
  }

  private async fetch(piece: Piece): Promise<void> {
    const flight = new AbortController();
    this.flying.set(piece.name, flight);
    const { rows, columns } = piece;
    try {
      const tile = await this.source.tile(
        this.info.number,
        this.head,
        rows,
        columns,
        rows.cells,
        columns.cells,
        this.how,
        flight.signal,
      );
      if (!this.closed) this.keep(piece, tile);
    } catch (reason) {
      if (!flight.signal.aborted) this.fault = reason instanceof Error ? reason.message : String(reason);
    }
    if (this.flying.get(piece.name) === flight) this.flying.delete(piece.name);
    if (this.closed) return;
    this.send();
    this.arrived();
  }

  private keep(piece: Piece, tile: Tile): void {
    piece.tile = tile;
    this.cells += tile.weights.length;
    piece.summary = summary(tile, this.causal);
    this.broken ||= piece.summary.broken;
    for (const [largest, counts] of [
      [this.largest, !piece.first],
      [this.largestOfFirst, piece.first],
    ] as const)
      largest[piece.level] = Math.max(largest[piece.level] ?? 0, counts ? piece.summary.largest : 0);
  }
}
