// From the numbers of a tile to a small picture of it: one pixel a (pooled) cell, blank where nothing may be seen.

import { BROKEN, BROKEN_DIFFERENCE, floorOf, type Kind, pixel, SHADES, shadeTable } from "../colour";
import type { Tile } from "../data/types";
import type { ColourScale, Theme } from "./props";

/** What decides the colours; two equal inks paint the same picture. */
export interface Ink {
  theme: Theme;
  scale: ColourScale;
  /** The number that takes the last colour; of the first token's own scale that is always 1. */
  top: number;
  difference: boolean;
}

export const inkName = (ink: Ink): string => `${ink.theme} ${ink.scale} ${ink.top} ${ink.difference}`;

const tables = new Map<string, Uint32Array>();

function tableOf(kind: Kind, theme: Theme): Uint32Array {
  const name = `${kind} ${theme}`;
  let table = tables.get(name);
  if (!table) tables.set(name, (table = shadeTable(kind, theme)));
  return table;
}

/** The pixels of a tile, in the byte order of image data; 0 (transparent) is blank. */
export function pixels(tile: Pick<Tile, "weights" | "allowed">, ink: Ink, first: boolean): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(tile.weights.length);
  const above = tableOf(ink.difference ? "more" : first ? "first" : "weight", ink.theme);
  const below = tableOf("less", ink.theme);
  const broken = pixel((ink.difference ? BROKEN_DIFFERENCE : BROKEN)[ink.theme]);
  const place = placer(first && !ink.difference ? { ...ink, top: 1 } : ink);
  for (let cell = 0; cell < result.length; cell++) {
    if (!tile.allowed[cell]) continue;
    const weight = tile.weights[cell]!;
    if (weight !== weight) result[cell] = broken;
    else result[cell] = weight < 0 ? below[place(-weight)]! : above[place(weight)]!;
  }
  return result;
}

/** From a number that is not negative to its place in a table of shades. */
function placer({ scale, top }: Ink): (weight: number) => number {
  const last = SHADES - 1;
  if (!(top > 0)) return () => 0;
  if (scale === "linear") {
    const step = last / top;
    return (weight) => (weight >= top ? last : Math.round(weight * step));
  }
  const floor = floorOf(top);
  const step = last / Math.log(top / floor);
  return (weight) => (weight <= floor ? 0 : weight >= top ? last : Math.round(Math.log(weight / floor) * step));
}

/** The picture of a tile, to be drawn at any size without smoothing. */
export function paint(tile: Tile, ink: Ink, first: boolean, onto: HTMLCanvasElement | null): HTMLCanvasElement {
  const canvas = onto ?? document.createElement("canvas");
  canvas.width = tile.width;
  canvas.height = tile.height;
  const context = canvas.getContext("2d")!;
  const data = new Uint8ClampedArray(pixels(tile, ink, first).buffer);
  context.putImageData(new ImageData(data, tile.width, tile.height), 0, 0);
  return canvas;
}

/** What a map must know of a tile besides its picture. */
export interface Summary {
  /** The largest number (of a difference: the largest either way); -Infinity where there is none. */
  largest: number;
  /** Some cells are not numbers. */
  broken: boolean;
  /** Cells that the order of the text would allow are forbidden: a window, padding, a mask. */
  holes: boolean;
}

export function summary(tile: Tile, causal: boolean): Summary {
  const result: Summary = { largest: -Infinity, broken: false, holes: false };
  const down = (tile.rows.stop - tile.rows.start) / tile.height;
  const across = (tile.columns.stop - tile.columns.start) / tile.width;
  for (let row = 0, cell = 0; row < tile.height; row++) {
    // In a causal map a block lies in the past when its last key is not after its first query.
    const past = causal ? (tile.rows.start + row * down - tile.columns.start + 1) / across : tile.width;
    for (let column = 0; column < tile.width; column++, cell++) {
      if (!tile.allowed[cell]) {
        if (column + 1 <= past) result.holes = true;
        continue;
      }
      const size = Math.abs(tile.weights[cell]!);
      if (size > result.largest) result.largest = size;
      else if (size !== size) result.broken = true;
    }
  }
  return result;
}
