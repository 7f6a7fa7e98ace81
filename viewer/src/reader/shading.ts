// The colours of a row: where the blue scale ends, and which scale the first token takes.

import { colour, type ColourOptions, position } from "../colour";
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
  return {
    shares: seen.shares,
    first: seen.first,
    largest: seen.largest,
    fill: (place) => colour(weight(place), theme, options(place)),
    ink: (place) => inkOn(position(weight(place), options(place)), theme),
  };
}

/** Letters on a colour: the scales run from the paper's side to the other, and the letters change sides in the middle. */
export function inkOn(position: number, theme: Theme): string {
  const [far, near] = theme === "light" ? ["#ffffff", "#22262b"] : ["#14171b", "#e8e6e1"];
  return position > 0.52 ? far : near;
}
