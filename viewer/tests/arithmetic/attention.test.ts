// What the shared vectors do not hold: caps, biases, sinks, and refusals.
import { describe, expect, test } from "vitest";
import { attend, join } from "../../src/arithmetic/attention";
import { attendLayer, split } from "../../src/arithmetic/layer";
import { workRow } from "../../src/arithmetic/row";
import { blend, dot, NumbersError, products, project, score, softmax } from "../../src/arithmetic/steps";
import type { Vectors } from "../../src/data/types";

const keys = [
  [1, 0],
  [0.5, -1],
  [2, 1],
];
const values = [
  [1, 0],
  [0, 1],
  [1, 1],
];

describe("scores", () => {
  test("are scaled, capped and biased, in this order", () => {
    expect(score(6, 0.5)).toBe(3);
    expect(score(6, 0.5, 2)).toBeCloseTo(2 * Math.tanh(1.5), 15);
    expect(score(6, 0.5, 2, -1)).toBeCloseTo(2 * Math.tanh(1.5) - 1, 15);
  });

  test("never leave the cap, however large the product", () => {
    const trace = attend([[[300, 0]]], [keys], [values], { softcap: 30, scale: 1 });
    expect(Math.max(...trace.heads[0]![0]!.scores)).toBeLessThanOrEqual(30);
  });
});

describe("a sink", () => {
  test("takes its share, as a key of no value would", () => {
    const [row] = attend([[[1, 0.5]]], [keys], [values], { sinks: [0.7] }).heads[0]!;
    const { scores } = attend([[[1, 0.5]]], [keys], [values]).heads[0]![0]!;
    const asKey = softmax([...scores, 0.7]).weights;
    expect(row!.sink).toBeCloseTo(asKey[3]!, 15);
    row!.weights.forEach((weight, key) => expect(weight).toBeCloseTo(asKey[key]!, 15));
    expect(row!.weights.reduce((sum, weight) => sum + weight, row!.sink!)).toBeCloseTo(1, 14);
  });

  test("above every score is the shift, so that nothing overflows", () => {
    const step = softmax([800, 900], null, { sink: 1000 });
    expect(step.shift).toBe(1000);
    expect(step.sink).toBe(1);
  });

  test("leaves a row that may look at nothing absent", () => {
    const step = softmax([1, 2], [false, false], { sink: 0 });
    expect([step.total, ...step.weights]).toEqual([NaN, NaN, NaN]);
  });
});

test("a bias is added after the scale, and one head's bias serves all", () => {
  const bias = [[[0, -1, Math.log(2)]]];
  const plain = attend([[[1, 0.5]], [[0, 1]]], [keys], [values]);
  const biased = attend([[[1, 0.5]], [[0, 1]]], [keys], [values], { bias });
  plain.heads.forEach((head, index) =>
    head[0]!.scores.forEach((one, key) =>
      expect(biased.heads[index]![0]!.scores[key]).toBeCloseTo(one + bias[0]![0]![key]!, 15),
    ),
  );
});

test("any shift gives the same weights", () => {
  const shifted = attend([[[1, 0.5]]], [keys], [values], { shift: "largest" }).heads[0]![0]!;
  const plain = attend([[[1, 0.5]]], [keys], [values]).heads[0]![0]!;
  expect(Math.max(...shifted.exponentials!)).toBe(1);
  shifted.weights.forEach((weight, key) => expect(weight).toBeCloseTo(plain.weights[key]!, 15));
});

test("heads are joined side by side", () => {
  const trace = attend([[[1, 0]], [[0, 1]]], [keys, keys], [values, values]);
  const [first, second] = trace.heads.map((head) => Array.from(head[0]!.output));
  expect(Array.from(join(trace)[0]!)).toEqual([...first!, ...second!]);
});

test("the products of a pair add up to q · k", () => {
  expect(Array.from(products([2, 1, 0], [3, 1, 4]))).toEqual([6, 1, 0]);
  expect(dot([2, 1, 0], [3, 1, 4])).toBe(7);
});

describe("a real row", () => {
  const vectors: Vectors = {
    query: Float32Array.of(1, 0.5),
    keys: keys.map((key) => Float32Array.from(key)),
    values: values.map((value) => Float32Array.from(value)),
    scale: 0.25,
    softcap: null,
    bias: null,
    sink: null,
    allowed: Uint8Array.of(1, 1, 0),
  };

  test("has the weights of the plain formula, the largest exponential 1", () => {
    const row = workRow(vectors);
    expect(row.weights[2]).toBe(0);
    expect(row.weights[0]).toBeCloseTo(Math.exp(0.25) / (Math.exp(0.25) + 1), 15);
    expect(row.exponentials![0]).toBe(1);
  });

  test("without values has an empty blend", () => {
    expect(workRow({ ...vectors, values: null }).output.length).toBe(0);
  });
});

describe("numbers that do not fit are refused in words", () => {
  test.each([
    [() => dot([1], [1, 2]), "right: expected 1 numbers, as many as the left has, found 2"],
    [() => products([1], [1, 2]), "right: expected 1 numbers"],
    [() => blend([1], values), "weights: expected 3 numbers, one for each value, found 1"],
    [() => project([[1]], [[1, 2]], [1]), "bias: expected 2 numbers, one a column, found 1"],
    [() => attend([], [keys], [values]), "query and key: expected at least one row each, found an empty list"],
    [
      () => attend([[[1, 0]], [[1, 0]], [[1, 0]]], [keys, keys], [values, values]),
      "query: expected a multiple of 2 heads, found 3",
    ],
    [() => attend([[[1, 0]]], [keys], [values, values]), "value: expected 1 heads, as many as the key has, found 2"],
    [() => attend([[[1, 0]]], [keys], [[[1]]]), "value: expected 3 rows, one for each key, found 1"],
    [() => split([Float64Array.of(1, 2, 3)], 2), "heads: expected a part of 3 columns, found 2 heads"],
  ])("%#", (call, message) => {
    expect(call).toThrow(NumbersError);
    expect(call).toThrow(message);
  });
});

test("a layer without an output table ends with the joined heads", () => {
  const table = [
    [1, 0],
    [0, 1],
  ];
  const layer = attendLayer({
    x: [
      [1, 0],
      [0, 1],
    ],
    queryTable: table,
    keyTable: table,
    valueTable: table,
  });
  expect(layer.final).toBe(layer.joined);
});
