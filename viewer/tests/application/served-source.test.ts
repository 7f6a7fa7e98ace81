// A reading on the server: its rows, tiles and vectors as they lie in the answers, and what happens when it is gone.
import { describe, expect, test } from "vitest";
import { type Api, ApiError, type Numbers } from "../../src/application/api";
import { type Served, ServedSource } from "../../src/application/served-source";
import { roomOf } from "../../src/application/rooms";

const LAYER = {
  number: 4, heads: 2, keyValueHeads: 1, carries: "queries and keys", precision: "float32", worst: 0, hasSteps: true, window: null, causal: true, hasSink: false,
} as const;

const SERVED: Served = {
  schema: "heedmap/served/1",
  id: "a/b",
  texts: [{ text: "a b", labels: ["a", "b"], special: [], words: [["a", "", [0]], ["b", " ", [1]]] }],
  reading: {
    id: "self", title: "self-attention", model: { name: "m", layers: 1, heads: 2, dtype: "float32" }, queries: 0, keys: 0, layers: [LAYER], statistics: [], notes: [],
  },
  start: { reading: "self", layer: 4, head: null, query: 1 },
};

function bytes(numbers: number[], allowed: number[]): ArrayBuffer {
  const floats = new Uint8Array(Float32Array.from(numbers).buffer);
  return Uint8Array.from([...floats, ...allowed]).buffer;
}

function source(answer: Numbers | ApiError) {
  const asked: string[] = [];
  const gone: ApiError[] = [];
  const api = {
    numbers: async (path: string) => {
      asked.push(path);
      if (answer instanceof ApiError) throw answer;
      return answer;
    },
  } as unknown as Api;
  return { source: new ServedSource(SERVED, [], api, (error) => gone.push(error)), asked, gone };
}

describe("a reading on the server", () => {
  test("a row", async () => {
    const { source: one, asked } = source({ head: { keys: 2, sink: 0.25 }, bytes: bytes([0.5, 0.25], [1, 0]) });
    const row = await one.row(4, null, 1);
    expect([[...row.weights], [...row.allowed], row.sink, row.sum]).toEqual([[0.5, 0.25], [1, 0], 0.25, 0.75]);
    expect(asked).toEqual(["/api/readings/a%2Fb/row?layer=4&query=1"]);
  });

  test("a tile is asked for once", async () => {
    const { source: one, asked } = source({ head: { height: 1, width: 2 }, bytes: bytes([0.5, NaN], [1, 1]) });
    const ranges = [{ start: 0, stop: 2 }, { start: 0, stop: 2 }] as const;
    const tile = await one.tile(4, 1, ...ranges, 1, 2, "max");
    expect([tile.height, tile.width, tile.weights[0], Number.isNaN(tile.weights[1]!)]).toEqual([1, 2, 0.5, true]);
    expect(await one.tile(4, 1, ...ranges, 1, 2, "max")).toBe(tile);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("head=1&rows_start=0&rows_stop=2&columns_start=0&columns_stop=2&height=1&width=2&how=max");
  });

  test("the vectors of the four steps", async () => {
    const head = { keys: 2, dim: 2, valueDim: 1, scale: 0.5, softcap: null, sink: null };
    const { source: one } = source({ head, bytes: bytes([1, 2, 3, 4, 5, 6, 7, 8], [1, 1]) });
    const found = await one.vectors(4, 0, 1);
    expect([...found.query]).toEqual([1, 2]);
    expect(found.keys.map((key) => [...key])).toEqual([[3, 4], [5, 6]]);
    expect(found.values!.map((value) => [...value])).toEqual([[7], [8]]);
    expect([found.scale, [...found.allowed]]).toEqual([0.5, [1, 1]]);
  });

  test("a reading that is gone is told once, other failures are not", async () => {
    const lost = source(new ApiError(410, "ReadingGone", "read it again"));
    await expect(lost.source.row(4, 0, 0)).rejects.toThrow("read it again");
    expect(lost.gone).toHaveLength(1);
    const other = source(new ApiError(422, "OutOfRange", "no such head"));
    await expect(other.source.row(4, 9, 0)).rejects.toThrow("no such head");
    expect(other.gone).toHaveLength(0);
  });
});

test.each([
  ["/", "read"], ["/lab", "lab"], ["/lab/", "lab"], ["/learn/01-one", "learn"], ["/elsewhere", "read"], ["/constructor", "read"],
])("the room of %s is %s", (path, room) => {
  expect(roomOf(path)).toBe(room);
});
