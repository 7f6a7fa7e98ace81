// The words along a map and what its axes are: who looks, and who is looked at.

import { visible } from "../app/parts";
import { tokenNumber } from "./cell-text";
import { hasStrip } from "./draw-cells";
import { labelPlaces } from "./label-places";
import { shortened, widthOf } from "./label-text";
import { isolated, type Pen } from "./pen";
import { type Scene, STRIP, TURN } from "./scene";
import { visible as visibleCells } from "./viewport";
import type { Token } from "../data/types";

/** CSS pixels from one label to the next; slanted ones are then 12 apart, as high as their letters. */
const ROOM = 14;
/** Where not every token has a label, they may as well be easy to tell apart. */
const THINNED_ROOM = 22;

export function drawLabels(pen: Pen, scene: Scene, hover: { query: number; key: number } | null = null): void {
  drawTitles(pen, scene);
  drawRowLabels(pen, scene, hover?.query ?? null);
  drawColumnLabels(pen, scene, hover?.key ?? null);
}

function drawTitles(pen: Pen, scene: Scene): void {
  const { left, top, titleX, titleY, pane } = scene.layout;
  const { quiet } = scene.colours;
  const { rows, columns } = visibleCells(scene.view, scene.size, pane);
  const width = Math.min(pane.width, (columns.stop - scene.view.x) * scene.view.cell);
  const height = Math.min(pane.height, (rows.stop - scene.view.y) * scene.view.cell);
  pen.text("to (key): who is looked at →", left + width, titleY, {
    align: left + width > 190 ? "right" : "centre",
    colour: quiet,
  });
  // Beside short maps the whole sentence would stick out.
  const title = height > 190 ? "← from (query): who looks" : "from (query)";
  pen.text(title, titleX, top + height / 2, { align: "centre", colour: quiet, turn: 90 });
}

function drawRowLabels(pen: Pen, scene: Scene, hover: number | null): void {
  const { left, top, pane, rowRoom } = scene.layout;
  const { rows } = visibleCells(scene.view, scene.size, pane);
  const chosen = [hover, scene.query].filter((index) => index !== null);
  const thinned = isThinned(scene, ROOM);
  const places = labelPlaces(rows, scene.view.y, scene.view.cell, thinned ? THINNED_ROOM : ROOM, chosen, pane.height);
  const x = left - 6 - (hasStrip(scene) ? STRIP + 3 : 0);
  for (const { index, at } of places) {
    const bold = index === scene.query || index === hover;
    const text = labelText(scene.queries[index]!, thinned, rowRoom, bold);
    pen.text(text, x, top + at, {
      align: "right",
      colour: index === hover ? scene.colours.accent : scene.colours.ink,
      bold,
    });
  }
}

function drawColumnLabels(pen: Pen, scene: Scene, hover: number | null): void {
  const { left, top, pane, columnRoom } = scene.layout;
  const { columns } = visibleCells(scene.view, scene.size, pane);
  const chosen = [hover, scene.choice].filter((index) => index !== null);
  const thinned = isThinned(scene, ROOM);
  const places = labelPlaces(columns, scene.view.x, scene.view.cell, thinned ? THINNED_ROOM : ROOM, chosen, pane.width);
  for (const { index, at } of places) {
    const bold = index === scene.choice || index === hover;
    const text = labelText(scene.keys[index]!, thinned, columnRoom, bold);
    const sand = index === 0 && !scene.ink.difference;
    const colour = index === hover ? scene.colours.accent : sand ? scene.colours.sand : scene.colours.ink;
    pen.text(text, left + at, top - 8, { align: "left", colour, bold, turn: TURN });
  }
}

const isThinned = (scene: Scene, room: number): boolean => scene.view.cell < room;

/** Where only some tokens have a label, each says its number too; the label keeps its own direction beside it. */
function labelText(token: Token, numbered: boolean, room: number, bold: boolean): string {
  const width = (part: string) => widthOf(part, bold);
  const number = numbered ? `${tokenNumber(token)} ` : "";
  return number + isolated(shortened(visible(token.label), room - width(number), width));
}
