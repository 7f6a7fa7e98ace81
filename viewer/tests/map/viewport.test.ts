// Zooming, panning and finding cells, as properties over many maps, panes and pixel ratios.
import { describe, expect, test } from "vitest";
import {
  cellAt,
  clamp,
  fit,
  isWhole,
  LARGEST_CELL,
  levelOf,
  pan,
  reveal,
  visible,
  zoomAt,
} from "../../src/map/viewport";

const SIZES = [1, 2, 15, 100, 2048, 8192].flatMap((rows) => [1, 15, 2048, 8192].map((columns) => ({ rows, columns })));
const PANES = [
  { width: 700, height: 560 },
  { width: 280, height: 300 },
];
const CASES = SIZES.flatMap((size) =>
  PANES.flatMap((pane) => [1, 1.5, 2].map((ratio) => [size, pane, ratio] as const)),
);

test.each(CASES)("the whole map fits: %o in %o at %f", (size, pane, ratio) => {
  const view = fit(size, pane, ratio);
  expect(view.cell * size.columns).toBeLessThanOrEqual(pane.width + 1e-9);
  expect(view.cell * size.rows).toBeLessThanOrEqual(pane.height + 1e-9);
  expect(visible(view, size, pane)).toEqual({
    rows: { start: 0, stop: size.rows },
    columns: { start: 0, stop: size.columns },
  });
  expect(isWhole(view, size, pane, ratio)).toBe(true);
  // Cells of two device pixels and more are whole pixels, so that all look the same size.
  if (view.cell * ratio >= 2) expect(view.cell * ratio).toBeCloseTo(Math.round(view.cell * ratio), 9);
});

test.each(CASES)("blocks take one to two device pixels: %o in %o at %f", (size, pane, ratio) => {
  const { cell } = fit(size, pane, ratio);
  const device = cell * ratio * 2 ** levelOf(cell, ratio);
  expect(device).toBeGreaterThanOrEqual(1 - 1e-6);
  if (levelOf(cell, ratio) > 0) expect(device).toBeLessThan(2);
});

describe("zooming", () => {
  const size = { rows: 2048, columns: 2048 };
  const pane = PANES[0]!;

  test("keeps the cell under the pointer", () => {
    let view = fit(size, pane, 1);
    for (const factor of [2, 3, 1.7, 0.6]) {
      const before = cellAt(view, 333, 222, size);
      view = zoomAt(view, factor, 333, 222, size, pane, 1);
      const after = cellAt(view, 333, 222, size)!;
      expect(Math.abs(after.key - before!.key) + Math.abs(after.query - before!.query)).toBeLessThanOrEqual(1);
    }
  });

  test("reaches single cells, and goes no further", () => {
    let view = fit(size, pane, 1);
    for (let times = 0; times < 40; times++) view = zoomAt(view, 1.5, 100, 100, size, pane, 1);
    expect(view.cell).toBe(LARGEST_CELL);
  });

  test("out ends with the whole map", () => {
    let view = zoomAt(fit(size, pane, 1), 50, 600, 500, size, pane, 1);
    for (let times = 0; times < 40; times++) view = zoomAt(view, 0.5, 10, 400, size, pane, 1);
    expect(view).toEqual(fit(size, pane, 1));
  });

  test("a map of one token can be zoomed as far as any", () => {
    const one = { rows: 1, columns: 1 };
    expect(zoomAt(fit(one, pane, 1), 9, 0, 0, one, pane, 1).cell).toBe(LARGEST_CELL);
  });
});

test("panning never leaves the map", () => {
  const size = { rows: 500, columns: 300 };
  const pane = PANES[0]!;
  let view = zoomAt(fit(size, pane, 1), 12, 300, 300, size, pane, 1);
  for (const [dx, dy] of [
    [9000, 0],
    [-90000, 50],
    [3, -90000],
    [-1, 90000],
  ] as const) {
    view = pan(view, dx, dy, size, pane);
    expect(view).toEqual(clamp(view, size, pane));
    expect(view.x).toBeGreaterThanOrEqual(0);
    expect(view.x + pane.width / view.cell).toBeLessThanOrEqual(size.columns + 1e-9);
    expect(view.y + pane.height / view.cell).toBeLessThanOrEqual(size.rows + 1e-9);
  }
});

test("a cell that is revealed is on screen, and one that is there stays where it is", () => {
  const size = { rows: 1000, columns: 1000 };
  const pane = PANES[0]!;
  let view = zoomAt(fit(size, pane, 1), 40, 0, 0, size, pane, 1);
  for (const cell of [
    { query: 999, key: 0 },
    { query: 0, key: 999 },
    { query: 500, key: 501 },
    { query: 499, key: 501 },
  ]) {
    view = reveal(view, cell, size, pane);
    const seen = visible(view, size, pane);
    expect(seen.rows.start).toBeLessThanOrEqual(cell.query);
    expect(seen.rows.stop).toBeGreaterThan(cell.query);
    expect(seen.columns.start).toBeLessThanOrEqual(cell.key);
    expect(seen.columns.stop).toBeGreaterThan(cell.key);
    expect(reveal(view, cell, size, pane)).toEqual(view);
  }
});

test("beside the map there is no cell", () => {
  const size = { rows: 3, columns: 2 };
  const view = { cell: 10, x: 0, y: 0 };
  expect(cellAt(view, 19, 29, size)).toEqual({ query: 2, key: 1 });
  for (const [x, y] of [
    [20, 5],
    [5, 30],
    [-1, 5],
    [5, -1],
  ] as const)
    expect(cellAt(view, x, y, size)).toBeNull();
});
