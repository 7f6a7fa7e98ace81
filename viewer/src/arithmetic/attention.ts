// Attention by hand with every step kept, head by head: the same steps as Python's `heedmap.arithmetic.attend`.
//
// Scaled dot-product attention: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
// Grouped heads: Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models".

import { blend, causalFlags, dot, type Flags, type Matrix, NumbersError, score, softmax, type Vector } from "./steps";

export interface Settings {
  /** What the products are multiplied by; 1/√dim when absent, 1 for no scaling. */
  scale?: number;
  /** A further factor on every score. */
  multiply?: number;
  /** Which keys a query may look at: [head][query][key]; one head serves all. */
  mask?: ArrayLike<ArrayLike<Flags>>;
  /** Each query may look only at keys up to its own place. */
  causal?: boolean;
  /** The place of each query among the keys; by default the queries are the last ones. */
  queryPositions?: Vector;
  /** False uses the raw scores as weights, to see what breaks. */
  softmax?: boolean;
  /** Scores become softcap * tanh(score / softcap). */
  softcap?: number | null;
  /** Added to the scores: [head][query][key]; one head serves all. */
  bias?: ArrayLike<Matrix> | null;
  /** A learned score for each head that takes its share of every row and belongs to no key. */
  sinks?: Vector | null;
  /** "largest" takes each row's largest score off before exp, also where it is not needed. */
  shift?: "when needed" | "largest";
}

/** The steps of one query: arrays have one entry a key. */
export interface RowTrace {
  /** q · k for every key, forbidden ones too. */
  products: Float64Array;
  /** Scaled (capped, biased) products; -Infinity where forbidden. */
  scores: Float64Array;
  allowed: Uint8Array;
  shift: number;
  /** exp(score - shift); null without softmax. */
  exponentials: Float64Array | null;
  /** The sum of the exponentials, a sink's included; null without softmax. */
  total: number | null;
  /** exponentials / total; NaN in a row that may look at nothing. */
  weights: Float64Array;
  /** What a learned sink takes; null without one. */
  sink: number | null;
  /** The blend of the values by the weights; NaN in a row that may look at nothing. */
  output: Float64Array;
}

export interface Trace {
  scale: number;
  multiply: number;
  /** Axes: head, query. */
  heads: RowTrace[][];
}

/**
 * Attention of every head: `query` [head][query][dim], `key` and `value` [key-value head][key][dim].
 *
 * There may be fewer key-value heads than query heads: query head h uses key-value head floor(h / group).
 */
export function attend(
  query: ArrayLike<Matrix>,
  key: ArrayLike<Matrix>,
  value: ArrayLike<Matrix>,
  settings: Settings = {},
): Trace {
  checkShapes(query, key, value);
  const group = query.length / key.length;
  const scale = settings.scale ?? 1 / Math.sqrt(query[0]![0]!.length);
  const heads = Array.from(query, (queries, head) => {
    const shared = Math.floor(head / group);
    return Array.from(queries, (_, row) =>
      attendRow(queries, key[shared]!, value[shared]!, head, row, scale, settings),
    );
  });
  return { scale, multiply: settings.multiply ?? 1, heads };
}

/** The heads' outputs side by side: [query][head * value dim]. */
export function join(trace: Trace): Float64Array[] {
  const first = trace.heads[0] ?? [];
  return first.map((_, row) => Float64Array.from(trace.heads.flatMap((head) => Array.from(head[row]!.output))));
}

function attendRow(
  queries: Matrix,
  keys: Matrix,
  values: Matrix,
  head: number,
  row: number,
  scale: number,
  settings: Settings,
): RowTrace {
  const {
    multiply = 1,
    softcap = null,
    bias = null,
    sinks = null,
    mask,
    causal = false,
    shift = "when needed",
  } = settings;
  const flags = mask && (mask.length === 1 ? mask[0]! : mask[head]!)[row]!;
  const place = settings.queryPositions?.[row] ?? keys.length - queries.length + row;
  const before = causal ? causalFlags(place, keys.length) : null;
  const added = bias && (bias.length === 1 ? bias[0]! : bias[head]!)[row]!;
  const products = Float64Array.from(keys, (key) => dot(queries[row]!, key));
  const allowed = Uint8Array.from(keys, (_, key) =>
    Number((!flags || Boolean(flags[key])) && (!before || before[key]!)),
  );
  const scores = products.map((product, key) =>
    allowed[key] ? score(product, scale * multiply, softcap, added ? added[key]! : 0) : -Infinity,
  );
  const step = softmax(scores, allowed, { sink: sinks ? sinks[head]! : null, shift });
  const alive = allowed.includes(1);
  const raw = scores.map((one, key) => (alive ? (allowed[key] ? one : 0) : NaN));
  const weights = settings.softmax === false ? raw : step.weights;
  return {
    products,
    scores,
    allowed,
    weights,
    shift: settings.softmax === false ? 0 : step.shift,
    exponentials: settings.softmax === false ? null : step.exponentials,
    total: settings.softmax === false ? null : step.total,
    sink: settings.softmax === false ? null : step.sink,
    output: blend(weights, values),
  };
}

function checkShapes(query: ArrayLike<Matrix>, key: ArrayLike<Matrix>, value: ArrayLike<Matrix>): void {
  if (!query.length || !key.length || !query[0]!.length || !key[0]!.length) {
    throw new NumbersError("query and key: expected at least one row each, found an empty list");
  }
  if (query.length % key.length) {
    throw new NumbersError(`query: expected a multiple of ${key.length} heads, found ${query.length}`);
  }
  if (value.length !== key.length) {
    throw new NumbersError(`value: expected ${key.length} heads, as many as the key has, found ${value.length}`);
  }
  for (let head = 0; head < key.length; head++) {
    if (value[head]!.length !== key[head]!.length) {
      throw new NumbersError(
        `value: expected ${key[head]!.length} rows, one for each key, found ${value[head]!.length}`,
      );
    }
  }
}
