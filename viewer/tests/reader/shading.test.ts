// The colours of words: where the scale ends, and letters that can be read on every shade.
import { describe, expect, it } from "vitest";
import { stops } from "../../src/colour";
import { SampleSource } from "../../src/data/sample";
import { seenRow } from "../../src/reader/seen-row";
import { inkOn, shadingOf, topOf } from "../../src/reader/shading";
import { unitsOf } from "../../src/reader/units";

const seen = async () => {
  const source = new SampleSource();
  return seenRow(source, 2, 1, [10], unitsOf(source.keys, "words"));
};

describe("the scale", () => {
  it("ends at the largest of the others when the first is apart, and at 1 otherwise", async () => {
    const row = await seen();
    expect(topOf(row, true)).toBe(Math.max(...row.shares.slice(1).map((share) => share.weight)));
    expect(topOf(row, false)).toBe(1);
  });

  it("takes sand for the first token only when it is apart", async () => {
    const row = await seen();
    expect(stops("first", "light")[0]!.slice(0, 3)).toBe(shadingOf(row, "light", "linear", true).fill(0).slice(0, 3));
    expect(shadingOf(row, "light", "linear", false).fill(0)).not.toBe(shadingOf(row, "light", "linear", true).fill(0));
  });

  it("does not change the shares", async () => {
    const row = await seen();
    expect(shadingOf(row, "light", "linear", true).shares).toBe(shadingOf(row, "dark", "log", false).shares);
  });
});

it("puts letters on every shade that stand out by 4.5 to 1", () => {
  const linear = (channel: number) => (channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  const light = (hex: string) => [1, 3, 5].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16))).reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at]!, 0);
  for (const theme of ["light", "dark"] as const)
    for (const kind of ["weight", "first"] as const)
      for (const shade of stops(kind, theme)) {
        const [bright, dark] = [light(shade), light(inkOn(shade))].sort((a, b) => b - a);
        expect((bright! + 0.05) / (dark! + 0.05)).toBeGreaterThan(4.5);
      }
});
