// Statistics of heads: where a value lies, its scale, groups and the keys of the grid.
import { describe, expect, it } from "vitest";
import { stops } from "../../src/colour";
import { SampleSource } from "../../src/data/sample";
import { neighbour } from "../../src/heads/statistic-grid";
import { groupsOf, scaleOf, statisticColour, statisticOf, valueOf } from "../../src/heads/statistics";

const source = new SampleSource();
const statistic = (values: number[], unit = "share") => ({ name: "x", title: "X", unit, values: Float32Array.from(values) });

it("finds the value of a head, absent or not", () => {
  const entropy = statisticOf(source, "entropy")!;
  expect(valueOf(source, entropy, 3, 2)).toBe(entropy.values[3 * 4 + 2]);
  expect(valueOf(source, statisticOf(source, "distance")!, 2, 1)).toBeNaN();
  expect(valueOf(source, entropy, 99, 0)).toBeNaN();
  expect(valueOf(source, entropy, 0, 4)).toBeNaN(); // and not the first head of the next layer
});

it("scales shares from 0 to 1, others to the largest, and both ways where some are negative", () => {
  expect(scaleOf(statistic([0.1, 0.2]))).toEqual({ low: 0, high: 1, diverging: false });
  expect(scaleOf(statistic([1, NaN, 2.5], "nats"))).toEqual({ low: 0, high: 2.5, diverging: false });
  expect(scaleOf(statistic([-4, 2], "tokens"))).toEqual({ low: -4, high: 4, diverging: true });
  expect(scaleOf(statistic([NaN], "nats")).high).toBe(1);
});

it("colours ends of a scale with the ends of its colours", () => {
  expect(statisticColour(1, scaleOf(statistic([0.5])), "light")).toBe(stops("weight", "light").at(-1));
  expect(statisticColour(-4, scaleOf(statistic([-4, 2], "tokens")), "dark")).toBe(stops("less", "dark").at(-1));
});

it("groups the heads that share a key-value head", () => {
  expect(groupsOf({ heads: 9, keyValueHeads: 3 })).toEqual([[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
  expect(groupsOf({ heads: 3, keyValueHeads: 3 })).toEqual([[0, 1, 2]]);
  expect(groupsOf({ heads: 4, keyValueHeads: 3 })).toEqual([[0, 1, 2, 3]]);
});

describe("the keys of the grid", () => {
  const from = { layer: 2, head: 1 };
  it.each([
    ["ArrowUp", { layer: 1, head: 1 }], ["ArrowDown", { layer: 3, head: 1 }], ["ArrowLeft", { layer: 2, head: 0 }],
    ["Home", { layer: 2, head: 0 }], ["End", { layer: 2, head: 3 }], ["PageDown", { layer: 5, head: 1 }], ["Enter", null],
  ])("%s", (key, expected) => expect(neighbour(key, from, source.layers)).toEqual(expected));

  it("stop at the edges", () => {
    expect(neighbour("ArrowLeft", { layer: 0, head: 0 }, source.layers)).toBeNull();
    expect(neighbour("ArrowUp", { layer: 0, head: 0 }, source.layers)).toBeNull();
  });
});
