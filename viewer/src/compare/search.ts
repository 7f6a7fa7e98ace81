// The largest differences of two maps, found by looking at every cell, some rows at a time.

import type { ReadingSource } from "../data/types";

export interface Found {
  query: number;
  key: number;
  difference: number;
}

export interface Summary {
  /** The largest difference either way; null when no cell can be compared. */
  largest: Found | null;
  /** The same among the rows that must be zero; null when there are none. */
  before: Found | null;
  /** How many cells are not a number. */
  broken: number;
}

/** Longer comparisons are not searched as a whole: it would keep the page busy for seconds. */
export const MOST_CELLS = 1 << 23;

const ROWS_CELLS = 1 << 19;

/** Looks at every cell of the only map of a difference; null when there are too many. */
export async function search(source: ReadingSource, mustBeZero: number): Promise<Summary | null> {
  const [height, width] = [source.queries.tokens.length, source.keys.tokens.length];
  if (height * width > MOST_CELLS) return null;
  const layer = source.layers[0]!.number;
  const summary: Summary = { largest: null, before: null, broken: 0 };
  const step = Math.max(1, Math.floor(ROWS_CELLS / Math.max(1, width)));
  for (let start = 0; start < height; start += step) {
    const stop = Math.min(height, start + step);
    const tile = await source.tile(
      layer,
      null,
      { start, stop },
      { start: 0, stop: width },
      stop - start,
      width,
      "mean",
    );
    tile.weights.forEach((difference, cell) => {
      if (!tile.allowed[cell]) return;
      if (Number.isNaN(difference)) summary.broken++;
      const query = start + Math.floor(cell / width);
      summary.largest = larger(summary.largest, difference, query, cell % width);
      if (query < mustBeZero) summary.before = larger(summary.before, difference, query, cell % width);
    });
  }
  return summary;
}

function larger(best: Found | null, difference: number, query: number, key: number): Found | null {
  if (Number.isNaN(difference)) return best;
  return best === null || Math.abs(difference) > Math.abs(best.difference) ? { query, key, difference } : best;
}
