// The page's numbers are Python's, in every form that a layer can be carried in.
import { describe, expect, it } from "vitest";
import { close, expectNumbers, loadFixture, openFixture, sourceOf, tolerance } from "./fixture";

const fixture = loadFixture();
const page = openFixture(fixture);

describe("rows", () => {
  it.each(fixture.rows)("$reading layer $layer, head $head, query $query", async (wanted) => {
    const source = sourceOf(page, wanted.reading);
    const row = await source.row(wanted.layer, wanted.head, wanted.query);
    const within = tolerance(source, wanted.layer);
    expect(expectNumbers(row.weights, row.allowed, wanted.weights, within)).toEqual([]);
    expect(close(row.sum, wanted.sum, within * wanted.weights.length)).toBe(true);
    expect(row.sink === null).toBe(wanted.sink === null);
    if (wanted.sink !== null) expect(close(row.sink!, wanted.sink, within)).toBe(true);
  });
});

describe("tiles", () => {
  it.each(fixture.tiles)("$reading layer $layer, head $head, the $how", async (wanted) => {
    const source = sourceOf(page, wanted.reading);
    const rows = { start: 0, stop: source.queries.tokens.length };
    const columns = { start: 0, stop: source.keys.tokens.length };
    const tile = await source.tile(wanted.layer, wanted.head, rows, columns, 6, 4, wanted.how);
    expect([tile.height, tile.width]).toEqual([wanted.weights.length, wanted.weights[0]!.length]);
    expect(expectNumbers(tile.weights, tile.allowed, wanted.weights.flat(), tolerance(source, wanted.layer))).toEqual([]);
  });
});

describe("the vectors of a row", () => {
  it.each(fixture.vectors)("layer $layer carries them exactly, and they make its scores", async (wanted) => {
    const source = sourceOf(page, wanted.reading);
    const found = await source.vectors(wanted.layer, wanted.head!, wanted.query);
    expect([...found.query]).toEqual(wanted.vector);
    expect(found.keys.map((key) => [...key])).toEqual(wanted.keys);
    expect(found.values!.map((value) => [...value])).toEqual(wanted.values);
    wanted.scores.forEach((score, key) => {
      expect(found.allowed[key] === 1).toBe(score !== null);
      if (score === null) return;
      let mine = found.scale * found.keys[key]!.reduce((sum, number, place) => sum + number * found.query[place]!, 0);
      if (found.softcap !== null) mine = Math.tanh(mine / found.softcap) * found.softcap;
      expect(mine + (found.bias?.[key] ?? 0)).toBeCloseTo(score, 4);
    });
  });

  it("are refused where a layer carries none", async () => {
    await expect(sourceOf(page, "self").vectors(0, 0, 3)).rejects.toThrow("layer 0 carries no queries, keys and values");
  });
});

describe("what is not there", () => {
  const source = sourceOf(page, "self");

  it("is refused by name", async () => {
    await expect(source.row(7, 0, 0)).rejects.toThrow("layer 7 is not in this page: not read");
    await expect(source.row(8, 0, 0)).rejects.toThrow("there is no layer 8");
    await expect(source.row(0, 4, 0)).rejects.toThrow("there is no head 4: there are 4");
    await expect(source.row(0, 0, 19)).rejects.toThrow("there is no query 19: there are 19");
    await expect(source.tile(0, 0, { start: 3, stop: 3 }, { start: 0, stop: 2 }, 1, 1, "mean")).rejects.toThrow("rows 3 to 3");
  });

  it("is refused when maps and tokens differ in length", () => {
    const header = structuredClone(fixture.header);
    header.texts[0]!.labels.pop();
    expect(() => openFixture({ ...fixture, header })).toThrow("layer 0 has 19 x 19 weights for 18 and 18 tokens");
  });

  it("is refused when the page is of another schema", () => {
    expect(() => openFixture({ ...fixture, header: { ...fixture.header, schema: "heedmap/page/9" } })).toThrow("heedmap/page/9");
  });
});

describe("statistics", () => {
  it("stand in a grid of layers and heads, absent where a layer was not read", () => {
    const [first] = sourceOf(page, "self").statistics;
    expect(first!.title).toBe("Share on the first token");
    expect(first!.values.length).toBe(8 * 4);
    expect([...first!.values.slice(28)].every(Number.isNaN)).toBe(true);
    expect(first!.values[4]).toBeCloseTo(fixture.header.readings[0]!.statistics[0]!.values[1]![0]!, 6);
  });
});
