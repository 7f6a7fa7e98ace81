// The text of a label: made visible, cut to the room there is, and measured once.

import { visible } from "../app/parts";
import type { Token } from "../data/types";
import { tokenNumber } from "./cell-text";
import { FONT } from "./pen";

const SIZE = 12;
const widths = new Map<string, number>();
let measuring: CanvasRenderingContext2D | null = null;

/** CSS pixels that a text takes in the font of labels. */
export function widthOf(text: string, bold = false): number {
  const name = bold ? `b${text}` : `n${text}`;
  let width = widths.get(name);
  if (width === undefined) {
    measuring ??= document.createElement("canvas").getContext("2d");
    if (!measuring) return text.length * SIZE * 0.55;
    measuring.font = `${bold ? "600 " : ""}${SIZE}px ${FONT}`;
    width = measuring.measureText(text).width;
    if (widths.size > 20_000) widths.clear();
    widths.set(name, width);
  }
  return width;
}

/** The text, cut between characters as people see them and ended with an ellipsis where it is too long. */
export function shortened(text: string, room: number, width: (text: string) => number = widthOf): string {
  if (width(text) <= room) return text;
  const characters = graphemes(text.slice(0, 200));
  let [fits, beyond] = [0, characters.length];
  while (beyond - fits > 1) {
    const middle = (fits + beyond) >> 1;
    if (width(`${characters.slice(0, middle).join("")}…`) <= room) fits = middle;
    else beyond = middle;
  }
  return `${characters.slice(0, fits).join("").trimEnd()}…`;
}

/** The widest label's CSS pixels, at most `most`. Of very long texts a sample says enough: the rest is cut to fit. */
export function widestLabel(tokens: readonly Token[], most: number): number {
  const step = Math.max(1, Math.floor(tokens.length / 1500));
  let widest = 0;
  for (let index = 0; index < tokens.length && widest < most; index += step) {
    widest = Math.max(widest, widthOf(visible(tokens[index]!.label), true));
  }
  // Where labels are thinned they carry the token's number.
  const numbered = tokens.length > 60 ? widthOf(`${tokenNumber(tokens[tokens.length - 1]!)} `) : 0;
  return Math.min(most, widest + numbered);
}

function graphemes(text: string): string[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}
