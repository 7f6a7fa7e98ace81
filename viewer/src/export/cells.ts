// The numbers of the cells on screen: every single one, also where the screen shows pooled ones.

import type { ReadingSource } from "../data/types";
import type { Scene } from "../map/scene";
import { visible } from "../map/viewport";
import type { Cells } from "./table";

/** A table of more numbers than this is larger than what a browser can hold as text. */
const MOST = 4_000_000;

export async function cellsOf(scene: Scene, source: ReadingSource, layer: number, head: number | null): Promise<Cells> {
  const { rows, columns } = visible(scene.view, scene.size, scene.layout.pane);
  const [height, width] = [rows.stop - rows.start, columns.stop - columns.start];
  if (height * width > MOST) {
    const found = `${height} × ${width} cells are on screen`;
    throw new Error(`${found}: at most 4 million numbers are saved at once. Zoom in, or use heedmap map -o map.csv.`);
  }
  const tile = await source.tile(layer, head, rows, columns, height, width, "mean");
  const named = (tokens: Scene["queries"], start: number, stop: number) =>
    tokens
      .slice(start, stop)
      .map(({ label, pair }, index) => ({ index: start + index, label, ...(pair ? { tokens: pair } : {}) }));
  return {
    queries: named(scene.queries, rows.start, rows.stop),
    keys: named(scene.keys, columns.start, columns.stop),
    weights: tile.weights,
    allowed: tile.allowed,
  };
}
