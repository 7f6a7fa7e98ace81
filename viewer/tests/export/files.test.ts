// @vitest-environment happy-dom
// Files of what is on screen: tables as Python writes them, strict JSON, SVG with nothing that acts.
import { describe, expect, test } from "vitest";
import { MadeUp } from "../../bench/made-up";
import { cellsOf } from "../../src/export/cells";
import { fileName } from "../../src/export/save";
import { SvgPen } from "../../src/export/svg-pen";
import { csv, json, shortest } from "../../src/export/table";
import type { Scene } from "../../src/map/scene";
import { fit } from "../../src/map/viewport";

const CELLS = {
  queries: [
    { index: 4, label: "The" },
    { index: 5, label: "cat" },
  ],
  keys: [
    { index: 4, label: "=1+1" },
    { index: 5, label: 'say "hi", you' },
  ],
  weights: Float32Array.of(1, 0, 0.1, NaN),
  allowed: Uint8Array.of(1, 0, 1, 1),
};

test("a table is the one that `heedmap map -o map.csv` writes", () => {
  expect(csv(CELLS)).toBe(
    ['from (query) \\ to (key),\'=1+1,"say ""hi"", you"', "The,1,", "cat,0.1,nan", ""].join("\n"),
  );
});

test("JSON has null for what is forbidden and names what is not a number", () => {
  const text = json(CELLS, { model: { name: "smollm2" }, layer: 16, head: null });
  expect(text).not.toContain("NaN");
  expect(JSON.parse(text)).toMatchObject({
    schema: "heedmap/map-part/1",
    layer: 16,
    head: null,
    not_numbers: [[5, 5]],
    weights: [
      [1, null],
      [Math.fround(0.1), null],
    ],
    queries: [
      { index: 4, label: "The" },
      { index: 5, label: "cat" },
    ],
  });
});

test.each([
  [Math.fround(0.1), 0.1],
  [Math.fround(1 / 3), 0.33333334],
  [0, 0],
  [Math.fround(3.12e-5), 3.12e-5],
])("%d is written %d", (number, short) => {
  expect(shortest(number)).toBe(short);
  expect(Math.fround(shortest(number))).toBe(Math.fround(number));
});

describe("an SVG", () => {
  test("keeps hostile text as text", () => {
    const pen = new SvgPen(100, 50);
    pen.text('</text><script>alert("&")</script>', 1, 2, { align: "left", colour: "#000", turn: 60 });
    const written = pen.toString();
    expect(pen.root.querySelector("script")).toBeNull();
    expect(pen.root.querySelector("text")!.textContent).toContain("<script>");
    expect(written).not.toContain("<script>");
  });

  test("has the shapes that were drawn", () => {
    const pen = new SvgPen(100, 50);
    pen.within(0, 0, 50, 50, () => pen.rect(1.00049, 2, 3, 4, "#112233"));
    pen.line(
      [
        [0, 0],
        [5, 5],
      ],
      "#000",
      1,
      true,
    );
    pen.hatch(
      [
        [0, 0],
        [5, 5],
        [0, 5],
      ],
      "#444",
    );
    pen.frame(0, 0, 9, 9, "#c2410c", 2);
    const rect = pen.root.querySelector("g > rect")!;
    expect(["x", "y", "width", "height", "fill"].map((name) => rect.getAttribute(name))).toEqual([
      "1",
      "2",
      "3",
      "4",
      "#112233",
    ]);
    expect(pen.root.querySelector("polyline")!.getAttribute("stroke-dasharray")).toBe("4 3");
    expect(pen.root.querySelectorAll("pattern").length).toBe(1);
    expect(pen.root.querySelector("g")!.getAttribute("clip-path")).toMatch(/^url\(#within-/);
  });
});

test.each([
  [["smollm2", "self", "layer 16, head 3"], "png", "smollm2-self-layer-16-head-3.png"],
  [["../../etc/passwd"], "csv", "etc-passwd.csv"],
  [["日本"], "json", "map.json"],
])("%o is saved as %s", (parts, suffix, name) => expect(fileName(parts, suffix)).toBe(name));

describe("the cells on screen", () => {
  const sceneOf = (tokens: number) => {
    const source = new MadeUp({ tokens });
    const size = { rows: tokens, columns: tokens };
    const pane = { width: 500, height: 500 };
    return {
      source,
      scene: {
        view: fit(size, pane, 1),
        size,
        layout: { pane },
        queries: source.queries.tokens,
        keys: source.keys.tokens,
      } as unknown as Scene,
    };
  };

  test("are saved one by one, also where the screen shows blocks", async () => {
    const { source, scene } = sceneOf(600);
    const cells = await cellsOf(scene, source, 0, 1);
    const row = await source.row(0, 1, 599);
    expect([cells.queries.length, cells.keys.length]).toEqual([600, 600]);
    expect(Array.from(cells.weights).slice(599 * 600)).toEqual([...row.weights]);
  });

  test("are refused when they are too many, with a way on", async () => {
    const { source, scene } = sceneOf(2100);
    await expect(cellsOf(scene, source, 0, 1)).rejects.toThrow(
      "2100 × 2100 cells are on screen: at most 4 million numbers",
    );
  });
});
