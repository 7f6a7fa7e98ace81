// One decoded layer: any weight of it, stored or computed from queries and keys.
import { halfTable, type Numbers, widen } from "./bytes";
import type { HeaderLayer } from "./header";
import type { Rule } from "./rule";
import type { Row } from "./types";

/** Rows that are computed together: each key is then read once for all of them. */
export const ROWS_AT_ONCE = 4;

export abstract class Layer {
  constructor(
    readonly info: HeaderLayer,
    readonly rule: Rule,
    protected readonly parts: Map<string, Numbers>,
  ) {}

  /**
   * Weights of a head, of up to `ROWS_AT_ONCE` queries on the keys from `low` to `high`, added (times `share`) to
   * `out`, where row i begins at i * (high - low). Forbidden cells add nothing.
   */
  abstract add(head: number, query: number, rows: number, low: number, high: number, share: number, out: Float64Array): void;

  /** What a learned sink takes of a row; null where the layer has none. */
  abstract sink(head: number, query: number): number | null;

  /** The heads that a head, or the mean over heads (null), stands for. */
  heads(head: number | null): number[] {
    return head === null ? Array.from({ length: this.info.heads }, (_, one) => one) : [head];
  }

  row(head: number | null, query: number): Row {
    const heads = this.heads(head);
    const sums = new Float64Array(this.rule.keys);
    const [low, high] = [this.rule.low(query), this.rule.high(query)];
    const out = sums.subarray(low, Math.max(high, low));
    for (const one of heads) this.add(one, query, 1, low, high, 1 / heads.length, out);
    const sinks = heads.map((one) => this.sink(one, query));
    return {
      weights: Float32Array.from(sums),
      allowed: this.rule.row(head, query),
      sink: sinks[0] === null ? null : sinks.reduce((sum: number, share) => sum + share! / heads.length, 0),
      sum: sums.reduce((sum, weight) => sum + weight, 0),
    };
  }
}

/** A layer whose weights are carried: those of the allowed cells, head by head and row by row. */
export class StoredLayer extends Layer {
  private readonly weights: Numbers;
  private readonly known: Float32Array | null;
  private readonly shares: Float32Array | null;

  constructor(info: HeaderLayer, rule: Rule, parts: Map<string, Numbers>) {
    super(info, rule, parts);
    this.weights = parts.get("weights")!;
    this.known = this.weights instanceof Uint16Array ? halfTable() : null;
    this.shares = parts.has("sinkShare") ? widen(parts.get("sinkShare")) : null;
    if (this.weights.length !== rule.cellsBeforeHead(info.heads)) {
      throw new Error(`layer ${info.number} has ${this.weights.length} weights for another mask: the page is damaged`);
    }
  }

  add(head: number, query: number, rows: number, low: number, high: number, share: number, out: Float64Array): void {
    const { rule, weights, known } = this;
    for (let row = 0; row < rows; row++) {
      let cell = rule.cellsBeforeHead(head) + rule.cellsBefore(head, query + row);
      const first = rule.low(query + row);
      const stop = Math.min(rule.high(query + row), high);
      for (let key = first; key < stop; key++) {
        if (!rule.isBand && !rule.allows(head, query + row, key)) continue;
        if (key >= low) out[row * (high - low) + key - low]! += share * (known ? known[weights[cell]!]! : weights[cell]!);
        cell++;
      }
    }
  }

  sink(head: number, query: number): number | null {
    return this.shares ? this.shares[head * this.rule.queries + query]! : null;
  }
}

/** A layer whose queries and keys are carried: a weight is exp(score - logsumexp of its row). */
export class KnownLayer extends Layer {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly dim: number;
  readonly sinks: Float32Array | null;
  readonly bias: Float32Array | null;
  private readonly logsumexp: Float32Array;
  private readonly group: number;

  constructor(info: HeaderLayer, rule: Rule, parts: Map<string, Numbers>) {
    super(info, rule, parts);
    this.query = centred(parts, "query", info.heads);
    this.key = centred(parts, "key", info.keyValueHeads);
    this.dim = this.query.length / (info.heads * rule.queries);
    this.logsumexp = widen(parts.get("logsumexp"));
    this.sinks = parts.has("sinks") ? widen(parts.get("sinks")) : null;
    this.bias = parts.has("bias") ? widen(parts.get("bias")) : null;
    this.group = info.heads / info.keyValueHeads;
  }

  /** The vectors of a head's key-value head begin here, among its `keys` vectors of some length. */
  sharedStart(head: number, length: number): number {
    return Math.floor(head / this.group) * this.rule.keys * length;
  }

  add(head: number, query: number, rows: number, low: number, high: number, share: number, out: Float64Array): void {
    const width = high - low;
    const products = this.products(head, query, rows, low, high);
    for (let row = 0; row < rows; row++) this.addRow(head, query + row, low, high, share, products[row]!, out, row * width);
  }

  private addRow(
    head: number, query: number, low: number, high: number, share: number, products: Float64Array, out: Float64Array, start: number,
  ): void {
    const { rule, info, bias } = this;
    const { scale = 1, softcap = null } = info;
    const normaliser = this.logsumexp[head * rule.queries + query]!;
    const first = rule.low(query);
    const stop = Math.min(rule.high(query), high);
    let cell = bias ? rule.cellsBeforeHead(head) + rule.cellsBefore(head, query) : 0;
    for (let key = bias ? first : Math.max(first, low); key < stop; key++) {
      if (!rule.isBand && !rule.allows(head, query, key)) continue;
      if (key >= low) {
        let score = products[key - low]! * scale;
        if (softcap !== null) score = Math.tanh(score / softcap) * softcap;
        if (bias) score += bias[cell]!;
        const exponent = score - normaliser;
        // Below that, float32 has no number but 0.
        if (!(exponent < -104)) out[start + key - low]! += share * Math.exp(exponent);
      }
      cell++;
    }
  }

  /** The products q·k of up to four rows on the keys from `low` to `high`. */
  private products(head: number, query: number, rows: number, low: number, high: number): Float64Array[] {
    const { dim } = this;
    const vectors = Array.from({ length: ROWS_AT_ONCE }, (_, row) => {
      const start = (head * this.rule.queries + query + Math.min(row, rows - 1)) * dim;
      return Float64Array.from(this.query.subarray(start, start + dim));
    });
    const found = vectors.map(() => new Float64Array(Math.max(high - low, 0)));
    multiply(vectors, this.key, this.sharedStart(head, dim) + low * dim, found);
    return found;
  }

  sink(head: number, query: number): number | null {
    if (!this.sinks) return null;
    const place = head * this.rule.queries + query;
    return Math.exp(this.sinks[place]! - this.logsumexp[place]!);
  }

  /** The values, where they are carried. */
  values(): Float32Array | null {
    return this.parts.has("value") ? widen(this.parts.get("value")) : null;
  }
}

/**
 * The products of four vectors with the keys that begin at a place. All the page's waiting is here: two keys at a time,
 * so that each number read is used several times, is a third faster than one.
 */
function multiply(vectors: Float64Array[], keys: Float32Array, start: number, products: Float64Array[]): void {
  const [a, b, c, d] = vectors as [Float64Array, Float64Array, Float64Array, Float64Array];
  const dim = a.length;
  const count = products[0]!.length;
  for (let column = 0; column < count; column += 2) {
    const place = start + column * dim;
    const next = column + 1 < count ? place + dim : place;
    let [w, x, y, z, w2, x2, y2, z2] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let at = 0; at < dim; at++) {
      const one = keys[place + at]!;
      const two = keys[next + at]!;
      w += a[at]! * one;
      x += b[at]! * one;
      y += c[at]! * one;
      z += d[at]! * one;
      w2 += a[at]! * two;
      x2 += b[at]! * two;
      y2 += c[at]! * two;
      z2 += d[at]! * two;
    }
    put(products, column, w, x, y, z);
    if (next !== place) put(products, column + 1, w2, x2, y2, z2);
  }
}

function put(products: Float64Array[], column: number, ...four: [number, number, number, number]): void {
  for (let row = 0; row < 4; row++) products[row]![column] = four[row]!;
}

/** Vectors [head, token, dim] with the mean over a head's tokens added again, where it was taken off. */
function centred(parts: Map<string, Numbers>, name: string, heads: number): Float32Array {
  const vectors = widen(parts.get(name));
  if (!parts.has(`${name}Centre`)) return vectors;
  const centre = widen(parts.get(`${name}Centre`));
  const dim = centre.length / heads;
  const inHead = vectors.length / heads;
  const whole = new Float32Array(vectors.length);
  for (let place = 0; place < whole.length; place++) {
    whole[place] = vectors[place]! + centre[Math.floor(place / inHead) * dim + (place % dim)]!;
  }
  return whole;
}

export function makeLayer(info: HeaderLayer, rule: Rule, parts: Map<string, Numbers>): Layer {
  return info.carries === "weights" ? new StoredLayer(info, rule, parts) : new KnownLayer(info, rule, parts);
}
