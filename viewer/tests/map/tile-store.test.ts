// @vitest-environment happy-dom
// Tiles: asked for once, where somebody looks; nothing from the future; given up when nobody looks any more.
import { describe, expect, test, vi } from "vitest";
import { MadeUp } from "../../bench/made-up";
import type { ReadingSource, Tile } from "../../src/data/types";
import { type Pooling, TileStore } from "../../src/map/tile-store";

/** A source whose answers can be counted and held back. */
function watched(tokens: number, options: Partial<MadeUp["shape"]> = {}) {
  const source = new MadeUp({ tokens, ...options });
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const real = source.tile.bind(source);
  const tile: ReadingSource["tile"] = (layer, head, rows, columns, height, width, _how, signal) => {
    asked.push(`${rows.start}-${rows.stop}/${columns.start}-${columns.stop}`);
    if (signal) signals.push(signal);
    return real(layer, head, rows, columns, height, width);
  };
  return { source: Object.assign(source, { tile }), asked, signals };
}

function storeOf(source: MadeUp, arrived = () => {}, how: Pooling = "max"): TileStore {
  return new TileStore(source, source.layers[0]!, 0, how, arrived);
}

const ALL = (tokens: number) => ({ start: 0, stop: tokens });

async function settled(store: TileStore): Promise<void> {
  await vi.waitFor(() => expect(store.loading).toBe(false), { timeout: 3000, interval: 5 });
}

test("covers what is looked at, without what no query sees", async () => {
  const { source, asked } = watched(600);
  const store = storeOf(source);
  const pieces = store.cover(0, ALL(600), ALL(600));
  store.want(pieces);
  await settled(store);
  // Three stretches of rows; the first column, and three stretches of the others of which those ahead are empty.
  expect(asked.sort()).toEqual([
    "0-256/0-1",
    "0-256/1-257",
    "256-512/0-1",
    "256-512/1-257",
    "256-512/257-513",
    "512-600/0-1",
    "512-600/1-257",
    "512-600/257-513",
    "512-600/513-600",
  ]);
  expect(pieces.every((piece) => piece.empty || piece.tile)).toBe(true);
});

test("a window's map is asked for in the past too: its holes must be seen", async () => {
  const { source, asked } = watched(600, { window: 8 });
  const store = storeOf(source);
  store.want(store.cover(0, ALL(600), ALL(600)));
  await settled(store);
  expect(asked).toContain("512-600/1-257");
});

test("asks once, and tells when something has come", async () => {
  const { source, asked } = watched(64);
  const arrived = vi.fn();
  const store = storeOf(source, arrived);
  for (let frame = 0; frame < 5; frame++) store.want(store.cover(0, ALL(64), ALL(64)));
  await settled(store);
  for (let frame = 0; frame < 5; frame++) store.want(store.cover(0, ALL(64), ALL(64)));
  expect(asked.length).toBe(2);
  expect(arrived).toHaveBeenCalledTimes(2);
});

test("gives up what nobody looks at any more", async () => {
  const { source, signals } = watched(4096);
  const store = storeOf(source);
  store.want(store.cover(0, { start: 0, stop: 256 }, { start: 0, stop: 256 }));
  store.want(store.cover(0, { start: 4000, stop: 4096 }, { start: 3000, stop: 3200 }));
  expect(signals[0]!.aborted).toBe(true);
  await settled(store);
  expect(store.lookup(0, 4050, 3100)).not.toBeNull();
});

test("a number can be looked up, in a block too", async () => {
  const { source } = watched(600);
  const store = storeOf(source);
  expect(store.lookup(0, 300, 17)).toBeNull();
  store.want([...store.cover(0, ALL(600), ALL(600)), ...store.cover(2, ALL(600), ALL(600))]);
  await settled(store);
  const row = await source.row(0, 0, 300);
  for (const key of [0, 1, 17, 299, 300])
    expect(store.lookup(0, 300, key)).toEqual({ weight: row.weights[key], allowed: true });
  expect(store.lookup(0, 300, 301)!.allowed).toBe(false);
  expect(store.lookup(0, 0, 599)).toEqual({ weight: 0, allowed: false });
  // Of level 2 a cell stands for four queries and four keys; the first token is one by itself.
  expect(store.block(2, 301, 18)).toEqual([
    { start: 300, stop: 304 },
    { start: 17, stop: 21 },
  ]);
  expect(store.block(2, 301, 0)).toEqual([
    { start: 300, stop: 304 },
    { start: 0, stop: 1 },
  ]);
});

test("the largest number is known outside the first column, and in it", async () => {
  const { source } = watched(40);
  const store = storeOf(source);
  store.want(store.cover(0, ALL(40), ALL(40)));
  await settled(store);
  const rows = await Promise.all(source.queries.tokens.map((_, query) => source.row(0, 0, query)));
  expect(store.largest[0]).toBe(Math.max(...rows.flatMap((row) => [...row.weights.slice(1)])));
  expect(store.largestOfFirst[0]).toBe(Math.max(...rows.map((row) => row.weights[0]!)));
  expect([store.hasAny, store.coarsest]).toEqual([true, 0]);
});

describe("a source that fails", () => {
  test("is named and not asked again", async () => {
    const source = new MadeUp({ tokens: 8 });
    const tile = vi.fn((): Promise<Tile> => Promise.reject(new Error("layer 3 is not in this page")));
    const store = storeOf(Object.assign(source, { tile }));
    store.want(store.cover(0, ALL(8), ALL(8)));
    await settled(store);
    const calls = tile.mock.calls.length;
    store.want(store.cover(0, ALL(8), ALL(8)));
    expect(store.fault).toBe("layer 3 is not in this page");
    expect(tile.mock.calls.length).toBe(calls);
  });
});

test("what arrives after the map was closed is dropped", async () => {
  const { source } = watched(8);
  const arrived = vi.fn();
  const store = storeOf(source, arrived);
  const pieces = store.cover(0, ALL(8), ALL(8));
  store.want(pieces);
  store.close();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(arrived).not.toHaveBeenCalled();
  expect(pieces.some((piece) => piece.tile)).toBe(false);
});

test("memory stays bounded while somebody wanders about, and what is on screen stays", async () => {
  const { source } = watched(18_000);
  const tile: ReadingSource["tile"] = async (_layer, _head, rows, columns, height, width) => ({
    rows,
    columns,
    height,
    width,
    weights: new Float32Array(height * width),
    allowed: new Uint8Array(height * width),
  });
  const store = storeOf(Object.assign(source, { tile }));
  let onScreen = store.cover(0, { start: 0, stop: 600 }, { start: 0, stop: 600 });
  for (let start = 0; start < 16_800; start += 1200) {
    onScreen = store.cover(0, { start, stop: start + 1200 }, { start: 0, stop: 1200 });
    store.want(onScreen);
    await settled(store);
  }
  expect(store.cells).toBeLessThan(18_000_000);
  expect(onScreen.every((piece) => piece.tile)).toBe(true);
  expect(store.lookup(0, 0, 0)).toBeNull();
});

test("a picture of very many pieces is never given up while it is on screen", async () => {
  const { source } = watched(17_000, { causal: false });
  const store = storeOf(source);
  const pieces = () => store.cover(0, { start: 0, stop: 17_000 }, { start: 0, stop: 17_000 });
  expect(pieces().length).toBeGreaterThan(4096);
  const before = pieces();
  store.want(before);
  expect(pieces().every((piece, index) => piece === before[index])).toBe(true);
  store.close();
});
