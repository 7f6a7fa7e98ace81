// A whole small attention layer by hand: project, attend, join the heads, output table.

import { attend, join, type Settings, type Trace } from "./attention";
import { type Matrix, NumbersError, project, type Vector } from "./steps";

export interface LayerTables {
  /** The tokens' vectors: [token][width]. */
  x: Matrix;
  /** [width][heads * dim]. */
  queryTable: Matrix;
  /** [width][key-value heads * dim]. */
  keyTable: Matrix;
  valueTable: Matrix;
  /** [heads * value dim][width out]; absent: stop at the joined heads. */
  outputTable?: Matrix;
  heads?: number;
  /** As many as `heads` when absent. */
  keyValueHeads?: number;
  queryBias?: Vector;
  keyBias?: Vector;
  valueBias?: Vector;
  outputBias?: Vector;
}

export interface LayerTrace extends Trace {
  /** [token][width], before the heads are cut. */
  projections: { query: Float64Array[]; key: Float64Array[]; value: Float64Array[] };
  /** The heads' outputs side by side. */
  joined: Float64Array[];
  /** The joined heads by the output table, if there is one. */
  final: Float64Array[];
}

/** Self-attention from the tokens' vectors to the layer's output, every step kept. */
export function attendLayer(tables: LayerTables, settings: Settings = {}): LayerTrace {
  const heads = tables.heads ?? 1;
  const groups = tables.keyValueHeads ?? heads;
  const query = project(tables.x, tables.queryTable, tables.queryBias ?? null);
  const key = project(tables.x, tables.keyTable, tables.keyBias ?? null);
  const value = project(tables.x, tables.valueTable, tables.valueBias ?? null);
  const trace = attend(split(query, heads), split(key, groups), split(value, groups), settings);
  const joined = join(trace);
  const final = tables.outputTable ? project(joined, tables.outputTable, tables.outputBias ?? null) : joined;
  return { ...trace, projections: { query, key, value }, joined, final };
}

/** Columns cut into heads: [token][heads * dim] to [head][token][dim]. */
export function split(vectors: readonly Float64Array[], heads: number): Float64Array[][] {
  const width = vectors[0]?.length ?? 0;
  if (width % heads) throw new NumbersError(`heads: expected a part of ${width} columns, found ${heads} heads`);
  const dim = width / heads;
  return Array.from({ length: heads }, (_, head) =>
    vectors.map((vector) => vector.subarray(head * dim, (head + 1) * dim)),
  );
}
