// What is said about a row.
import { describe, expect, it } from "vitest";
import { SampleSource, sampleTokens } from "../../src/data/sample";
import type { Row } from "../../src/data/types";
import { direction } from "../../src/reader/direction";
import { caution, counted, listed, reach, sharing, total, unseen } from "../../src/reader/remarks";
import { unitsOf } from "../../src/reader/units";

const row = (weights: number[], allowed: number[], sink: number | null = null): Row => ({
  weights: Float32Array.from(weights), allowed: Uint8Array.from(allowed), sink, sum: weights.reduce((sum, each) => sum + each, 0),
});

describe("the sum", () => {
  it.each([
    [row([0.5, 0.5], [1, 1]), "The row adds up to 1.000"],
    [row([0.5, 0.25], [1, 1], 0.25), "The row adds up to 0.750, and 0.250 goes to the learned sink"],
    [row([NaN, 0.5, 0.5], [1, 1, 1]), "1 of its 3 weights is not a number, so the row has no sum"],
    [row([0, 0], [0, 0]), "It may look at no token: this row is absent, not zero"],
  ])("is told with what is missing", (given, expected) => expect(total(given)).toBe(expected));
});

it("counts what cannot be seen before, between and after", () => {
  expect(unseen(row([0, 0.5, 0, 0.5, 0, 0], [0, 1, 0, 1, 0, 0]))).toEqual([
    "1 earlier token cannot be seen", "1 token in between cannot be seen", "2 later tokens cannot be seen",
  ]);
  expect(unseen(row([1], [1]))).toEqual([]);
});

describe("what the model has read", () => {
  const causal = new SampleSource();
  const units = unitsOf(causal.queries, "words");

  it("is nothing that comes later, in a causal model", () => {
    const remark = reach(causal, units, 10)!;
    expect(remark.text).toContain("At {0} the model has not read {1}");
    expect(remark.quotes).toEqual(["it", "big"]); // the last word, and not the full stop
  });

  it("is everything at the end", () => {
    expect(reach(causal, units, 14)!.text).toContain("has read the whole text");
  });

  it("is the whole text at every word of an encoder", () => {
    const list = sampleTokens();
    const encoder = new SampleSource("encoder", "Encoder", list, list);
    expect(reach(encoder, unitsOf(list, "words"), 10)!.text).toContain("reads in both directions");
  });

  it("is another text in cross-attention", () => {
    const cross = new SampleSource("cross", "Cross", sampleTokens([" Der"], " Der"), sampleTokens());
    expect(reach(cross, unitsOf(cross.queries, "words"), 0)!.text).toContain("another text");
  });
});

it("names the heads that share a key-value head", () => {
  const layer = new SampleSource().layers[0]!;
  expect(sharing({ ...layer, heads: 9, keyValueHeads: 3 }, 4)).toBe("It reads key-value head 1, shared with heads 3 and 5.");
  expect(sharing({ ...layer, heads: 4, keyValueHeads: 4 }, 1)).toBeNull();
  expect(sharing(layer, null)).toBeNull();
});

it("does not take a weight for a reason", () => {
  expect(caution(3)).toContain("does not say that the answer depends on it");
  expect(caution(null)).toContain("mean over heads");
});

it.each([
  ["The trophy", "ltr"], ["שלום world", "rtl"], ["“مرحبا”", "rtl"], ["123 …", "ltr"], ["word שלום", "ltr"],
])("finds which way a text runs: %s", (text, expected) => expect(direction(text)).toBe(expected));

it("counts and lists in words", () => {
  expect(counted(1, "token")).toBe("1 token");
  expect(counted(8192, "token")).toBe("8,192 tokens");
  expect(listed([1, 2, 3])).toBe("1, 2 and 3");
});
