// What a map needs from the page around it: the numbers, what is chosen, and how they are to be coloured.

import type { ReadingSource } from "../data/types";

export type Theme = "light" | "dark";

/** Of the colours: even steps of weight, or even steps of its logarithm from 0.0001 on. */
export type ColourScale = "linear" | "log";

export interface MapViewProps {
  source: ReadingSource;
  layer: number;
  /** null is the mean over heads. */
  head: number | null;
  /** The row that is chosen, if any. */
  query: number | null;
  /** The key chosen in that row, if any. */
  choice: number | null;
  /** A row (key null), a cell, or nothing (both null) was chosen, by pointer or keyboard. */
  onChoose: (query: number | null, key: number | null) => void;
  theme: Theme;
  scale: ColourScale;
  /** Colour the first token by itself, so that the blue scale ends at the largest weight of the others. */
  apart: boolean;
  /** The numbers are differences of two maps: a diverging scale, from minus the largest to plus the largest. */
  difference?: boolean;
  /** What a number is called; "weight" or "difference of weights" by default. */
  unit?: string;
  /** Where a line is drawn above a row, and what it says: "the same words up to here: must be 0". */
  mark?: { query: number; text: string };
  /** When given, the map shows a switch for the colour scale. */
  onScale?: (scale: ColourScale) => void;
}

export interface TinyMapProps {
  source: ReadingSource;
  layer: number;
  head: number | null;
  theme: Theme;
  /** Side in CSS pixels; 64 by default. */
  size?: number;
  scale?: ColourScale;
  apart?: boolean;
  difference?: boolean;
}
