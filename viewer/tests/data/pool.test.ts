// Tiles: exact whatever way they are computed, given up when no longer wanted, newest first.
import { beforeAll, describe, expect, it } from "vitest";
import { Engine, type LayerGiven } from "../../src/data/engine";
import { KnownLayer } from "../../src/data/layer";
import { blockEdges, Pool, type TileAsked } from "../../src/data/pool";
import { Rule } from "../../src/data/rule";
import type { Tile } from "../../src/data/types";
import { loadFixture } from "./fixture";

const SIZE = 100;
const rule = { queries: SIZE, keys: SIZE, shift: 0, back: 40, ahead: 0, absent: [] };
const numbers = (count: number, seed: number) => Float32Array.from({ length: count }, (_, place) => Math.sin(place * 1.7 + seed));

function madeLayer(): KnownLayer {
  const info = { number: 0, heads: 2, keyValueHeads: 1, scale: 1, softcap: null, carries: "queries and keys" } as never;
  const parts = new Map([["query", numbers(2 * SIZE * 3, 1)], ["key", numbers(SIZE * 3, 2)], ["logsumexp", numbers(2 * SIZE, 3)]]);
  return new KnownLayer(info, new Rule(rule), parts);
}

function finish(steps: Generator<void, Tile>): Tile {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

describe("blocks", () => {
  it("lie as evenly as Python's", () => {
    expect(blockEdges({ start: 0, stop: 10 }, 4)).toEqual([0, 2, 5, 7, 10]);
    expect(blockEdges({ start: 5, stop: 7 }, 9)).toEqual([5, 6, 7]);
  });
});

describe("a pooled tile", () => {
  const layer = madeLayer();
  const whole = { start: 0, stop: SIZE };
  const cells = finish(new Pool(layer).tile({ head: 1, rows: whole, columns: whole, height: SIZE, width: SIZE, how: "mean" }));
  const ways: TileAsked[] = [
    { head: 1, rows: whole, columns: whole, height: 7, width: 7, how: "mean" },
    { head: 1, rows: { start: 0, stop: 96 }, columns: { start: 0, stop: 96 }, height: 6, width: 3, how: "mean" }, // from kept blocks
    { head: 1, rows: { start: 64, stop: 100 }, columns: { start: 32, stop: 64 }, height: 1, width: 2, how: "max" }, // the last are smaller
    { head: 1, rows: { start: 33, stop: 52 }, columns: { start: 1, stop: 50 }, height: 19, width: 5, how: "max" },
  ];

  it.each(ways)("of $height x $width cells, the $how, is that of its cells", (asked) => {
    const tile = finish(new Pool(layer).tile(asked));
    const [rows, columns] = [blockEdges(asked.rows, asked.height), blockEdges(asked.columns, asked.width)];
    for (let y = 0; y < tile.height; y++) {
      for (let x = 0; x < tile.width; x++) {
        const under: number[] = [];
        for (let query = rows[y]!; query < rows[y + 1]!; query++) {
          for (let key = columns[x]!; key < columns[x + 1]!; key++) {
            if (cells.allowed[query * SIZE + key]) under.push(cells.weights[query * SIZE + key]!);
          }
        }
        const cell = y * tile.width + x;
        expect(tile.allowed[cell]).toBe(Number(under.length > 0));
        const wanted = asked.how === "max" ? Math.max(...under) : under.reduce((sum, one) => sum + one, 0) / under.length;
        if (under.length) expect(tile.weights[cell]).toBeCloseTo(wanted, 5);
      }
    }
  });

  it("is the same when two are computed in turns", () => {
    const pool = new Pool(layer);
    const asked = ways[1]!;
    const [one, two] = [pool.tile(asked), pool.tile({ ...asked, width: 6 })];
    for (let step = 0; step < 9; step++) {
      one.next();
      two.next();
    }
    expect(finish(one).weights).toEqual(finish(new Pool(layer).tile(asked)).weights);
    expect(finish(two).weights).toEqual(finish(new Pool(layer).tile({ ...asked, width: 6 })).weights);
  });
});

describe("the engine", () => {
  const fixture = loadFixture();
  const reading = fixture.header.readings[0]!;
  const whole = { start: 0, stop: 19 };
  let given: LayerGiven;
  beforeAll(() => {
    const info = reading.layers[0]!;
    const block = Uint8Array.from(Buffer.from(fixture.blocks[info.block!]!, "base64"));
    given = { key: "self/0", info, rule: fixture.header.rules[info.rule!]!, block, bits: null };
  });
  const tile = (head: number) => ({ kind: "tile" as const, key: "self/0", asked: { head, rows: whole, columns: whole, height: 4, width: 4, how: "mean" as const } });

  it("answers rows first, then the tile asked for last", async () => {
    const engine = new Engine();
    engine.open(given);
    const order: string[] = [];
    await Promise.all([
      engine.ask(1, tile(0)).then(() => order.push("first tile")),
      engine.ask(2, tile(1)).then(() => order.push("last tile")),
      engine.ask(3, { kind: "row", key: "self/0", head: 0, query: 3 }).then(() => order.push("row")),
    ]);
    expect(order).toEqual(["row", "last tile", "first tile"]);
  });

  it("gives up what is no longer wanted", async () => {
    const engine = new Engine();
    engine.open(given);
    const asked = engine.ask(1, tile(0));
    engine.cancel(1);
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
  });

  it("says when a block is damaged", async () => {
    const engine = new Engine();
    engine.open({ ...given, info: { ...given.info, parts: [] } });
    await expect(engine.ask(1, tile(0))).rejects.toThrow("damaged");
  });
});
