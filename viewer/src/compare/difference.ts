// The difference of two maps as a reading of its own: what the second gives more (or less) than the first.

import { blockEdges } from "../data/pool";
import { MASKED, reason } from "../map/cell-text";
import type { Absent, LayerInfo, Range, ReadingSource, Row, Statistic, Tile, Token, TokenList, Vectors } from "../data/types";
import { type Alignment, isIdentity, pairText } from "./align";

/** One map: a head, or the mean over heads, of a layer of a reading. */
export interface Side {
  source: ReadingSource;
  layer: LayerInfo;
  head: number | null;
}

/** How many cells are held at once while a large tile is pooled. */
const AT_ONCE = 1 << 20;

/**
 * Second minus first, on the places of an alignment. A cell is allowed where both maps allow it; where one text has no
 * counterpart there is nothing to compare, and the cell is blank.
 */
export class DifferenceSource implements ReadingSource {
  readonly id = "difference";
  readonly title = "Difference";
  readonly model: ReadingSource["model"];
  readonly queries: TokenList;
  readonly keys: TokenList;
  readonly layers: LayerInfo[];
  readonly statistics: Statistic[] = [];
  readonly notes: string[] = [];
  private readonly pooledAlike: boolean;

  constructor(
    private readonly a: Side,
    private readonly b: Side,
    private readonly rows: Alignment,
    private readonly columns: Alignment,
  ) {
    this.model = a.source.model;
    this.queries = merged(rows, a.source.queries, b.source.queries);
    this.keys = a.source.queries === a.source.keys ? this.queries : merged(columns, a.source.keys, b.source.keys);
    this.layers = [
      {
        ...a.layer,
        hasSteps: false,
        causal: a.layer.causal && b.layer.causal,
        // In two texts of unequal length a window does not end at one distance of places.
        window: isIdentity(rows) && isIdentity(columns) ? narrower(a.layer.window, b.layer.window) : null,
      },
    ];
    const sameRule = a.layer.causal === b.layer.causal && a.layer.window === b.layer.window;
    this.pooledAlike = sameRule && isIdentity(rows) && isIdentity(columns);
  }

  async row(_layer: number, _head: number | null, query: number): Promise<Row> {
    const length = this.columns.length;
    const found: Row = { weights: new Float32Array(length), allowed: new Uint8Array(length), sink: null, sum: 0 };
    const [queryA, queryB] = this.rows[query]!;
    if (queryA === null || queryB === null) return found;
    const [rowA, rowB] = await Promise.all([
      this.a.source.row(this.a.layer.number, this.a.head, queryA),
      this.b.source.row(this.b.layer.number, this.b.head, queryB),
    ]);
    this.columns.forEach(([keyA, keyB], place) => {
      if (keyA === null || keyB === null || !rowA.allowed[keyA] || !rowB.allowed[keyB]) return;
      found.allowed[place] = 1;
      found.weights[place] = rowB.weights[keyB]! - rowA.weights[keyA]!;
    });
    return { ...found, sum: found.weights.reduce((sum, each) => sum + each, 0) };
  }

  absent({ query, key }: { query: number; key: number }): Absent {
    const [[queryA, queryB], [keyA, keyB]] = [this.rows[query]!, this.columns[key]!];
    const alone = this.aloneIn(queryA, queryB) ?? this.aloneIn(keyA, keyB);
    if (alone !== null) return { verb: "beside", reason: `nothing to compare, a word of the ${alone} text alone` };
    const [first, second] = [
      reason(this.a.layer, { query: queryA!, key: keyA! }),
      reason(this.b.layer, { query: queryB!, key: keyB! }),
    ];
    // What only the mask of one side forbids cannot be told from what is allowed there.
    return { verb: "may not look at", reason: first === MASKED ? second : first };
  }

  /** The text that a place stands in where it has no counterpart. */
  private aloneIn(a: number | null, b: number | null): "first" | "second" | null {
    return a === null ? "second" : b === null ? "first" : null;
  }

  async tile(
    _layer: number,
    _head: number | null,
    rows: Range,
    columns: Range,
    height: number,
    width: number,
    how: "mean" | "max",
  ): Promise<Tile> {
    if (how === "mean" && this.pooledAlike) return this.difference(rows, columns, height, width);
    const pool = new Pool(rows, columns, height, width, how);
    const step = Math.max(1, Math.floor(AT_ONCE / Math.max(1, columns.stop - columns.start)));
    for (let start = rows.start; start < rows.stop; start += step) {
      await this.add(pool, { start, stop: Math.min(rows.stop, start + step) }, columns);
    }
    return pool.done();
  }

  vectors(): Promise<Vectors> {
    return Promise.reject(new Error("a difference of two maps has no steps of its own"));
  }

  /** The mean of differences is the difference of means, where both maps have the same cells. */
  private async difference(rows: Range, columns: Range, height: number, width: number): Promise<Tile> {
    const [a, b] = await Promise.all(
      [this.a, this.b].map(({ source, layer, head }) =>
        source.tile(layer.number, head, rows, columns, height, width, "mean"),
      ),
    );
    const allowed = a!.allowed.map((each, cell) => each & b!.allowed[cell]!);
    return {
      ...a!,
      allowed,
      weights: b!.weights.map((weight, cell) => (allowed[cell] ? weight - a!.weights[cell]! : 0)),
    };
  }

  /** Every cell of some rows, in the places of the alignment. */
  private async add(pool: Pool, rows: Range, columns: Range): Promise<void> {
    const [a, b] = await Promise.all([this.whole(0, rows, columns), this.whole(1, rows, columns)]);
    if (!a || !b) return;
    for (let row = rows.start; row < rows.stop; row++) {
      const [queryA, queryB] = this.rows[row]!;
      if (queryA === null || queryB === null) continue;
      for (let column = columns.start; column < columns.stop; column++) {
        const [keyA, keyB] = this.columns[column]!;
        if (keyA === null || keyB === null) continue;
        const [cellA, cellB] = [cellOf(a, queryA, keyA), cellOf(b, queryB, keyB)];
        if (a.allowed[cellA] && b.allowed[cellB]) pool.add(row, column, b.weights[cellB]! - a.weights[cellA]!);
      }
    }
  }

  /** The cells of one side that stand at these places, one by one; null when none does. */
  private async whole(side: 0 | 1, rows: Range, columns: Range): Promise<Tile | null> {
    const [queries, keys] = [spanned(this.rows, side, rows), spanned(this.columns, side, columns)];
    if (!queries || !keys) return null;
    const { source, layer, head } = side === 0 ? this.a : this.b;
    return source.tile(layer.number, head, queries, keys, queries.stop - queries.start, keys.stop - keys.start, "mean");
  }
}

/** Cells gathered into a smaller picture: the mean of each block, or its largest difference either way. */
class Pool {
  private readonly weights: Float64Array;
  private readonly counts: Uint32Array;
  private readonly height: number;
  private readonly width: number;
  private readonly blockOfRow: Uint32Array;
  private readonly blockOfColumn: Uint32Array;

  constructor(
    private readonly rows: Range,
    private readonly columns: Range,
    height: number,
    width: number,
    private readonly how: "mean" | "max",
  ) {
    const [rowEdges, columnEdges] = [blockEdges(rows, height), blockEdges(columns, width)];
    this.height = rowEdges.length - 1;
    this.width = columnEdges.length - 1;
    this.blockOfRow = blocksOf(rowEdges);
    this.blockOfColumn = blocksOf(columnEdges);
    this.weights = new Float64Array(this.height * this.width);
    this.counts = new Uint32Array(this.height * this.width);
  }

  add(row: number, column: number, difference: number): void {
    const [y, x] = [this.blockOfRow[row - this.rows.start]!, this.blockOfColumn[column - this.columns.start]!];
    const cell = y * this.width + x;
    this.counts[cell]!++;
    const before = this.weights[cell]!;
    if (this.how === "mean") this.weights[cell] = before + difference;
    else if (!(Math.abs(difference) <= Math.abs(before)))
      this.weights[cell] = Number.isNaN(before) ? before : difference;
  }

  done(): Tile {
    const { rows, columns, height, width, counts } = this;
    const weights = Float32Array.from(this.weights, (sum, cell) =>
      this.how === "mean" && counts[cell] ? sum / counts[cell]! : sum,
    );
    return { rows, columns, height, width, weights, allowed: Uint8Array.from(counts, (count) => Number(count > 0)) };
  }
}

/** The block of each place, from the edges of all blocks. */
function blocksOf(edges: number[]): Uint32Array {
  const first = edges[0] ?? 0;
  const blocks = new Uint32Array((edges[edges.length - 1] ?? 0) - first);
  for (let block = 0; block + 1 < edges.length; block++)
    blocks.fill(block, edges[block]! - first, edges[block + 1]! - first);
  return blocks;
}

function cellOf(tile: Tile, query: number, key: number): number {
  return (query - tile.rows.start) * tile.width + key - tile.columns.start;
}

/** From the first to the last place of one side among those of a range. */
function spanned(alignment: Alignment, side: 0 | 1, range: Range): Range | null {
  const places = alignment
    .slice(range.start, range.stop)
    .map((pair) => pair[side])
    .filter((place) => place !== null);
  return places.length ? { start: places[0]!, stop: places[places.length - 1]! + 1 } : null;
}

function merged(alignment: Alignment, a: TokenList, b: TokenList): TokenList {
  const tokens = alignment.map(([placeA, placeB], index): Token => {
    const [tokenA, tokenB] = [placeA === null ? null : a.tokens[placeA]!, placeB === null ? null : b.tokens[placeB]!];
    return {
      index,
      pair: [placeA, placeB],
      label: pairText(tokenA?.label ?? null, tokenB?.label ?? null),
      special: Boolean((tokenA ?? tokenB)?.special),
      word: null,
    };
  });
  return { text: a.text, tokens, words: [] };
}

function narrower(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
