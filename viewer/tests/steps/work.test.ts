// A row in figures: which keys are shown, what is summed, how numbers are written.
import { describe, expect, test } from "vitest";
import { attend } from "../../src/arithmetic/attention";
import {
  asGiven,
  FIRST,
  fixed,
  inBrackets,
  largest,
  largestDifference,
  listing,
  scalingText,
  terms,
  tidy,
  weighed,
  WHOLE,
  type Work,
} from "../../src/steps/work";

/** A row over so many keys, the first `hidden` of which may not be looked at. */
function workOf(keys: number, hidden = 0, byHand = false): Work {
  const key = Array.from({ length: keys }, (_, place) => [Math.sin(place), Math.cos(place * 1.3)]);
  const mask = [[key.map((_, place) => place >= hidden)]];
  const trace = attend([[[1.5, -0.5]]], [key], [key], { mask }).heads[0]![0]!;
  return {
    asking: "it",
    keys: key.map((_, place) => `k${place}`),
    query: [1.5, -0.5],
    key,
    value: key,
    trace,
    scale: Math.SQRT1_2,
    multiply: 1,
    softcap: null,
    bias: null,
    digits: [2, 3],
    byHand,
  };
}

describe("the listing", () => {
  test("of a short row is whole and in the order of the text", () => {
    expect(listing(workOf(WHOLE), FIRST)).toEqual({ shown: [...Array(WHOLE).keys()], sorted: false, rest: null });
  });

  test("of a long row begins with the largest weights, and sums the rest", () => {
    const work = workOf(500);
    const { shown, sorted, rest } = listing(work, FIRST);
    expect([shown.length, sorted, rest!.count]).toEqual([FIRST, true, 500 - FIRST]);
    const weights = [...work.trace.weights].sort((a, b) => b - a);
    expect(shown.map((key) => work.trace.weights[key])).toEqual(weights.slice(0, FIRST));
    expect(rest!.weights).toBeCloseTo(
      weights.slice(FIRST).reduce((sum, one) => sum + one, 0),
      12,
    );
    const all = shown.reduce((sum, key) => sum + work.trace.exponentials![key]!, rest!.exponentials);
    expect(all).toBeCloseTo(work.trace.total!, 9);
  });

  test("always holds the chosen key, however small its weight", () => {
    const work = workOf(500);
    const smallest = work.trace.weights.indexOf(Math.min(...work.trace.weights));
    const { shown, rest } = listing(work, FIRST, smallest);
    expect([shown.length, shown.at(-1), rest!.count]).toEqual([FIRST + 1, smallest, 500 - FIRST - 1]);
    expect(listing(work, FIRST, shown[0]!).shown.length).toBe(FIRST);
    expect(listing(workOf(30, 2), FIRST, 0).shown.length).toBe(FIRST);
  });

  test("shows more when asked, down to the last", () => {
    expect(listing(workOf(30), 30).rest).toBeNull();
    expect(listing(workOf(30), 1000).shown.length).toBe(30);
  });

  test("leaves out what may not be looked at, but not in an example worked by hand", () => {
    expect(listing(workOf(5, 2), FIRST).shown).toEqual([2, 3, 4]);
    expect(listing(workOf(5, 2, true), FIRST).shown).toEqual([0, 1, 2, 3, 4]);
  });
});

test("the largest weight is found among what may be looked at", () => {
  const work = workOf(9);
  expect(work.trace.weights[largest(work)!]).toBe(Math.max(...work.trace.weights));
  expect(largest(workOf(9, 8))).toBe(8);
  expect(largest(workOf(9, 9))).toBeNull();
});

test("the terms are in the order of their size and add up to q · k", () => {
  const work = workOf(4);
  const found = terms(work, 3);
  expect(Math.abs(found[0]!.product)).toBeGreaterThanOrEqual(Math.abs(found[1]!.product));
  expect(found.reduce((sum, { product }) => sum + product, 0)).toBeCloseTo(work.trace.products[3]!, 14);
});

test("the largest difference from other weights, and what is no number among them", () => {
  const { trace } = workOf(5, 1);
  const other = Float32Array.from(trace.weights, (weight, key) => weight + (key === 0 ? 9 : key === 3 ? 0.01 : 0));
  expect(largestDifference(trace, other)).toBeCloseTo(0.01, 6);
  expect(
    largestDifference(
      trace,
      other.map((weight, key) => (key === 2 ? NaN : weight)),
    ),
  ).toBeNaN();
});

test.each([
  [1 / 8, 64, "÷ 8"],
  [Math.SQRT1_2, 2, "÷ 1.41"],
  [1, 64, "as it is"],
  [0.0625, 64, "× 0.0625"],
])("a scale of %d in %i dimensions: %s", (scale, dim, text) => expect(scalingText(scale, dim)).toBe(text));

test.each([
  [fixed(1.005, 2), "1.00"],
  [fixed(-0.001, 2), "0.00"],
  [fixed(-1.5, 1), "−1.5"],
  [fixed(NaN, 2), "—"],
  [fixed(null, 2), "—"],
  [fixed(-Infinity, 2), "−∞"],
  [tidy(2.8284), "2.83"],
  [tidy(-8), "−8"],
  [asGiven(0.8), "0.8"],
  [asGiven(-0.25), "−0.25"],
  [asGiven(1), "1"],
  [inBrackets("−1"), "(−1)"],
  [inBrackets("1"), "1"],
])("%s is %s", (found, wanted) => expect(found).toBe(wanted));

test.each([
  [0.565, "0.565"],
  [0, "0.000"],
  [0.000382, "3.82e-4"],
  [-0.0001, "−1.00e-4"],
  [NaN, "—"],
])("a weight of %d is written %s", (number, text) => expect(weighed(number, 3)).toBe(text));
