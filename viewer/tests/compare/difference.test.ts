// Two maps, aligned: differences equal those of the whole maps, pooled or not.
import { describe, expect, it } from "vitest";
import { alignmentOf, type Alignment, pairsOf, pairText, placeOf } from "../../src/compare/align";
import { compared, pairRow } from "../../src/compare/compared";
import { DifferenceSource } from "../../src/compare/difference";
import { search } from "../../src/compare/search";
import { SampleSource, sampleComparison, samplePage, sampleTokens } from "../../src/data/sample";
import { cellText, MASKED, tokenNumber } from "../../src/map/cell-text";
import { blockEdges } from "../../src/data/pool";
import type { PageData, Range } from "../../src/data/types";
import { unitsOf } from "../../src/reader/units";

const whole = ({ tokens }: { tokens: unknown[] }): Range => ({ start: 0, stop: tokens.length });

/** The block that a place falls into: the last that does not begin after it. */
const block = (place: number, range: Range, count: number) => blockEdges(range, count).findLastIndex((edge, index) => edge <= place && index < count);

/** "very" is in the second text alone. */
function withInsertion(): PageData {
  const page = sampleComparison();
  const [a] = page.readings;
  const pieces = ["The", " trophy", " was", " too", " very", " big", "."];
  const short = ["The", " trophy", " was", " too", " big", "."];
  const one = new SampleSource("a", "short", sampleTokens(short, short.join("")), undefined, 1);
  const two = new SampleSource("b", "long", sampleTokens(pieces, pieces.join("")), undefined, 1.4);
  const alignment: Alignment = [[0, 0], [1, 1], [2, 2], [3, 3], [null, 4], [4, 5], [5, 6]];
  expect(a).toBeDefined();
  return { ...page, readings: [one, two], comparison: { a: "a", b: "b", alignment: [...alignment.map(([x, y]) => [x, y] as [number | null, number | null])], mustBeZero: 4, note: "" } };
}

function difference(page: PageData): DifferenceSource {
  const of = compared(page, { reading: "a", layer: 2, head: 1 }, { reading: "b", layer: 2, head: 1 }, "words");
  if (typeof of === "string") throw new Error(of);
  return of.source;
}

describe.each([["words that differ", sampleComparison], ["a word more", withInsertion]])("the difference with %s", (_name, make) => {
  const page = make();
  const [a, b] = page.readings;
  const source = difference(page);

  it("is second minus first where both may look, and blank elsewhere", async () => {
    for (const [place, [queryA, queryB]] of page.comparison!.alignment.entries()) {
      const row = await source.row(2, 1, place);
      const rowA = queryA === null ? null : await a!.row(2, 1, queryA);
      const rowB = queryB === null ? null : await b!.row(2, 1, queryB);
      page.comparison!.alignment.forEach(([keyA, keyB], key) => {
        const known = rowA && rowB && keyA !== null && keyB !== null && rowA.allowed[keyA] && rowB.allowed[keyB];
        expect(row.allowed[key]).toBe(known ? 1 : 0);
        expect(row.weights[key]).toBe(known ? Math.fround(rowB.weights[keyB]! - rowA.weights[keyA]!) : 0);
      });
      expect(row.sum).toBeCloseTo(row.weights.reduce((sum, each) => sum + each, 0), 12);
    }
  });

  it.each(["mean", "max"] as const)("is pooled as the whole map would be: %s", async (how) => {
    const [rows, columns, height, width] = [whole(source.queries), whole(source.keys), 4, 3];
    const tile = await source.tile(2, 1, rows, columns, height, width, how);
    const cells: number[][] = Array.from({ length: height * width }, () => []);
    for (let query = 0; query < rows.stop; query++) {
      const row = await source.row(2, 1, query);
      row.weights.forEach((weight, key) => {
        if (row.allowed[key]) cells[block(query, rows, height) * width + block(key, columns, width)]!.push(weight);
      });
    }
    cells.forEach((cell, index) => {
      expect(tile.allowed[index]).toBe(Number(cell.length > 0));
      const expected = how === "mean" ? cell.reduce((sum, each) => sum + each, 0) / cell.length : cell.reduce((best, each) => (Math.abs(each) > Math.abs(best) ? each : best), 0);
      if (cell.length) expect(tile.weights[index]).toBeCloseTo(expected, 6);
    });
  });

  it("is searched cell by cell", async () => {
    const found = await search(source, 4);
    const rows = await Promise.all(source.queries.tokens.map((_, query) => source.row(2, 1, query)));
    const top = (some: typeof rows) => Math.max(...some.flatMap((row) => Array.from(row.weights, Math.abs)));
    expect(Math.abs(found!.largest!.difference)).toBe(top(rows));
    expect(Math.abs(found!.before!.difference)).toBe(top(rows.slice(0, 4)));
    expect(rows[found!.largest!.query]!.weights[found!.largest!.key]).toBe(found!.largest!.difference);
  });
});

describe("alignment", () => {
  it("is one by one for the same tokens, whatever the readings are called", () => {
    const list = sampleTokens();
    expect(alignmentOf(samplePage(), "x", "y", list, sampleTokens())).toHaveLength(15);
  });

  it("is the page's for its two texts, in either direction, and none for others", () => {
    const page = withInsertion();
    const [a, b] = page.readings;
    expect(alignmentOf(page, "a", "b", a!.queries, b!.queries)).toEqual(page.comparison!.alignment);
    expect(alignmentOf(page, "b", "a", b!.queries, a!.queries)![4]).toEqual([4, null]);
    expect(alignmentOf(page, "a", "other", a!.queries, b!.queries)).toBeNull();
  });

  it("says so in words when nothing stands for anything", () => {
    const page = { ...withInsertion(), comparison: undefined };
    const place = { layer: 2, head: 1 };
    expect(compared(page, { ...place, reading: "a" }, { ...place, reading: "b" }, "words")).toContain("different tokens");
  });

  it("names a layer that was left out", () => {
    const place = { reading: "self", head: 1 };
    expect(compared(samplePage(), { ...place, layer: 5 }, { ...place, layer: 2 }, "words")).toContain("left out");
  });

  it("puts words in step", () => {
    const page = withInsertion();
    const [a, b] = page.readings;
    const pairs = pairsOf(unitsOf(a!.queries, "words"), unitsOf(b!.queries, "words"), page.comparison!.alignment);
    expect(pairs.map((pair) => pairText(pair.a?.text ?? null, pair.b?.text ?? null))).toEqual(["The", "trophy", "was", "too", "+ very", "big", "."]);
    expect(placeOf(page.comparison!.alignment, 4)).toBe(5);
  });

  it("keeps a word of two tokens beside a word of one", () => {
    const one = sampleTokens(["a", " trunk", " b"], "a trunk b");
    const two = sampleTokens(["a", " suit", "case", " b"], "a suitcase b");
    const pairs = pairsOf(unitsOf(one, "words"), unitsOf(two, "words"), [[0, 0], [1, 1], [null, 2], [2, 3]]);
    expect(pairs.map((pair) => pairText(pair.a?.text ?? null, pair.b?.text ?? null))).toEqual(["a", "trunk → suitcase", "b"]);
  });
});

describe("in two texts of unequal length", () => {
  const source = difference(withInsertion());
  const [queries, info] = [source.queries.tokens, source.layers[0]!];
  const say = async (query: number, key: number) => cellText(source, info, { query, key }, await source.row(2, 1, query));

  it("a place has the numbers that its tokens have in the texts", () => {
    expect(queries.map(tokenNumber)).toEqual(["0", "1", "2", "3", "– → 4", "4 → 5", "5 → 6"]);
  });

  it("a place without counterpart is not said to be masked", async () => {
    const alone = { verb: "beside", value: "nothing to compare, a word of the second text alone", absent: true };
    expect(await say(5, 4)).toMatchObject({ looking: "big", looked: "+ very", ...alone });
    expect(await say(4, 1)).toMatchObject({ looking: "+ very", looked: "trophy", ...alone });
    expect(await say(3, 5)).toMatchObject({ verb: "may not look at", value: "it comes later" });
  });

  it("a window ends where it ends in each text, whatever stands between", () => {
    const page = withInsertion();
    const windowed = page.readings.map((each) => Object.assign(each, { layers: each.layers.map((layer) => ({ ...layer, window: 3 })) }));
    const layer = (side: number) => windowed[side]!.layers[2]!;
    const made = new DifferenceSource({ source: windowed[0]!, layer: layer(0), head: 1 }, { source: windowed[1]!, layer: layer(1), head: 1 }, page.comparison!.alignment, page.comparison!.alignment);
    expect(made.layers[0]!.window).toBeNull();
    expect(made.absent({ query: 5, key: 2 }).reason).toBe("it lies outside the window of 3 tokens"); // 4 to 2 may be, 5 to 2 not
    expect(made.absent({ query: 6, key: 5 }).reason).toBe(MASKED);
  });
});

describe("where it must be zero", () => {
  const of = (page: PageData, a: object, b: object) => {
    const result = compared(page, { reading: "a", layer: 2, head: 1, ...a }, { reading: "b", layer: 2, head: 1, ...b }, "words");
    return typeof result === "string" ? result : result.mustBeZero;
  };
  it("is before the word that differs, for the same head alone", () => {
    expect(of(sampleComparison(), {}, {})).toBe(13);
    expect(of(sampleComparison(), {}, { head: 2 })).toBe(0);
    expect(of(sampleComparison(), {}, { layer: 3 })).toBe(0);
  });
  it("is everywhere for a head and itself", async () => {
    expect(of(sampleComparison(), {}, { reading: "a" })).toBe(15);
  });
});

it("gives each word its share on both sides, and the difference", async () => {
  const page = sampleComparison();
  const of = compared(page, { reading: "a", layer: 2, head: 1 }, { reading: "b", layer: 2, head: 1 }, "words");
  if (typeof of === "string") throw new Error(of);
  const row = await pairRow(of, of.asking[9]!.a!, of.asking[9]!.b!, "mean");
  const rowA = await page.readings[0]!.row(2, 1, 10);
  const rowB = await page.readings[1]!.row(2, 1, 10);
  expect(row.shares[7]!.a!.weight).toBeCloseTo(rowA.weights[7]! + rowA.weights[8]!, 6); // "suitcase"
  expect(row.shares[7]!.difference).toBeCloseTo(rowB.weights[7]! + rowB.weights[8]! - rowA.weights[7]! - rowA.weights[8]!, 6);
  expect(row.shares[10]!.difference).toBeNull(); // "was" comes later
});
