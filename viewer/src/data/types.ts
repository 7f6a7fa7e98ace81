// The contract between the views and wherever the numbers come from: a file, a notebook or a server.

/** One token as the model saw it; `label` is ready to show (never a raw byte glyph), `special` marks begin-of-text and the like. */
export interface Token {
  index: number;
  /** Of two texts in step: where it stands in each of them; null where it has no counterpart. */
  pair?: readonly [number | null, number | null];
  label: string;
  special: boolean;
  word: number | null;
  /** Of an image patch: where it lies in the picture. */
  row?: number;
  column?: number;
}

export interface Word {
  text: string;
  tokens: number[];
  /** What stands between the last word and this one: "", " ", "\n". */
  before: string;
}

export interface TokenList {
  text: string;
  tokens: Token[];
  words: Word[];
  picture?: { url: string; rows: number; columns: number };
}

export interface LayerInfo {
  number: number;
  heads: number;
  keyValueHeads: number;
  /** "nothing": left out, and `omitted` says why. */
  carries: "weights" | "queries and keys" | "nothing";
  precision: "float16" | "float32";
  /** The largest possible difference of a weight from Python's. */
  worst: number | null;
  /** Queries, keys, values and scale are there: the four steps unfold. */
  hasSteps: boolean;
  window: number | null;
  causal: boolean;
  hasSink: boolean;
  omitted?: string;
}

/** From `start` up to, not including, `stop`. */
export interface Range {
  start: number;
  stop: number;
}

/**
 * Weights from some queries to some keys, row by row: NaN is "not a number" and is marked; where `allowed` is 0 the
 * look is forbidden and the cell is blank. When `height` or `width` is smaller than the ranges, a cell is the mean (or
 * the largest) of the allowed cells under it; `allowed` is 0 only where none of them is allowed. Blocks lie as evenly
 * as can be: block b of n begins at start + floor(size * b / n), as in Python's `Map.pool`; there is at most one a
 * token. What is kept for later are blocks of 16 x 16 tokens: zoomed out, ranges and blocks of multiples of 16 are cheap.
 */
export interface Tile {
  rows: Range;
  columns: Range;
  height: number;
  width: number;
  weights: Float32Array;
  allowed: Uint8Array;
}

export interface Row {
  weights: Float32Array;
  allowed: Uint8Array;
  /** What a learned sink takes of this row; null where the layer has none. */
  sink: number | null;
  /** Sum of the weights, without the sink. */
  sum: number;
}

/** What the four steps of one row need. `scale` multiplies q·k; score = softcap(scale * q·k) + bias. */
export interface Vectors {
  query: Float32Array;
  keys: Float32Array[];
  values: Float32Array[] | null;
  scale: number;
  softcap: number | null;
  bias: Float32Array | null;
  sink: number | null;
  allowed: Uint8Array;
}

export interface Statistic {
  name: string;
  title: string;
  unit: string;
  /** Axes layer, head; NaN where absent. */
  values: Float32Array;
}

export interface ReadingSource {
  /** "self", "cross", "encoder" ... or "a", "b" in a comparison. */
  readonly id: string;
  readonly title: string;
  readonly model: { name: string; layers: number; heads: number; dtype: string; [key: string]: unknown };
  readonly queries: TokenList;
  /** The same object as `queries` for self-attention. */
  readonly keys: TokenList;
  readonly layers: LayerInfo[];
  readonly statistics: Statistic[];
  /** Has the statistics computed, where they are not there yet because that takes long. */
  readonly measure?: (() => void) | undefined;
  /** What is carried, at which precision, what was left out. */
  readonly notes: string[];
  readonly nextToken?: { text: string; probability: number | null }[];
  /** `head` null is the mean over heads. */
  row(layer: number, head: number | null, query: number): Promise<Row>;
  tile(
    layer: number,
    head: number | null,
    rows: Range,
    columns: Range,
    height: number,
    width: number,
    how: "mean" | "max",
    signal?: AbortSignal,
  ): Promise<Tile>;
  vectors(layer: number, head: number, query: number): Promise<Vectors>;
  /** Why a cell has no number, where the layer's own rule does not say it. */
  absent?(cell: { query: number; key: number }): Absent;
}

export interface Absent {
  /** Between the two tokens: "may not look at", or "beside" where nothing looks. */
  verb: "may not look at" | "beside";
  reason: string;
}

export interface Generation {
  /** Tokens of the prompt. */
  prompt: number;
  /** For each written token, in order: the row (query) that chose it. */
  chosenBy: number[];
  note: string;
}

export interface Comparison {
  a: string;
  b: string;
  /** Pairs of token indices (a, b); null where the other text has no counterpart. */
  alignment: [number | null, number | null][];
  /** Queries before this one see the same in a causal model. */
  mustBeZero: number;
  note: string;
}

export interface PageData {
  schema: "heedmap/page/1";
  version: string;
  readings: ReadingSource[];
  start: { reading: string; layer: number; head: number | null; query: number | null };
  comparison?: Comparison;
  generation?: Generation;
}
