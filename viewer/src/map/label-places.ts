// Which tokens get a label along an axis, so that labels never overlap and what is chosen always has one.

import type { Range } from "../data/types";

export interface Place {
  index: number;
  /** Middle of the label along the axis, in CSS pixels from the pane's corner. */
  at: number;
  chosen: boolean;
}

/** Steps that people can count in: 1, 2, 5, 10, 20, 50 ... */
export function niceStep(atLeast: number): number {
  if (atLeast <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return [1, 2, 5, 10].map((part) => part * power).find((step) => step >= atLeast - 1e-9) ?? 10 * power;
}

/**
 * The labels along an axis.
 *
 * @param range the tokens on screen
 * @param start the place in tokens at the pane's corner
 * @param cell CSS pixels of a token
 * @param room CSS pixels that a label needs
 * @param chosen tokens that must have a label, the most important first
 * @param length CSS pixels of the pane: a label whose middle lies outside is left out
 */
export function labelPlaces(
  range: Range,
  start: number,
  cell: number,
  room: number,
  chosen: readonly number[],
  length: number,
): Place[] {
  const middle = (index: number) => (index + 0.5 - start) * cell;
  const inside = (index: number) =>
    index >= range.start && index < range.stop && middle(index) >= 0 && middle(index) <= length;
  const kept: Place[] = [];
  const free = (index: number) => kept.every((place) => Math.abs(place.at - middle(index)) >= room - 1e-6);
  for (const index of chosen) {
    if (inside(index) && free(index)) kept.push({ index, at: middle(index), chosen: true });
  }
  const fixed = kept.length;
  const step = niceStep(room / cell);
  for (let index = Math.ceil(range.start / step) * step; index < range.stop; index += step) {
    // Labels of a step keep their distance from each other; only the chosen ones can be in the way.
    const clear = kept.slice(0, fixed).every((place) => Math.abs(place.at - middle(index)) >= room - 1e-6);
    if (inside(index) && clear) kept.push({ index, at: middle(index), chosen: false });
  }
  return kept.sort((a, b) => a.index - b.index);
}
