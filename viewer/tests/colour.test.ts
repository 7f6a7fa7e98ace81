// The colour scales: the same as Python's, even to the eye, and in order.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  BROKEN,
  channels,
  colour,
  differenceColour,
  gradient,
  type Kind,
  luminance,
  pixel,
  position,
  SHADES,
  shadeTable,
  stops,
} from "../src/colour";
import type { Theme } from "../src/map/props";

const KINDS: Kind[] = ["weight", "first", "more", "less"];
const ALL = KINDS.flatMap((kind) => (["light", "dark"] as Theme[]).map((theme) => [kind, theme] as const));

/** CIELAB under D65, from sRGB (IEC 61966-2-1). */
function lab(hex: string): [number, number, number] {
  const [r, g, b] = channels(hex).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const bend = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = bend((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = bend(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = bend((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test.each(["BLUE", "SAND"])("on light paper %s is Python's", (name) => {
  const palette = readFileSync(new URL("../../src/heedmap/drawing/palette.py", import.meta.url), "utf8");
  const written = new RegExp(`${name} = \\(([^)]*)\\)`).exec(palette)![1]!.match(/#[0-9a-f]{6}/g);
  expect(stops(name === "BLUE" ? "weight" : "first", "light")).toEqual(written);
});

describe.each(ALL)("%s, %s", (kind, theme) => {
  const own = stops(kind, theme).map(lab);

  test("steps are even to the eye", () => {
    const steps = own.slice(1).map((one, index) => Math.hypot(...one.map((part, axis) => part - own[index]![axis]!)));
    expect(Math.max(...steps) / Math.min(...steps)).toBeLessThan(1.2);
  });

  test("lightness alone keeps the order", () => {
    const signs = own.slice(1).map((one, index) => Math.sign(one[0] - own[index]![0]));
    expect(new Set(signs)).toEqual(new Set([theme === "light" ? -1 : 1]));
  });

  test("the table for painting holds the same colours", () => {
    const table = shadeTable(kind, theme);
    const all = stops(kind, theme);
    expect([table[0], table[SHADES - 1]]).toEqual([pixel(all[0]!), pixel(all.at(-1)!)]);
  });
});

describe("where a weight stands", () => {
  test.each([
    [0, {}, 0],
    [1, {}, 1],
    [0.25, {}, 0.25],
    [2, {}, 1],
    [-1, {}, 0],
    [0.1, { top: 0.2 }, 0.5],
    [0.5, { top: 0 }, 0],
    [0.01, { scale: "log" as const }, 0.5],
    [0, { scale: "log" as const }, 0],
    [1e-4, { scale: "log" as const }, 0],
    [1e-3, { scale: "log" as const, top: 1e-3 }, 1],
    [1e-5, { scale: "log" as const, top: 1e-3 }, 0],
  ])("%f %o", (weight, options, wanted) => expect(position(weight, options)).toBeCloseTo(wanted, 12));
});

test("0 has a colour of its own, what is no number its mark", () => {
  expect(colour(0, "light")).toBe("#eceef2");
  expect(colour(NaN, "dark")).toBe(BROKEN.dark);
  expect(colour(0.05, "light")).toBe("#dfe5ef");
});

test("more and less are two colours, as far from 0 as the difference is large", () => {
  expect(differenceColour(1, "light")).toBe(stops("more", "light").at(-1));
  expect(differenceColour(-0.5, "light", { top: 0.5 })).toBe(stops("less", "light").at(-1));
});

test("a gradient runs through every stop", () => {
  expect(gradient("first", "light")).toMatch(/^linear-gradient\(to right, #f0ede9, .*, #845e2b\)$/);
});

test("letters can be read on every cell: black or white has a contrast of at least 4.5", () => {
  for (const [kind, theme] of ALL) {
    for (const background of stops(kind, theme)) {
      const light = luminance(background);
      const contrast = light > 0.18 ? (light + 0.05) / 0.05 : 1.05 / (light + 0.05);
      expect(contrast, background).toBeGreaterThanOrEqual(4.5);
    }
  }
});
