// The map on screen as a picture in a file, with its title and scale: pixels (PNG) or shapes (SVG).

import { BROKEN, BROKEN_DIFFERENCE, colour, type Kind, position } from "../colour";
import { drawCells } from "../map/draw-cells";
import { drawLabels } from "../map/draw-labels";
import { ticksOf } from "../map/legend";
import { exactText } from "../map/cell-text";
import { CanvasPen, type Pen } from "../map/pen";
import type { Theme } from "../map/props";
import type { Scene } from "../map/scene";
import { SvgPen } from "./svg-pen";

const HEAD = 52;
const FOOT = 60;
const MARGIN = 12;
const LEGEND = 200;
/** Steps that a scale is drawn in. */
const RAMP = 64;

export interface Caption {
  title: string;
  lines: string[];
  unit: string;
}

export function svgOf(scene: Scene, caption: Caption): string {
  const { width, height } = sheet(scene);
  const pen = new SvgPen(width, height);
  drawSheet(pen, scene, caption);
  return pen.toString();
}

/** At twice the screen's pixels, so that it prints well. */
export function pngOf(scene: Scene, caption: Caption, ratio = 2): Promise<Blob> {
  const { width, height } = sheet(scene);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  drawSheet(new CanvasPen(canvas.getContext("2d")!, ratio), { ...scene, ratio }, caption);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("The browser could not make a PNG of this size."))),
      "image/png",
    ),
  );
}

function sheet({ layout }: Scene): { width: number; height: number } {
  return { width: layout.width + 2 * MARGIN, height: HEAD + layout.height + FOOT };
}

function drawSheet(pen: Pen, scene: Scene, caption: Caption): void {
  const { width, height } = sheet(scene);
  const { colours, layout } = scene;
  pen.rect(0, 0, width, height, colours.paper);
  pen.text(caption.title, MARGIN, 16, { align: "left", colour: colours.ink, size: 14, bold: true });
  caption.lines.slice(0, 1).forEach((line) => pen.text(line, MARGIN, 36, { align: "left", colour: colours.quiet }));
  const { left, top, titleX, titleY } = layout;
  const moved = { ...layout, left: left + MARGIN, top: top + HEAD, titleX: titleX + MARGIN, titleY: titleY + HEAD };
  drawCells(pen, { ...scene, layout: moved });
  drawLabels(pen, { ...scene, layout: moved });
  drawScale(pen, scene, caption.unit, moved.left, HEAD + layout.height + 12);
}

function drawScale(pen: Pen, scene: Scene, unit: string, x: number, y: number): void {
  const { ink, colours } = scene;
  const quiet = { align: "centre", colour: colours.quiet, size: 11 } as const;
  if (ink.difference) {
    drawRamp(pen, "less", ink.theme, x + LEGEND / 2, y, -LEGEND / 2);
    drawRamp(pen, "more", ink.theme, x + LEGEND / 2, y, LEGEND / 2);
    [-1, 0, 1].forEach((side) => pen.text(exactText(side * ink.top), x + (LEGEND * (side + 1)) / 2, y + 20, quiet));
  } else {
    drawRamp(pen, "weight", ink.theme, x, y, LEGEND);
    const ticks = ticksOf(ink);
    ticks.forEach((tick) =>
      pen.text(String(Number(tick.toPrecision(2))), x + LEGEND * position(tick, ink), y + 20, quiet),
    );
    drawRamp(pen, "first", ink.theme, x + LEGEND + 40, y, LEGEND / 2);
    pen.text("first token, 0 to 1", x + LEGEND * 1.25 + 40, y + 20, quiet);
  }
  pen.text(unit, x, y + 38, { align: "left", colour: colours.quiet, size: 11 });
  const broken = (ink.difference ? BROKEN_DIFFERENCE : BROKEN)[ink.theme];
  if (scene.broken.length)
    pen.text("× not a number (nan)", x + LEGEND * 1.6 + 60, y + 6, { align: "left", colour: broken, size: 11 });
}

/** Towards the left when the length is negative. */
function drawRamp(pen: Pen, kind: Kind, theme: Theme, x: number, y: number, length: number): void {
  const step = Math.abs(length) / RAMP;
  for (let index = 0; index < RAMP; index++) {
    const left = length > 0 ? x + index * step : x - (index + 1) * step;
    pen.rect(left, y, step + 0.3, 9, colour(index / (RAMP - 1), theme, { kind }));
  }
}
