// The bare steps of attention: compare, scale, softmax, blend; one place for the formulas that every view shows.

/** One vector: plain numbers or a typed array. */
export type Vector = ArrayLike<number>;

/** Rows of vectors. */
export type Matrix = ArrayLike<Vector>;

/** Which keys may be looked at, one flag a key. */
export type Flags = ArrayLike<boolean | number>;

/**
 * Beyond this size of a row's largest score its exponentials are shifted: exp overflows at 709.8 and loses digits
 * below -708, and the rest is room for the sum of a long row and for its small weights.
 */
export const SAFE_SCORE = 500;

/** Numbers that do not fit together; the message says what was found and what would have been right. */
export class NumbersError extends Error {
  override name = "NumbersError";
}

/** What softmax makes of a row of scores. */
export interface Softmax {
  /** Taken off every score first: 0, or the row's largest. */
  shift: number;
  /** exp(score - shift), exactly 0 where a key is forbidden. */
  exponentials: Float64Array;
  /** Their sum, with the sink's own if there is one; NaN in a row that may look at nothing. */
  total: number;
  /** exponentials / total; NaN throughout in a row that may look at nothing. */
  weights: Float64Array;
  /** What a learned sink takes of the row; null without one. */
  sink: number | null;
}

/** The products q_d * k_d, dimension by dimension; their sum is q · k. */
export function products(left: Vector, right: Vector): Float64Array {
  if (left.length !== right.length) {
    throw new NumbersError(`right: expected ${left.length} numbers, as many as the left has, found ${right.length}`);
  }
  return Float64Array.from(left, (number, index) => number * right[index]!);
}

/** The dot product: dot([2, 1, 0], [3, 1, 4]) is 7. */
export function dot(left: Vector, right: Vector): number {
  if (left.length !== right.length) {
    throw new NumbersError(`right: expected ${left.length} numbers, as many as the left has, found ${right.length}`);
  }
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!;
  return sum;
}

/** A score from a product: scaled, capped (cap * tanh(score / cap)) where the model does that, and biased. */
export function score(product: number, scale: number, softcap: number | null = null, bias = 0): number {
  const scaled = product * scale;
  return (softcap === null ? scaled : softcap * Math.tanh(scaled / softcap)) + bias;
}

/**
 * Softmax among the allowed keys: exp(score) over the sum of exp(score).
 *
 * The factor exp(-shift) cancels, so the weights are the same with any shift. A sink is one more score in the sum that
 * belongs to no key. `shift` "largest" takes the row's largest score off always; "when needed" only beyond ±500, so
 * that small numbers stay as a person would write them.
 */
export function softmax(
  scores: Vector,
  allowed: Flags | null = null,
  { sink = null, shift: rule = "when needed" }: { sink?: number | null; shift?: "when needed" | "largest" } = {},
): Softmax {
  const may = (key: number): boolean => allowed === null || Boolean(allowed[key]);
  let largest = sink ?? -Infinity;
  let alive = false;
  for (let key = 0; key < scores.length; key++) {
    if (!may(key)) continue;
    alive = true;
    largest = Math.max(largest, scores[key]!);
  }
  const shift = alive && (rule === "largest" || Math.abs(largest) > SAFE_SCORE) ? largest : 0;
  const exponentials = new Float64Array(scores.length);
  const own = alive && sink !== null ? Math.exp(sink - shift) : 0;
  let total = own;
  for (let key = 0; key < scores.length; key++) {
    if (!may(key)) continue;
    exponentials[key] = Math.exp(scores[key]! - shift);
    total += exponentials[key]!;
  }
  if (!alive) total = NaN;
  return {
    shift,
    exponentials,
    total,
    weights: exponentials.map((e) => e / total),
    sink: sink === null ? null : own / total,
  };
}

/** The values blended: the sum of weight * value, one number a dimension. The weights are used as they are. */
export function blend(weights: Vector, values: Matrix): Float64Array {
  if (weights.length !== values.length) {
    throw new NumbersError(`weights: expected ${values.length} numbers, one for each value, found ${weights.length}`);
  }
  const result = new Float64Array(values[0]?.length ?? 0);
  for (let key = 0; key < values.length; key++) {
    const value = values[key]!;
    for (let dim = 0; dim < result.length; dim++) result[dim]! += weights[key]! * value[dim]!;
  }
  return result;
}

/** Rows times a matrix: each cell is a row of the left one dotted with a column of the right one. */
export function matrixProduct(left: Matrix, right: Matrix): Float64Array[] {
  const columns = transpose(right);
  return Array.from(left, (row) => Float64Array.from(columns, (column) => dot(row, column)));
}

/** Rows and columns exchanged. */
export function transpose(matrix: Matrix): Float64Array[] {
  const width = matrix[0]?.length ?? 0;
  return Array.from({ length: width }, (_, column) => Float64Array.from(matrix, (row) => row[column]!));
}

/** Vectors by a learned table, plus its bias: x @ table + bias. */
export function project(x: Matrix, table: Matrix, bias: Vector | null = null): Float64Array[] {
  const result = matrixProduct(x, table);
  if (bias !== null) {
    if (bias.length !== (table[0]?.length ?? 0)) {
      throw new NumbersError(`bias: expected ${table[0]?.length ?? 0} numbers, one a column, found ${bias.length}`);
    }
    for (const row of result) row.forEach((_, column) => (row[column]! += bias[column]!));
  }
  return result;
}

/** Which keys a query at this place may look at when nothing later than itself is seen. */
export function causalFlags(position: number, keys: number): boolean[] {
  return Array.from({ length: keys }, (_, key) => key <= position);
}
