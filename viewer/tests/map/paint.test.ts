// Pixels of a tile: exact places on the scale, blank where forbidden, marked where no number; and what a tile tells.
import { describe, expect, test } from "vitest";
import { BROKEN, BROKEN_DIFFERENCE, pixel, SHADES, shadeTable, stops } from "../../src/colour";
import { type Ink, inkName, pixels, summary } from "../../src/map/paint";

const INK: Ink = { theme: "light", scale: "linear", top: 1, difference: false };
const tile = (weights: number[], allowed = weights.map(() => 1)) => ({
  weights: Float32Array.from(weights),
  allowed: Uint8Array.from(allowed),
});

describe("pixels", () => {
  const table = shadeTable("weight", "light");

  test("a forbidden cell is transparent, 0 is a colour", () => {
    expect([...pixels(tile([0, 0.5], [1, 0]), INK, false)]).toEqual([pixel(stops("weight", "light")[0]!), 0]);
  });

  test("weights take their place on the scale, up to its top", () => {
    const found = pixels(tile([0, 0.1, 0.2, 0.9]), { ...INK, top: 0.2 }, false);
    expect([...found]).toEqual([0, Math.round((SHADES - 1) / 2), SHADES - 1, SHADES - 1].map((index) => table[index]));
  });

  test("the logarithmic scale runs from 0.0001", () => {
    const found = pixels(tile([0, 1e-5, 1e-4, 0.01, 1]), { ...INK, scale: "log" }, false);
    expect([...found]).toEqual([0, 0, 0, Math.round((SHADES - 1) / 2), SHADES - 1].map((index) => table[index]));
  });

  test("the first token has a scale of its own, which always ends at 1", () => {
    const own = shadeTable("first", "light");
    expect([...pixels(tile([1, 0.5]), { ...INK, top: 0.1 }, true)]).toEqual([
      own[SHADES - 1],
      own[Math.round((SHADES - 1) / 2)],
    ]);
  });

  test("what is not a number is marked, in a colour that no number has", () => {
    for (const difference of [false, true]) {
      const mark = pixel((difference ? BROKEN_DIFFERENCE : BROKEN).light);
      expect([...pixels(tile([NaN]), { ...INK, difference }, false)]).toEqual([mark]);
      for (const kind of ["weight", "first", "more", "less"] as const)
        expect(shadeTable(kind, "light")).not.toContain(mark);
    }
  });

  test("differences are blue above 0 and brown below", () => {
    const found = pixels(tile([-0.5, 0.5]), { ...INK, difference: true, top: 0.5 }, false);
    expect([...found]).toEqual([shadeTable("less", "light")[SHADES - 1], shadeTable("more", "light")[SHADES - 1]]);
  });

  test("a map of zeros is the colour of 0", () => {
    expect([...pixels(tile([0, 0]), { ...INK, difference: true, top: 0 }, false)]).toEqual(
      Array(2).fill(shadeTable("more", "light")[0]),
    );
  });

  test("equal inks have one name, others another", () => {
    expect(inkName({ ...INK })).toBe(inkName(INK));
    expect(
      new Set(
        [INK, { ...INK, top: 0.5 }, { ...INK, theme: "dark" as const }, { ...INK, scale: "log" as const }].map(inkName),
      ).size,
    ).toBe(4);
  });
});

describe("what a tile tells", () => {
  const of = (
    rows: [number, number],
    columns: [number, number],
    height: number,
    weights: number[],
    allowed?: number[],
  ) => ({
    rows: { start: rows[0], stop: rows[1] },
    columns: { start: columns[0], stop: columns[1] },
    height,
    width: weights.length / height,
    ...tile(weights, allowed),
  });

  test("the largest number either way, and that some are none", () => {
    expect(summary(of([4, 6], [0, 2], 2, [0.1, -0.4, NaN, 0.3]), true)).toEqual({
      largest: 0.4000000059604645,
      broken: true,
      holes: false,
    });
  });

  test("nothing allowed, nothing largest", () => {
    expect(summary(of([0, 1], [5, 7], 1, [0, 0], [0, 0]), true)).toEqual({
      largest: -Infinity,
      broken: false,
      holes: false,
    });
  });

  test("the future is no hole", () => {
    expect(summary(of([0, 3], [0, 3], 3, Array(9).fill(0), [1, 0, 0, 1, 1, 0, 1, 1, 1]), true).holes).toBe(false);
  });

  test("a forbidden past is: a window, padding, a mask", () => {
    expect(summary(of([0, 3], [0, 3], 3, Array(9).fill(0), [1, 0, 0, 1, 1, 0, 0, 1, 1]), true).holes).toBe(true);
    expect(summary(of([0, 1], [0, 2], 1, [0, 0], [1, 0]), false).holes).toBe(true);
  });

  test("a pooled block on the diagonal is no hole, one wholly in the past is", () => {
    // Blocks of four: the second row of blocks begins at query 4, and keys 0 to 3 are its past.
    expect(summary(of([0, 8], [0, 8], 2, Array(4).fill(0), [1, 0, 1, 1]), true).holes).toBe(false);
    expect(summary(of([0, 8], [0, 8], 2, Array(4).fill(0), [1, 0, 0, 1]), true).holes).toBe(true);
  });
});
