// The cross that leads the eye from a cell to both of its words.

import type { Pen } from "./pen";
import type { Scene } from "./scene";
import type { Cell } from "./viewport";

export function drawCrosshair(pen: Pen, scene: Scene, { query, key }: Cell): void {
  const { left, top, pane } = scene.layout;
  const { cell, x, y } = scene.view;
  const [px, py] = [left + (key - x) * cell, top + (query - y) * cell];
  const colour = scene.colours.quiet;
  pen.within(left - 4, top - 4, pane.width + 8, pane.height + 8, () => {
    pen.line(
      [
        [left, py + cell / 2],
        [px, py + cell / 2],
      ],
      colour,
      1,
    );
    pen.line(
      [
        [px + cell / 2, top],
        [px + cell / 2, py],
      ],
      colour,
      1,
    );
    const side = Math.max(cell, 5);
    pen.frame(px - (side - cell) / 2, py - (side - cell) / 2, side, side, scene.colours.ink, 1.5);
  });
}
