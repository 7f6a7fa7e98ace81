// One row of a real head, worked again from the vectors that the source carries.

import type { Vectors } from "../data/types";
import { attend, type RowTrace } from "./attention";

/**
 * The four steps of one query in one head, in float64 from the model's own query, keys and values.
 *
 * The exponentials are e^(score - largest score of the row), so that the largest is 1. Without values the output is
 * empty.
 */
export function workRow(vectors: Vectors): RowTrace {
  const { query, keys, values, scale, softcap, bias, sink, allowed } = vectors;
  const trace = attend([[query]], [keys], [values ?? keys.map(() => new Float32Array(0))], {
    scale,
    softcap,
    mask: [[allowed]],
    bias: bias && [[bias]],
    sinks: sink === null ? null : [sink],
    shift: "largest",
  });
  return trace.heads[0]![0]!;
}
