// What a map says in words, and what its keys do.
import { describe, expect, test } from "vitest";
import { MadeUp } from "../../bench/made-up";
import { cellText, exactText, placeText, plural, reason } from "../../src/map/cell-text";
import { actionOf } from "../../src/map/keys";
import { shortened } from "../../src/map/label-text";
import { ticksOf } from "../../src/map/legend";

test.each([
  [0, "0"],
  [0.56512, "0.5651"],
  [1, "1.0000"],
  [0.0000312, "3.12e-5"],
  [-0.25, "−0.2500"],
  [-2e-6, "−2.00e-6"],
  [NaN, "not a number (nan)"],
])("%d is written %s", (number, text) => expect(exactText(number)).toBe(text));

describe("a cell", () => {
  const source = new MadeUp({ tokens: 40, window: 10, padding: 2, broken: [[12, 5]] });
  const info = source.layers[0]!;

  test("says who looks, who is looked at, and the number", async () => {
    const row = await source.row(0, 1, 10);
    expect(cellText(source, info, { query: 10, key: 4 }, row)).toEqual({
      looking: "it",
      looked: "fit",
      verb: "looks at",
      value: exactText(row.weights[4]!),
      absent: false,
    });
  });

  test.each([
    [{ query: 10, key: 11 }, "it comes later"],
    [{ query: 20, key: 5 }, "it lies outside the window of 10 tokens"],
    [{ query: 5, key: 1 }, "it is masked (padding, or cut out)"],
  ])("%o may not be looked at: %s", async (cell, why) => {
    expect(reason(info, cell)).toBe(why);
    const row = await source.row(0, 1, cell.query);
    expect(cellText(source, info, cell, row)).toMatchObject({ verb: "may not look at", value: why, absent: true });
  });

  test("that is not a number says so", async () => {
    const found = cellText(source, info, { query: 12, key: 5 }, await source.row(0, 1, 12));
    expect(found).toMatchObject({ verb: "looks at", value: "not a number (nan)", absent: true });
  });

  test("whose number is on its way has none yet", () => {
    expect(cellText(source, info, { query: 3, key: 2 }, null).value).toBe("…");
  });

  test("knows its head", () => {
    expect([placeText(info, 3), placeText(info, null)]).toEqual(["layer 0, head 3", "layer 0, mean of 4 heads"]);
  });

  test("many weights are weights, many differences differences", () => {
    expect([plural("weight"), plural("difference of weights")]).toEqual(["weights", "differences of weights"]);
  });
});

describe("keys", () => {
  const size = { rows: 30, columns: 20 };
  const press = (key: string, more: Partial<KeyboardEvent> = {}) =>
    actionOf({ key, ctrlKey: false, shiftKey: false, metaKey: false, altKey: false, ...more }, 10, 5, size);

  test.each([
    ["ArrowUp", {}, 9, 5],
    ["ArrowDown", {}, 11, 5],
    ["ArrowLeft", {}, 10, 4],
    ["ArrowRight", {}, 10, 6],
    ["Home", {}, 10, 0],
    ["End", {}, 10, 19],
    ["Home", { ctrlKey: true }, 0, 5],
    ["End", { ctrlKey: true }, 29, 5],
    ["PageUp", {}, 0, 5],
    ["PageDown", {}, 20, 5],
  ])("%s %o", (key, more, query, column) => expect(press(key, more)).toEqual({ kind: "move", query, key: column }));

  test("stay on the map", () => {
    expect(
      actionOf({ key: "ArrowUp", ctrlKey: false, shiftKey: false, metaKey: false, altKey: false }, 0, 0, size),
    ).toEqual({ kind: "move", query: 0, key: 0 });
  });

  test("zoom, move the view and let go", () => {
    expect(press("+")).toEqual({ kind: "zoom", factor: 1.5 });
    expect(press("-")).toEqual({ kind: "zoom", factor: 1 / 1.5 });
    expect(press("0")).toEqual({ kind: "whole" });
    expect(press("Escape")).toEqual({ kind: "clear" });
    expect(press("ArrowRight", { shiftKey: true })).toEqual({ kind: "pan", dx: -60, dy: -0 });
  });

  test("that belong to the browser are left to it", () => {
    for (const [key, more] of [
      ["+", { ctrlKey: true }],
      ["ArrowLeft", { altKey: true }],
      ["Tab", {}],
      ["a", {}],
      ["0", { metaKey: true }],
    ] as const) {
      expect(press(key, more)).toBeNull();
    }
  });
});

describe("labels are cut between characters as people see them", () => {
  const width = (text: string) => [...new Intl.Segmenter().segment(text)].length * 10;

  test.each([
    ["suitcase", 80, "suitcase"],
    ["suitcase", 50, "suit…"],
    ["e\u0301e\u0301e\u0301e\u0301", 30, "e\u0301e\u0301…"],
    ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 20, "👩‍👩‍👧‍👦…"],
    ["it", 5, "…"],
  ])("%s", (text, room, wanted) => expect(shortened(text, room, width)).toBe(wanted));
});

describe("numbers beside a scale", () => {
  test("of a linear one: its ends and its middle", () =>
    expect(ticksOf({ scale: "linear", top: 0.4 })).toEqual([0, 0.2, 0.4]));

  test.each([1, 0.4, 0.05, 0.0007])("of a logarithmic one up to %d: powers of ten between its ends", (top) => {
    const ticks = ticksOf({ scale: "log", top });
    expect([ticks[0], ticks.at(-1)]).toEqual([Math.min(1e-4, top / 100), top]);
    ticks.slice(1).forEach((tick, index) => expect(tick).toBeGreaterThan(ticks[index]! * 1.5));
    ticks.slice(1, -1).forEach((tick) => expect(Math.log10(tick)).toBeCloseTo(Math.round(Math.log10(tick)), 9));
  });
});
