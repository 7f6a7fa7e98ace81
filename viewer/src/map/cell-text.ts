// What there is to say about one cell, in words: for the tip beside the pointer and for those who listen.

import type { Absent, LayerInfo, ReadingSource, Row, Token } from "../data/types";
import type { Cell } from "./viewport";

/** A number as exact as it is useful: exactText(0.56512) is "0.5651", exactText(0.0000312) is "3.12e-5". */
export function exactText(number: number): string {
  if (Number.isNaN(number)) return "not a number (nan)";
  const size = Math.abs(number);
  const text = size === 0 ? "0" : size < 0.001 ? size.toExponential(2) : size.toFixed(4);
  return number < 0 ? `−${text}` : text;
}

/** plural("difference of weights") is "differences of weights". */
export const plural = (unit: string): string => unit.replace(/^\w+/, "$&s");

/** "layer 16, head 3", or "layer 16, mean of 9 heads". */
export function placeText(info: LayerInfo, head: number | null): string {
  return `layer ${info.number}, ${head === null ? `mean of ${info.heads} heads` : `head ${head}`}`;
}

/** The number of a token; of two texts in step "5 → 6", or "– → 6" where the first has no counterpart. */
export function tokenNumber({ index, pair }: Pick<Token, "index" | "pair">): string {
  const [a, b] = pair ?? [index, index];
  return a === b ? String(a) : `${a ?? "–"} → ${b ?? "–"}`;
}

/** What hatched cells are. */
export const hatchedText = (difference: boolean): string =>
  difference
    ? "hatched: nothing to compare: no counterpart in the other text, or beyond the window, padding or masked"
    : "hatched: beyond the window, padding or masked";

export const MASKED = "it is masked (padding, or cut out)";

/** Why a query may not look at a key. */
export function reason(info: LayerInfo, { query, key }: Cell): string {
  if (info.causal && key > query) return "it comes later";
  if (info.window !== null && query - key >= info.window) return `it lies outside the window of ${info.window} tokens`;
  return MASKED;
}

export interface CellText {
  looking: string;
  looked: string;
  /** Between the two tokens. */
  verb: "looks at" | Absent["verb"];
  /** The number, or the reason why there is none. */
  value: string;
  absent: boolean;
}

/** What a cell says; `row` is the source's own row of the query, null while it is on its way. */
export function cellText(source: ReadingSource, info: LayerInfo, cell: Cell, row: Row | null): CellText {
  const looking = source.queries.tokens[cell.query]!.label;
  const looked = source.keys.tokens[cell.key]!.label;
  if (row && !row.allowed[cell.key]) {
    const why = source.absent?.(cell) ?? { verb: "may not look at", reason: reason(info, cell) };
    return { looking, looked, verb: why.verb, value: why.reason, absent: true };
  }
  const value = row ? exactText(row.weights[cell.key]!) : "…";
  return { looking, looked, verb: "looks at", value, absent: row !== null && Number.isNaN(row.weights[cell.key]!) };
}
