// The arithmetic of the page meets the published test vectors, the very file that Python's meets.
import { describe, expect, test } from "vitest";
import vectors from "../../../src/heedmap/arithmetic/vectors.json";
import { attend, type RowTrace, type Settings } from "../../src/arithmetic/attention";
import { attendLayer, type LayerTables, type LayerTrace } from "../../src/arithmetic/layer";
import { blend, dot, matrixProduct, type Matrix, softmax, transpose, type Vector } from "../../src/arithmetic/steps";

/** Nested lists of numbers and nulls, as the file has them. */
type Lists = number | null | Lists[];

const depth = (lists: Lists): number => (Array.isArray(lists) ? 1 + depth(lists[0] ?? null) : 0);

/** With the axis of heads that some cases leave out. */
const withHeads = (lists: Lists): Lists[] => (depth(lists) === 3 ? (lists as Lists[]) : [lists]);

/** Relative, and absolute below 1, as the file says. */
function expectClose(found: Lists, wanted: Lists, where: string): void {
  if (Array.isArray(wanted)) {
    expect(Array.isArray(found) && found.length, `${where}: length`).toBe(wanted.length);
    wanted.forEach((one, index) => expectClose((found as Lists[])[index]!, one, `${where}[${index}]`));
  } else if (wanted === null) {
    expect(found, where).toBeNull();
  } else {
    expect(Math.abs((found as number) - wanted), where).toBeLessThanOrEqual(
      vectors.tolerance * Math.max(1, Math.abs(wanted)),
    );
  }
}

/** One kind of number of every head and row, null where the row may not look. */
function listed(heads: RowTrace[][], pick: (row: RowTrace) => ArrayLike<number> | null): Lists[] {
  return heads.map((head) =>
    head.map((row) => {
      const numbers = pick(row);
      return numbers && Array.from(numbers, (one, key) => (row.allowed[key] ? one : null));
    }),
  );
}

function settingsOf(given: Record<string, unknown>): Settings {
  const mask = given["mask"] as Lists | undefined;
  return {
    ...(given as Settings),
    mask: mask === undefined ? undefined : (withHeads(mask) as unknown as boolean[][][]),
    queryPositions: given["query_positions"] as number[] | undefined,
  };
}

const heads = (lists: unknown): Matrix[] => withHeads(lists as Lists) as unknown as number[][][];

function tablesOf(given: Record<string, unknown>): LayerTables {
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [camel(name), value]),
  ) as unknown as LayerTables;
}

const absentIfNaN = (numbers: ArrayLike<number>): Lists[] =>
  Array.from(numbers, (one) => (Number.isNaN(one) ? null : one));

function expectLayer(layer: LayerTrace, wanted: Record<string, Lists>, query: Lists): void {
  const rows = (found: Float64Array[]): Lists => found.map((row) => Array.from(row));
  expectClose(rows(layer.joined), wanted["joined"]!, "joined");
  expectClose(rows(layer.final), wanted["final"]!, "final");
  expectClose(rows(layer.projections.query), query, "query projection");
}

describe("the shared test vectors", () => {
  test("there are as many as were published", () => {
    expect(vectors.schema).toBe("heedmap/vectors/1");
    expect(vectors.cases.length).toBeGreaterThanOrEqual(30);
    expect(vectors.tools.length).toBeGreaterThanOrEqual(15);
  });

  test.each(vectors.cases.map((one) => [one.name, one] as const))("%s", (name, one) => {
    const settings = settingsOf(one.settings);
    const inputs = one.inputs as Record<string, unknown>;
    const layer = name === "layer" ? attendLayer(tablesOf(inputs), settings) : null;
    const trace = layer ?? attend(heads(inputs["query"]), heads(inputs["key"]), heads(inputs["value"]), settings);
    const wanted = one.trace as unknown as Record<string, Lists>;
    expectClose(trace.scale, wanted["scale"]!, "scale");
    expectClose(
      listed(trace.heads, (row) => row.products),
      withHeads(wanted["products"]!),
      "products",
    );
    expectClose(
      listed(trace.heads, (row) => row.scores),
      withHeads(wanted["scores"]!),
      "scores",
    );
    expectClose(
      listed(trace.heads, (row) => row.weights),
      withHeads(wanted["weights"]!),
      "weights",
    );
    expectClose(
      trace.heads.map((head) => head.map((row) => absentIfNaN(row.output))),
      withHeads(wanted["output"]!),
      "output",
    );
    if (wanted["exponentials"] === null) {
      expect(trace.heads.flat().every((row) => row.exponentials === null && row.total === null)).toBe(true);
    } else {
      expectClose(
        listed(trace.heads, (row) => row.exponentials),
        withHeads(wanted["exponentials"]!),
        "exponentials",
      );
      const totals = trace.heads.map((head) => absentIfNaN(head.map((row) => row.total!)));
      expectClose(totals, depth(one.totals as Lists) === 2 ? (one.totals as Lists) : [one.totals as Lists], "totals");
    }
    const shifts = wanted["shift"] ?? trace.heads.map((head) => head.map(() => 0));
    expectClose(
      trace.heads.map((head) => head.map((row) => row.shift)),
      depth(shifts) === 2 ? shifts : [shifts],
      "shift",
    );
    if (layer) expectLayer(layer, wanted, one.trace.projections!.query);
  });

  test.each(vectors.tools.map((one, index) => [`${one.tool} ${index}`, one] as const))("%s", (_, one) => {
    const [first, second] = one.inputs as unknown[];
    const matrix = (rows: Float64Array[]): Lists => rows.map((row) => Array.from(row));
    const results: Record<string, () => Lists> = {
      dot_product: () => dot(first as Vector, second as Vector),
      matrix_product: () => matrix(matrixProduct(first as Matrix, second as Matrix)),
      transpose: () => matrix(transpose(first as Matrix)),
      softmax: () => Array.from(softmax(first as Vector).weights),
      weighted_average: () => averaged(first as Lists[], second as Vector),
    };
    expectClose(results[one.tool]!(), one.result as Lists, one.tool);
    if ("steps" in one && one.steps) {
      const { shift, exponentials, total } = softmax(first as Vector);
      expectClose(
        [shift, Array.from(exponentials), total],
        [one.steps.shift, one.steps.exponentials, one.steps.total],
        "steps",
      );
    }
  });
});

/** Of plain numbers the average is a number, of vectors a vector. */
function averaged(values: Lists[], weights: Vector): Lists {
  if (Array.isArray(values[0])) return Array.from(blend(weights, values as number[][]));
  return blend(
    weights,
    values.map((one) => [one as number]),
  )[0]!;
}
