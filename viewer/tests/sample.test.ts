// The made-up source keeps the contract that the views rely on.
import { describe, expect, it } from "vitest";
import { SampleSource } from "../src/data/sample";

describe("the sample source", () => {
  const source = new SampleSource();

  it("gives rows that add up to 1, the sink included", async () => {
    for (const layer of source.layers.filter((info) => info.carries !== "nothing")) {
      const row = await source.row(layer.number, 1, 10);
      expect(row.sum + (row.sink ?? 0)).toBeCloseTo(1, 5);
    }
  });

  it("gives tiles whose cells are those of the rows", async () => {
    const tile = await source.tile(2, 1, { start: 0, stop: 15 }, { start: 0, stop: 15 }, 15, 15, "mean");
    const row = await source.row(2, 1, 7);
    expect([...tile.weights.slice(7 * 15, 8 * 15)]).toEqual([...row.weights]);
    expect([...tile.allowed.slice(7 * 15, 8 * 15)]).toEqual([...row.allowed]);
  });
});
