// @vitest-environment happy-dom
// What is drawn, seen by a pen that writes down every stroke.
import { describe, expect, test } from "vitest";
import { MadeUp, type Shape } from "../../bench/made-up";
import { drawCrosshair } from "../../src/map/crosshair";
import { drawCells, hasStrip } from "../../src/map/draw-cells";
import { drawLabels } from "../../src/map/draw-labels";
import type { Lettering, Pen, Point } from "../../src/map/pen";
import { layoutOf, reach, type Scene } from "../../src/map/scene";
import { fit } from "../../src/map/viewport";

interface Stroke {
  kind: string;
  numbers: number[];
  text?: string;
  colour?: string;
  how?: Lettering;
}

class Notes implements Pen {
  readonly strokes: Stroke[] = [];
  private add(kind: string, numbers: number[], more: Partial<Stroke> = {}): void {
    this.strokes.push({ kind, numbers, ...more });
  }
  rect = (x: number, y: number, w: number, h: number, colour: string) => this.add("rect", [x, y, w, h], { colour });
  frame = (x: number, y: number, w: number, h: number, colour: string) => this.add("frame", [x, y, w, h], { colour });
  line = (points: readonly Point[], colour: string) => this.add("line", points.flat(), { colour });
  hatch = (points: readonly Point[], colour: string) => this.add("hatch", points.flat(), { colour });
  text = (text: string, x: number, y: number, how: Lettering) =>
    this.add("text", [x, y], { text: text.replace(/[\u2068\u2069]/g, ""), colour: how.colour, how });
  picture = (_: HTMLCanvasElement, x: number, y: number, w: number, h: number) => this.add("picture", [x, y, w, h]);
  within = (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw();
  of = (kind: string) => this.strokes.filter((stroke) => stroke.kind === kind);
}

const COLOURS = {
  paper: "paper",
  ink: "ink",
  quiet: "quiet",
  line: "line",
  accent: "accent",
  choice: "choice",
  sand: "sand",
};

function sceneOf(shape: Shape, change: Partial<Scene> = {}): Scene {
  const source = new MadeUp(shape);
  const size = { rows: source.queries.tokens.length, columns: source.keys.tokens.length };
  const layout = layoutOf(700, 640, size, source.queries.tokens, source.keys.tokens);
  return {
    layout,
    size,
    view: fit(size, layout.pane, 1),
    ratio: 1,
    colours: COLOURS,
    ink: { theme: "light", scale: "linear", top: 1, difference: false },
    queries: source.queries.tokens,
    keys: source.keys.tokens,
    placed: [],
    broken: [],
    causal: shape.causal ?? true,
    window: shape.window ?? null,
    query: null,
    choice: null,
    mark: null,
    ...change,
  };
}

function drawn(scene: Scene, hover: { query: number; key: number } | null = null): Notes {
  const pen = new Notes();
  drawCells(pen, scene);
  if (hover) drawCrosshair(pen, scene, hover);
  drawLabels(pen, scene, hover);
  return pen;
}

describe("the axes", () => {
  test("say who looks and who is looked at", () => {
    const texts = drawn(sceneOf({ tokens: 15 }))
      .of("text")
      .map((stroke) => stroke.text);
    expect(texts).toContain("to (key): who is looked at →");
    expect(texts).toContain("← from (query): who looks");
  });

  test("of a short text have every token as a label, columns slanted", () => {
    const labels = drawn(sceneOf({ tokens: 15 }))
      .of("text")
      .filter((stroke) => !/query|key/.test(stroke.text!));
    expect(labels.filter((stroke) => stroke.how!.turn === 60).length).toBe(15);
    expect(labels.filter((stroke) => !stroke.how!.turn).length).toBe(15);
  });

  test("of a long text have labels with numbers that never overlap", () => {
    const labels = drawn(sceneOf({ tokens: 2048 }))
      .of("text")
      .filter((stroke) => /^\d/.test(stroke.text!));
    const rows = labels.filter((stroke) => !stroke.how!.turn).map((stroke) => stroke.numbers[1]!);
    expect(rows.length).toBeGreaterThan(10);
    rows.slice(1).forEach((y, index) => expect(y - rows[index]!).toBeGreaterThanOrEqual(14));
  });

  test("name the first token in sand, on a map of differences it is like any other", () => {
    const colourOf = (scene: Scene) =>
      drawn(scene)
        .of("text")
        .find((stroke) => stroke.how!.turn === 60)!.colour;
    expect(colourOf(sceneOf({ tokens: 15 }))).toBe("sand");
    const scene = sceneOf({ tokens: 15 });
    expect(colourOf({ ...scene, ink: { ...scene.ink, difference: true } })).toBe("ink");
  });

  test("have the chosen and the pointed words in bold", () => {
    const pen = drawn(sceneOf({ tokens: 15 }, { query: 10, choice: 1 }), { query: 4, key: 2 });
    const bold = pen
      .of("text")
      .filter((stroke) => stroke.how!.bold)
      .map((stroke) => `${stroke.text} ${stroke.colour}`);
    expect(bold.sort()).toEqual(["did accent", "fit accent", "it ink", "trophy ink"]);
  });
});

describe("what may be seen", () => {
  test.each([
    [{ tokens: 20 }, 7, [0, 8]],
    [{ tokens: 20, window: 5 }, 7, [3, 8]],
    [{ tokens: 20, window: 50 }, 7, [0, 8]],
    [{ tokens: 20, causal: false }, 7, [0, 20]],
  ])("of %o row %i reaches %o", (shape, query, wanted) => expect(reach(sceneOf(shape), query)).toEqual(wanted));

  test("is framed by a line along the diagonal", () => {
    const scene = sceneOf({ tokens: 15 });
    const edge = drawn(scene).of("line")[0]!.numbers;
    const { left, top } = scene.layout;
    const side = scene.view.cell;
    // The first two corners: the right end of the first row, then one step down.
    expect(edge.slice(0, 4)).toEqual([left + side, top, left + side, top + side]);
  });

  test("of a chosen row has a frame of exactly those cells", () => {
    const scene = sceneOf({ tokens: 20, window: 5 }, { query: 7, choice: 4 });
    const [row, , cell] = drawn(scene).of("frame");
    const side = scene.view.cell;
    expect(row!.numbers).toEqual([scene.layout.left + 3 * side, scene.layout.top + 7 * side, 5 * side, side]);
    expect([row!.colour, cell!.colour]).toEqual(["accent", "choice"]);
    expect(cell!.numbers).toEqual([scene.layout.left + 4 * side, scene.layout.top + 7 * side, side, side]);
  });
});

test("a cell that is not a number has a cross on paper", () => {
  const scene = sceneOf({ tokens: 15 }, { broken: [{ query: 9, key: 4 }] });
  const pen = drawn(scene);
  const before = drawn({ ...scene, broken: [] });
  expect(pen.of("line").length).toBe(before.of("line").length + 2);
});

test("gaps stand between cells that are large enough, and nowhere else", () => {
  expect(drawn(sceneOf({ tokens: 15 })).of("rect").length).toBe(28);
  expect(drawn(sceneOf({ tokens: 600 })).of("rect").length).toBe(0);
});

test("a first token too thin to be seen is drawn beside the map", () => {
  const long = sceneOf({ tokens: 600 });
  expect([hasStrip(long), hasStrip(sceneOf({ tokens: 15 }))]).toEqual([true, false]);
  expect(hasStrip({ ...long, view: { ...long.view, cell: 2, x: 50 } })).toBe(false);
  expect(hasStrip({ ...long, ink: { ...long.ink, difference: true } })).toBe(false);
  const placed = [
    {
      picture: document.createElement("canvas"),
      rows: { start: 0, stop: 600, cells: 600 },
      columns: { start: 0, stop: 1, cells: 1 },
      first: true,
      holes: true,
    },
  ];
  const pen = drawn({ ...long, placed });
  expect(pen.of("picture").map((stroke) => stroke.numbers[2])).toEqual([long.view.cell, 7]);
  expect(pen.of("hatch").length).toBe(1);
});

test("a line marks up to where two texts are the same", () => {
  const pen = drawn(sceneOf({ tokens: 15 }, { mark: { query: 13, text: "must be 0" } }));
  expect(pen.of("text").map((stroke) => stroke.text)).toContain("must be 0");
});
