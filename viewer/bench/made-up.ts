// A map of any length whose weights are a cheap formula, so that only the page's own work is measured.

import { longTokens } from "../src/data/sample";
import type { LayerInfo, Range, ReadingSource, Row, Tile, TokenList, Vectors } from "../src/data/types";

export interface Shape {
  tokens: number;
  window?: number | null;
  causal?: boolean;
  keys?: number;
  /** Keys before this one are padding. */
  padding?: number;
  /** These cells are not numbers: [query, key]. */
  broken?: [number, number][];
  difference?: boolean;
}

export class MadeUp implements ReadingSource {
  readonly id = "self";
  readonly title = "Made up";
  readonly model = { name: "made up", layers: 1, heads: 4, dtype: "float32" };
  readonly queries: TokenList;
  readonly keys: TokenList;
  readonly layers: LayerInfo[];
  readonly statistics = [];
  readonly notes = [];

  constructor(readonly shape: Shape) {
    this.queries = longTokens(shape.tokens);
    this.keys = shape.keys ? longTokens(shape.keys) : this.queries;
    this.layers = [
      {
        number: 0,
        heads: 4,
        keyValueHeads: 2,
        carries: "queries and keys",
        precision: "float32",
        worst: 1e-6,
        hasSteps: false,
        window: shape.window ?? null,
        causal: shape.causal ?? true,
        hasSink: false,
      },
    ];
  }

  private may(query: number, key: number): boolean {
    const { window = null, causal = true, padding = 0 } = this.shape;
    return (!causal || key <= query) && (window === null || query - key < window) && key >= padding;
  }

  /** A sink at the first token, a bright line behind the diagonal, stripes at some keys, and a pale haze. */
  private weight(query: number, key: number): number {
    if (this.shape.broken?.some(([row, column]) => row === query && column === key)) return NaN;
    const back = query - key;
    const first = key === 0 ? 0.45 : 0;
    const line = Math.exp(-((back - 3) ** 2) / 6) * 0.3;
    const stripe = key % 15 === 1 ? 0.09 : 0;
    const haze = 0.02 * (0.5 + 0.5 * Math.sin(query * 0.37 + key * 0.11));
    const weight = query === 0 ? 1 : first + line + stripe + haze;
    return this.shape.difference ? (weight - 0.03) * Math.sin(query * 0.05 + key * 0.03) : weight;
  }

  async row(_layer: number, _head: number | null, query: number): Promise<Row> {
    const weights = Float32Array.from(this.keys.tokens, (_, key) =>
      this.may(query, key) ? this.weight(query, key) : 0,
    );
    const allowed = Uint8Array.from(this.keys.tokens, (_, key) => Number(this.may(query, key)));
    return { weights, allowed, sink: null, sum: weights.reduce((sum, weight) => sum + weight, 0) };
  }

  /** Of a pooled cell one query and one key stand for the block: the time of real pooling is the worker's. */
  async tile(
    _layer: number,
    _head: number | null,
    rows: Range,
    columns: Range,
    height: number,
    width: number,
  ): Promise<Tile> {
    await new Promise((resolve) => setTimeout(resolve, 15));
    const weights = new Float32Array(height * width);
    const allowed = new Uint8Array(height * width);
    const [down, across] = [(rows.stop - rows.start) / height, (columns.stop - columns.start) / width];
    for (let y = 0, cell = 0; y < height; y++) {
      const query = rows.start + Math.floor((y + 1) * down) - 1;
      for (let x = 0; x < width; x++, cell++) {
        const key = columns.start + Math.floor(x * across);
        if (!this.may(query, key)) continue;
        allowed[cell] = 1;
        weights[cell] = this.weight(query, key);
      }
    }
    return { rows, columns, height, width, weights, allowed };
  }

  vectors(): Promise<Vectors> {
    return Promise.reject(new Error("a made-up map has no vectors"));
  }
}
