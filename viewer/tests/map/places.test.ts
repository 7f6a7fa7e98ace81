// Labels that never overlap, and tiles whose pooled cells all stand for as many tokens.
import { describe, expect, test } from "vitest";
import { labelPlaces, niceStep } from "../../src/map/label-places";
import { overlaps, segments, side, TILE } from "../../src/map/segments";

describe("labels", () => {
  const cells = [0.05, 0.3, 0.9, 3, 7, 13, 14, 30, 64];
  const starts = [0, 0.5, 17.25, 4000];

  test.each(cells.flatMap((cell) => starts.map((start) => [cell, start] as const)))(
    "never overlap at %f px from %f",
    (cell, start) => {
      const range = { start: Math.floor(start), stop: Math.min(8192, Math.ceil(start + 700 / cell)) };
      const chosen = [range.start + 1, range.start + 2, range.stop - 1];
      const places = labelPlaces(range, start, cell, 14, chosen, 700);
      places.slice(1).forEach((place, index) => expect(place.at - places[index]!.at).toBeGreaterThanOrEqual(14 - 1e-6));
      places.forEach((place) => expect(place.at >= 0 && place.at <= 700).toBe(true));
      const first = chosen.find((index) => (index + 0.5 - start) * cell >= 0);
      expect(places.some((place) => place.index === first && place.chosen)).toBe(true);
    },
  );

  test("all have one where there is room", () => {
    expect(labelPlaces({ start: 0, stop: 15 }, 0, 28, 14, [], 420).map((place) => place.index)).toEqual([
      ...Array(15).keys(),
    ]);
  });

  test("stay on the same tokens while the map moves", () => {
    const at = (start: number) =>
      labelPlaces({ start, stop: start + 100 }, start, 3, 14, [], 300).map((place) => place.index);
    expect(at(3)).toEqual(
      at(0)
        .filter((index) => index >= 3)
        .concat(at(3).filter((index) => index >= 100)),
    );
  });

  test("thin out in steps that can be counted in", () => {
    expect([0.2, 1, 1.2, 2.5, 7, 11, 30, 220].map(niceStep)).toEqual([1, 1, 2, 5, 10, 20, 50, 500]);
  });
});

describe("segments", () => {
  test.each(
    [0, 1].flatMap((start) =>
      [1, 2, 255, 256, 257, 2048, 8191, 8192].flatMap((stop) =>
        [0, 1, 3, 5].map((level) => [start, stop, level] as const),
      ),
    ),
  )("from %i to %i at level %i cover the axis once, each cell as many tokens", (start, stop, level) => {
    if (start >= stop) return expect(segments({ start, stop }, level)).toEqual([]);
    const parts = segments({ start, stop }, level);
    expect(parts[0]!.start).toBe(start);
    expect(parts.at(-1)!.stop).toBe(stop);
    parts.slice(1).forEach((part, index) => expect(part.start).toBe(parts[index]!.stop));
    parts.forEach((part, index) => {
      expect(part.cells).toBeLessThanOrEqual(side(level));
      const each = (part.stop - part.start) / part.cells;
      expect(each === 2 ** level || (index === parts.length - 1 && part.cells === 1 && each < 2 ** level)).toBe(true);
    });
  });

  test("stand for at most about a thousand tokens, so that a large map appears bit by bit", () => {
    expect([0, 1, 2, 3, 5, 8].map(side)).toEqual([TILE, TILE, TILE, 128, 32, 32]);
  });

  test("overlap when they share a token", () => {
    expect(overlaps({ start: 0, stop: 3 }, { start: 2, stop: 5 })).toBe(true);
    expect(overlaps({ start: 0, stop: 3 }, { start: 3, stop: 5 })).toBe(false);
  });
});
