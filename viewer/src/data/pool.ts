// A map seen from further away: one cell for each block of cells, exact, in steps that can be given up between.
import { type Layer, ROWS_AT_ONCE } from "./layer";
import type { Range, Tile } from "./types";

/** The side of the smallest blocks that are kept for later. */
export const KEPT_BLOCK = 16;

export type How = "mean" | "max";

export interface TileAsked {
  head: number | null;
  rows: Range;
  columns: Range;
  height: number;
  width: number;
  how: How;
}

/** Where the blocks of a range begin, and its end: as even as can be, at most one a token (as Python's `block_edges`). */
export function blockEdges(range: Range, count: number): number[] {
  const size = Math.max(range.stop - range.start, 0);
  const blocks = Math.min(Math.max(Math.floor(count), 1), size);
  return Array.from({ length: blocks + 1 }, (_, block) => range.start + Math.floor((size * block) / Math.max(blocks, 1)));
}

/** Sums, counts and largest weights of blocks, row of blocks by row of blocks. */
class Blocks {
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
  readonly largest: Float64Array;

  constructor(readonly height: number, readonly width: number) {
    this.sums = new Float64Array(height * width);
    this.counts = new Uint32Array(height * width);
    this.largest = new Float64Array(height * width).fill(-Infinity);
  }

  /** Take in a block of another table. */
  join(cell: number, other: Blocks, from: number): void {
    this.sums[cell]! += other.sums[from]!;
    this.counts[cell]! += other.counts[from]!;
    this.largest[cell] = Math.max(this.largest[cell]!, other.largest[from]!);
  }

  /** Put one row of blocks in its place. */
  putRow(row: number, other: Blocks): void {
    this.sums.set(other.sums, row * this.width);
    this.counts.set(other.counts, row * this.width);
    this.largest.set(other.largest, row * this.width);
  }

  tile(asked: TileAsked): Tile {
    const { rows, columns, how } = asked;
    const weights = new Float32Array(this.sums.length);
    const allowed = new Uint8Array(this.sums.length);
    for (let cell = 0; cell < weights.length; cell++) {
      const count = this.counts[cell]!;
      if (!count) continue;
      allowed[cell] = 1;
      weights[cell] = how === "mean" ? this.sums[cell]! / count : this.largest[cell]!;
    }
    return { rows, columns, height: this.height, width: this.width, weights, allowed };
  }
}

/** The maps of one layer, with what was computed of them once. */
export class Pool {
  private readonly kept = new Map<number | null, { blocks: Blocks; done: Uint8Array }>();

  constructor(private readonly layer: Layer) {}

  /** A tile, computed in steps of a few milliseconds. */
  *tile(asked: TileAsked): Generator<void, Tile> {
    const rowEdges = blockEdges(asked.rows, asked.height);
    const columnEdges = blockEdges(asked.columns, asked.width);
    const blocks = new Blocks(rowEdges.length - 1, columnEdges.length - 1);
    if (this.isCoarse(rowEdges, this.layer.rule.queries) && this.isCoarse(columnEdges, this.layer.rule.keys)) {
      yield* this.fromKept(asked.head, rowEdges, columnEdges, blocks);
    } else {
      for (let row = 0; row < blocks.height; row++) {
        yield* this.fill(asked.head, rowEdges[row]!, rowEdges[row + 1]!, columnEdges, blocks, row);
      }
    }
    return blocks.tile(asked);
  }

  /** Whether every edge lies on one of the blocks that are kept, and the blocks asked for are no smaller. */
  private isCoarse(edges: number[], size: number): boolean {
    return edges.length > 1 && edges.every((edge) => edge % KEPT_BLOCK === 0 || edge === size);
  }

  private *fromKept(head: number | null, rowEdges: number[], columnEdges: number[], blocks: Blocks): Generator<void> {
    const { queries, keys } = this.layer.rule;
    const kept = this.table(head);
    const edges = blockStarts(keys);
    for (let row = 0; row < blocks.height; row++) {
      for (let strip = rowEdges[row]! / KEPT_BLOCK; strip * KEPT_BLOCK < rowEdges[row + 1]!; strip++) {
        if (!kept.done[strip]) {
          // Apart, since another tile may be computing the same strip in its own steps.
          const fresh = new Blocks(1, kept.blocks.width);
          yield* this.fill(head, strip * KEPT_BLOCK, Math.min((strip + 1) * KEPT_BLOCK, queries), edges, fresh, 0);
          kept.blocks.putRow(strip, fresh);
          kept.done[strip] = 1;
        }
        this.joinStrip(kept.blocks, strip, columnEdges, blocks, row);
      }
      yield;
    }
  }

  private joinStrip(kept: Blocks, strip: number, columnEdges: number[], blocks: Blocks, row: number): void {
    for (let column = 0; column < blocks.width; column++) {
      const stop = Math.ceil(columnEdges[column + 1]! / KEPT_BLOCK);
      for (let block = columnEdges[column]! / KEPT_BLOCK; block < stop; block++) {
        blocks.join(row * blocks.width + column, kept, strip * kept.width + block);
      }
    }
  }

  private table(head: number | null): { blocks: Blocks; done: Uint8Array } {
    let kept = this.kept.get(head);
    if (!kept) {
      const height = Math.ceil(this.layer.rule.queries / KEPT_BLOCK);
      const width = Math.ceil(this.layer.rule.keys / KEPT_BLOCK);
      kept = { blocks: new Blocks(height, width), done: new Uint8Array(height) };
      this.kept.set(head, kept);
    }
    return kept;
  }

  /** Fill one row of blocks from the weights of some queries. */
  private *fill(
    head: number | null, start: number, stop: number, edges: number[], blocks: Blocks, at: number,
  ): Generator<void> {
    const places = at * blocks.width;
    const heads = this.layer.heads(head);
    for (let query = start; query < stop; query += ROWS_AT_ONCE) {
      const rows = Math.min(ROWS_AT_ONCE, stop - query);
      const [low, high] = this.reach(query, rows, edges);
      if (high > low) {
        const weights = new Float64Array(rows * (high - low));
        for (const one of heads) this.layer.add(one, query, rows, low, high, 1 / heads.length, weights);
        for (let row = 0; row < rows; row++) {
          this.take(head, query + row, low, high, weights.subarray(row * (high - low)), edges, blocks, places);
        }
      }
      yield;
    }
  }

  /** The keys that some rows can reach, among those asked for. */
  private reach(query: number, rows: number, edges: number[]): [number, number] {
    const { rule } = this.layer;
    let [low, high] = [rule.keys, 0];
    for (let row = query; row < query + rows; row++) {
      low = Math.min(low, rule.low(row));
      high = Math.max(high, rule.high(row));
    }
    return [Math.max(low, edges[0]!), Math.min(high, edges[edges.length - 1]!)];
  }

  /** Take in one row of weights. */
  private take(
    head: number | null, query: number, from: number, to: number, weights: Float64Array, edges: number[], blocks: Blocks, places: number,
  ): void {
    const { rule } = this.layer;
    const allowed = rule.isBand ? null : rule.row(head, query);
    const low = Math.max(rule.low(query), from);
    const high = Math.min(rule.high(query), to);
    let block = 0;
    for (let key = low; key < high; ) {
      while (edges[block + 1]! <= key) block++;
      const stop = Math.min(edges[block + 1]!, high);
      let [sum, count, largest] = [0, 0, -Infinity];
      for (; key < stop; key++) {
        if (allowed && !allowed[key]) continue;
        const weight = weights[key - from]!;
        sum += weight;
        count++;
        largest = Math.max(largest, weight); // not a number stays so
      }
      blocks.sums[places + block]! += sum;
      blocks.counts[places + block]! += count;
      blocks.largest[places + block] = Math.max(blocks.largest[places + block]!, largest);
    }
  }
}

/** Where the kept blocks of an axis begin, and its end. */
function blockStarts(size: number): number[] {
  const edges = Array.from({ length: Math.ceil(size / KEPT_BLOCK) }, (_, block) => block * KEPT_BLOCK);
  return [...edges, size];
}
