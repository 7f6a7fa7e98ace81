// The cells of a map: their colours, the gaps between them, where nothing may be seen, and what is chosen.

import { BROKEN, BROKEN_DIFFERENCE } from "../colour";
import { widthOf } from "./label-text";
import type { Pen, Point } from "./pen";
import { type Placed, reach, type Scene, SEPARATE, STRIP } from "./scene";
import { visible } from "./viewport";

/** Steps of an edge that are drawn one by one; of more, a slanted line says the same. */
const MOST_STEPS = 400;

export function drawCells(pen: Pen, scene: Scene): void {
  const { left, top, pane } = scene.layout;
  pen.within(left, top, pane.width, pane.height, () => {
    for (const one of scene.placed) drawPicture(pen, scene, one);
    if (scene.view.cell * scene.ratio >= SEPARATE) drawGaps(pen, scene);
    drawBroken(pen, scene);
  });
  drawStrip(pen, scene);
  pen.within(left - 3, top - 3, pane.width + 6, pane.height + 6, () => {
    drawEdge(pen, scene);
    drawMark(pen, scene);
    drawChoice(pen, scene);
  });
}

/** Whether the first token's column is drawn beside the map too, because it is too thin to be seen in it. */
export function hasStrip(scene: Scene): boolean {
  return !scene.ink.difference && scene.view.cell < STRIP - 1 && scene.view.x < 1 && scene.size.columns > 1;
}

const across = (scene: Scene, key: number): number => scene.layout.left + (key - scene.view.x) * scene.view.cell;
const down = (scene: Scene, query: number): number => scene.layout.top + (query - scene.view.y) * scene.view.cell;

function drawPicture(pen: Pen, scene: Scene, { picture, rows, columns, holes }: Placed): void {
  const [x, y] = [across(scene, columns.start), down(scene, rows.start)];
  const [width, height] = [
    (columns.stop - columns.start) * scene.view.cell,
    (rows.stop - rows.start) * scene.view.cell,
  ];
  pen.rect(x, y, width, height, scene.colours.paper);
  if (holes) pen.within(x, y, width, height, () => pen.hatch(past(scene), scene.colours.line));
  pen.picture(picture, x, y, width, height);
}

/** The part of the pane that the order of the text would let be seen. */
function past(scene: Scene): Point[] {
  const { rows, columns } = visible(scene.view, scene.size, scene.layout.pane);
  const left = across(scene, columns.start);
  if (!scene.causal) {
    const right = across(scene, columns.stop);
    return [
      [left, down(scene, rows.start)],
      [right, down(scene, rows.start)],
      [right, down(scene, rows.stop)],
      [left, down(scene, rows.stop)],
    ];
  }
  const side = stairs(scene, rows.start, rows.stop, (query) => query + 1);
  return [[left, down(scene, rows.start)], ...side, [left, down(scene, rows.stop)]];
}

/** The points of an edge that lies at a key for each row. */
function stairs(scene: Scene, start: number, stop: number, edge: (query: number) => number): Point[] {
  const points: Point[] = [];
  if (stop - start > MOST_STEPS) {
    return [
      [across(scene, edge(start)), down(scene, start)],
      [across(scene, edge(stop - 1)), down(scene, stop)],
    ];
  }
  for (let query = start; query < stop; query++) {
    const x = across(scene, edge(query));
    points.push([x, down(scene, query)], [x, down(scene, query + 1)]);
  }
  return points;
}

/** A thin line around what may be seen, so that blank paper is not taken for a pale 0. */
function drawEdge(pen: Pen, scene: Scene): void {
  const { rows } = visible(scene.view, scene.size, scene.layout.pane);
  const right = stairs(scene, rows.start, rows.stop, (query) => reach(scene, query)[1]);
  const left = stairs(scene, rows.start, rows.stop, (query) => reach(scene, query)[0]);
  const bends = scene.window === null ? [] : [bend(scene, rows.start, rows.stop)].flat();
  const back = bends.length && rows.stop - rows.start > MOST_STEPS ? [left[0]!, ...bends, left.at(-1)!] : left;
  pen.line([...right, ...back.reverse(), right[0]!], scene.colours.line, 1);
}

/** Where a window's edge leaves the first column, when the edge is drawn as slanted lines. */
function bend(scene: Scene, start: number, stop: number): Point[] {
  const query = scene.window! - 1;
  return query > start && query < stop ? [[across(scene, 0), down(scene, query)]] : [];
}

function drawGaps(pen: Pen, scene: Scene): void {
  const { rows, columns } = visible(scene.view, scene.size, scene.layout.pane);
  const thin = 1 / scene.ratio;
  const [left, right] = [across(scene, columns.start), across(scene, columns.stop)];
  const [top, bottom] = [down(scene, rows.start), down(scene, rows.stop)];
  for (let key = columns.start + 1; key < columns.stop; key++)
    pen.rect(across(scene, key), top, thin, bottom - top, scene.colours.paper);
  for (let query = rows.start + 1; query < rows.stop; query++)
    pen.rect(left, down(scene, query), right - left, thin, scene.colours.paper);
}

/** A cross in each cell that is not a number, on paper: no colour of the scale. */
function drawBroken(pen: Pen, scene: Scene): void {
  const { theme, difference } = scene.ink;
  const mark = (difference ? BROKEN_DIFFERENCE : BROKEN)[theme];
  const side = scene.view.cell;
  for (const { query, key } of scene.broken) {
    const [x, y] = [across(scene, key), down(scene, query)];
    const edge = side * 0.28;
    pen.rect(x, y, side, side, scene.colours.paper);
    pen.line(
      [
        [x + edge, y + edge],
        [x + side - edge, y + side - edge],
      ],
      mark,
      1.5,
    );
    pen.line(
      [
        [x + side - edge, y + edge],
        [x + edge, y + side - edge],
      ],
      mark,
      1.5,
    );
  }
}

/** The first token's column set beside the map, wide enough to be seen. */
function drawStrip(pen: Pen, scene: Scene): void {
  if (!hasStrip(scene)) return;
  const { left, top, pane } = scene.layout;
  const x = left - STRIP - 3;
  pen.within(x, top, STRIP, pane.height, () => {
    for (const { picture, rows, first } of scene.placed) {
      if (!first) continue;
      const [y, height] = [down(scene, rows.start), (rows.stop - rows.start) * scene.view.cell];
      pen.rect(x, y, STRIP, height, scene.colours.paper);
      pen.picture(picture, x, y, STRIP, height);
    }
  });
}

function drawMark(pen: Pen, scene: Scene): void {
  if (!scene.mark) return;
  const y = down(scene, scene.mark.query);
  const { left, pane } = scene.layout;
  const right = Math.min(left + pane.width, across(scene, scene.size.columns));
  pen.line(
    [
      [left, y],
      [right, y],
    ],
    scene.colours.ink,
    1,
    true,
  );
  const width = widthOf(scene.mark.text) + 8;
  pen.rect(right - width, y - 18, width, 16, scene.colours.paper);
  pen.text(scene.mark.text, right - 4, y - 10, { align: "right", colour: scene.colours.ink });
}

/** A frame around what the chosen row may see, and a thicker one around the chosen cell. */
function drawChoice(pen: Pen, scene: Scene): void {
  if (scene.query === null) return;
  const { cell } = scene.view;
  const [start, stop] = reach(scene, scene.query);
  const y = down(scene, scene.query);
  const height = Math.max(cell, 3);
  pen.frame(across(scene, start), y, Math.max(cell, (stop - start) * cell), height, scene.colours.accent, 1.5);
  if (scene.choice === null) return;
  const [x, width] = [across(scene, scene.choice), Math.max(cell, 5)];
  const spread = (width - cell) / 2;
  pen.frame(x - spread - 1, y - spread - 1, width + 2, Math.max(cell, 5) + 2, scene.colours.paper, 1);
  pen.frame(x - spread, y - spread, width, Math.max(cell, 5), scene.colours.choice, 2);
}
