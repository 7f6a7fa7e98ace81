// How an axis is cut into tiles so that every pooled cell stands for the same number of tokens.

import type { Range } from "../data/types";

/** Cells along the side of a tile at most, and tokens that it stands for at most: a large map appears bit by bit. */
export const TILE = 256;
const MOST_TOKENS = 1024;
const LEAST = 32;

/** Pooled cells along the side of a tile at a level. */
export const side = (level: number): number => Math.max(LEAST, Math.min(TILE, MOST_TOKENS >> level));

/** A stretch of tokens and how many pooled cells stand for it. */
export interface Segment extends Range {
  cells: number;
}

/**
 * The stretches of an axis at a level, where a pooled cell stands for 2^level tokens.
 *
 * The source divides a stretch evenly, so the rest at the end, which no full cell stands for, is a stretch of one cell:
 * segments({start: 0, stop: 21}, 2) is 0 to 20 in 5 cells, then 20 to 21 in one.
 */
export function segments(axis: Range, level: number): Segment[] {
  const block = 2 ** level;
  const whole = axis.start + Math.floor((axis.stop - axis.start) / block) * block;
  const result: Segment[] = [];
  for (let start = axis.start; start < whole; start += side(level) * block) {
    const stop = Math.min(whole, start + side(level) * block);
    result.push({ start, stop, cells: (stop - start) / block });
  }
  if (whole < axis.stop) result.push({ start: whole, stop: axis.stop, cells: 1 });
  return result;
}

export function overlaps(one: Range, other: Range): boolean {
  return one.start < other.stop && other.start < one.stop;
}
