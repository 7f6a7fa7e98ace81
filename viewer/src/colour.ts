// The colours of weights and differences: even steps look evenly large, and lightness alone keeps the order.
//
// Blue and sand on light paper are those of Python's pictures (`heedmap/drawing/palette.py`). The dark ones and the
// differences were built the same way: stops spaced evenly along a path through CIELAB. Blue against brown stays apart
// for every kind of colour vision (at half scale at least 50 apart in CIELAB, simulated after Machado et al. 2009).

import type { ColourScale, Theme } from "./map/props";

/** What is coloured: a weight, a weight on the first token, or a difference (more is blue, less is brown). */
export type Kind = "weight" | "first" | "more" | "less";

/** Where a logarithmic scale begins, as in Python's pictures; what is smaller takes the first colour. */
export const LOG_FLOOR = 1e-4;

/** The mark of what is not a number. */
export const BROKEN: Record<Theme, string> = { light: "#c2410c", dark: "#ff8a4c" };

/** The same on a map of differences, where brown means less. */
export const BROKEN_DIFFERENCE: Record<Theme, string> = { light: "#b3129b", dark: "#f27be0" };

// prettier-ignore
const STOPS: Record<Theme, Record<Kind, readonly string[]>> = {
  light: {
    weight: ["#eceef2", "#d1dceb", "#b6cae4", "#99b9de", "#7da5d3", "#6291c6", "#447cba", "#2b66a7", "#21508d", "#163a74", "#0b265b"],
    first: ["#f0ede9", "#e9e2d4", "#e3d6c0", "#dbcaab", "#d2bc97", "#c8ae83", "#bfa06f", "#b2905d", "#a37f4c", "#936e3b", "#845e2b"],
    more: ["#eceef2", "#d4e1f2", "#bbd2ee", "#9fc1e6", "#82afdd", "#669cd2", "#4988c5", "#2c73b4", "#185d9d", "#0f4885", "#15356c"],
    less: ["#f0edea", "#f0e0ce", "#eccfb2", "#e4bc95", "#d8a579", "#c88d5e", "#b57544", "#9f5c2c", "#85451c", "#6d3515", "#572b14"],
  },
  dark: {
    weight: ["#2b333e", "#293f57", "#264b72", "#245b90", "#3972af", "#508dc8", "#65a7dd", "#83c0ef", "#a5d4f6", "#c6e4f9", "#e6f3fb"],
    first: ["#38322a", "#4b3e2b", "#604b2e", "#785b34", "#926f40", "#ac854f", "#c69e61", "#dbb87c", "#e7cc9a", "#efdcb7", "#f5ead4"],
    more: ["#303337", "#303c4c", "#2e4663", "#2c527b", "#2e6197", "#4377b1", "#548fc8", "#64a7de", "#7cbff0", "#9ad0f7", "#b7dcf7"],
    less: ["#36322e", "#49392c", "#5d402b", "#73482c", "#8d5432", "#a96840", "#c27f4e", "#d8985d", "#e8b172", "#efc58d", "#f0d3a7"],
  },
};

export interface ColourOptions {
  scale?: ColourScale;
  /** The weight that takes the last colour; 1 by default. */
  top?: number;
  kind?: Kind;
}

/** The eleven stops of a scale, as #rrggbb. */
export function stops(kind: Kind, theme: Theme): readonly string[] {
  return STOPS[theme][kind];
}

/** Where a weight stands on its scale, from 0 to 1: position(0.01, { scale: "log" }) is 0.5. */
export function position(weight: number, { scale = "linear", top = 1 }: ColourOptions = {}): number {
  if (!(top > 0)) return 0;
  const share = scale === "linear" ? weight / top : Math.log(weight / floorOf(top)) / Math.log(top / floorOf(top));
  return Math.min(1, Math.max(0, share));
}

/** The colour of a weight as #rrggbb: colour(0, "light") is "#eceef2". What is not a number takes the mark of it. */
export function colour(weight: number, theme: Theme, options: ColourOptions = {}): string {
  if (Number.isNaN(weight)) return BROKEN[theme];
  return mixed(stops(options.kind ?? "weight", theme), position(weight, options));
}

/** The colour of a difference: blue where there is more, brown where there is less, up to `top` either way. */
export function differenceColour(difference: number, theme: Theme, options: ColourOptions = {}): string {
  if (Number.isNaN(difference)) return BROKEN_DIFFERENCE[theme];
  return colour(Math.abs(difference), theme, { ...options, kind: difference < 0 ? "less" : "more" });
}

/** The scale as a CSS gradient, from the first stop to the last. */
export function gradient(kind: Kind, theme: Theme, direction = "to right"): string {
  return `linear-gradient(${direction}, ${stops(kind, theme).join(", ")})`;
}

/** Where the logarithmic scale that ends at `top` begins. */
export function floorOf(top: number): number {
  return Math.min(LOG_FLOOR, top / 100);
}

/** Colours in a table and in the byte order of image data, for painting many cells. */
export const SHADES = 1024;

/** `SHADES` colours of a scale, opaque, each as the 32 bits that image data holds. */
export function shadeTable(kind: Kind, theme: Theme): Uint32Array {
  const own = stops(kind, theme);
  return Uint32Array.from({ length: SHADES }, (_, index) => pixel(mixed(own, index / (SHADES - 1))));
}

/** An opaque colour as the 32 bits that image data holds. */
export function pixel(hex: string): number {
  const bytes = new Uint8Array([...channels(hex), 255]);
  return new Uint32Array(bytes.buffer)[0]!;
}

/** Red, green and blue of #rrggbb, each from 0 to 255. */
export function channels(hex: string): [number, number, number] {
  const number = Number.parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** How light a colour is, from 0 to 1 (WCAG 2.2, relative luminance): black letters are the easier to read above 0.18. */
export function luminance(hex: string): number {
  const linear = channels(hex).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
}

/** Between two stops the channels are mixed evenly. */
function mixed(own: readonly string[], share: number): string {
  const place = share * (own.length - 1);
  const below = Math.min(own.length - 2, Math.floor(place));
  const [from, to] = [channels(own[below]!), channels(own[below + 1]!)];
  const mix = from.map((channel, index) => Math.round(channel + (place - below) * (to[index]! - channel)));
  return `#${mix.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
