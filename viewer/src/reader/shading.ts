// The colours of a row: where the blue scale ends, and which scale the first token takes.

import { channels, colour, type ColourOptions } from "../colour";
import type { ColourScale, Theme } from "../map/props";
import type { SeenRow } from "./seen-row";
import type { Shading } from "./word-item";

/** Where the scale of the words ends: at 1, or with the first token apart at the largest share of the others. */
export function topOf(seen: SeenRow, apart: boolean): number {
  return apart && seen.largestOther > 0 ? seen.largestOther : 1;
}

export function shadingOf(seen: SeenRow, theme: Theme, scale: ColourScale, apart: boolean): Shading {
  const options = (place: number): ColourOptions =>
    apart && place === seen.first ? { kind: "first", scale } : { scale, top: topOf(seen, apart) };
  const weight = (place: number) => seen.shares[place]!.weight;
  const fill = (place: number) => colour(weight(place), theme, options(place));
  return {
    shares: seen.shares,
    first: seen.first,
    largest: seen.largest,
    fill,
    ink: (place) => inkOn(fill(place)),
  };
}

/** Letters on a colour: light or dark, whichever stands out more (contrast as in WCAG 2.2, relative luminance). */
export function inkOn(background: string): string {
  const own = luminance(background);
  const against = (ink: string) => (Math.max(luminance(ink), own) + 0.05) / (Math.min(luminance(ink), own) + 0.05);
  return against(LIGHT) > against(DARK) ? LIGHT : DARK;
}

// White and black: with any paler or softer pair there are shades on which neither stands out enough.
const [LIGHT, DARK] = ["#ffffff", "#000000"];

function luminance(hex: string): number {
  const [red, green, blue] = channels(hex).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
