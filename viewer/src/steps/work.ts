// One row of attention taken apart, in the form that both a real head and a worked example are shown in.

import type { RowTrace } from "../arithmetic/attention";
import { products, type Vector } from "../arithmetic/steps";
import type { Theme } from "../map/props";

export interface Work {
  /** The word that looks. */
  asking: string;
  /** The words that are looked at. */
  keys: readonly string[];
  query: Vector;
  key: readonly Vector[];
  /** Null where the page does not carry them. */
  value: readonly Vector[] | null;
  trace: RowTrace;
  scale: number;
  multiply: number;
  softcap: number | null;
  bias: Vector | null;
  /** Digits after the point: of products and scores, and of exponentials and weights. */
  digits: readonly [number, number];
  /** A worked example: words that may not be looked at have a line too, and steps can be left out. */
  byHand: boolean;
}

/** A row, the key in it that is taken apart, and how it is coloured. */
export interface Part {
  work: Work;
  choice: number;
  theme: Theme;
}

/** Vectors of up to so many numbers are written out whole. */
export const SHORT = 4;

/** Rows of up to so many words are shown whole and in the order of the text. */
export const WHOLE = 24;

/** Of longer rows so many at first: those with the largest weights. */
export const FIRST = 16;

export interface Listing {
  /** Places of the keys that are shown. */
  shown: number[];
  /** Largest first, or in the order of the text. */
  sorted: boolean;
  rest: { count: number; exponentials: number; weights: number } | null;
}

/** Which keys are shown one by one, the chosen one always among them, and the sum of all others. */
export function listing({ trace, byHand }: Work, most: number, choice: number | null = null): Listing {
  const places = Array.from(trace.allowed.keys()).filter((key) => byHand || trace.allowed[key]);
  if (places.length <= WHOLE) return { shown: places, sorted: false, rest: null };
  places.sort((a, b) => trace.weights[b]! - trace.weights[a]! || a - b);
  const shown = places.slice(0, most);
  if (choice !== null && places.indexOf(choice) >= most) shown.push(choice);
  const hidden = places.slice(most).filter((key) => key !== choice);
  const sum = (numbers: Vector) => hidden.reduce((total, key) => total + numbers[key]!, 0);
  const exponentials = trace.exponentials ? sum(trace.exponentials) : NaN;
  const rest = { count: hidden.length, exponentials, weights: sum(trace.weights) };
  return { shown, sorted: true, rest: hidden.length ? rest : null };
}

/** The key with the largest weight; null in a row that may look at nothing. */
export function largest({ trace }: Work): number | null {
  let best: number | null = null;
  for (let key = 0; key < trace.allowed.length; key++) {
    if (trace.allowed[key] && (best === null || trace.weights[key]! > trace.weights[best]!)) best = key;
  }
  return best;
}

export interface Term {
  dim: number;
  left: number;
  right: number;
  product: number;
}

/** The single products whose sum is q · k, those that move it most first. */
export function terms(work: Work, key: number): Term[] {
  const [left, right] = [work.query, work.key[key]!];
  const all = Array.from(products(left, right), (product, dim) => ({
    dim,
    left: left[dim]!,
    right: right[dim]!,
    product,
  }));
  return all.sort((a, b) => Math.abs(b.product) - Math.abs(a.product) || a.dim - b.dim);
}

/** How products become scores: "÷ 8" for a scale of 1/√64, else "× 0.18"; a scale of 1 leaves them as they are. */
export function scalingText(scale: number, dim: number): string {
  if (scale === 1) return "as it is";
  const root = Math.sqrt(dim);
  return Math.abs(scale * root - 1) < 1e-6 ? `÷ ${tidy(root)}` : `× ${tidy(scale)}`;
}

/** A number with three significant digits and no needless zeros. */
export function tidy(number: number): string {
  return String(Number(number.toPrecision(3))).replace("-", "−");
}

/** A number with so many digits after the point and a true minus sign; what is absent is a dash. */
export function fixed(number: number | null | undefined, digits: number): string {
  if (number === null || number === undefined || Number.isNaN(number)) return "—";
  if (number === -Infinity) return "−∞";
  const text = Math.abs(number).toFixed(digits);
  return number < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** A weight or an exponential; one that would round to nothing has an exponent instead. */
export function weighed(number: number, digits: number): string {
  const vanishes = number !== 0 && Math.abs(number) < 0.5 * 10 ** -digits;
  return vanishes ? number.toExponential(2).replace(/-(?=[\d.]+e)/, "−") : fixed(number, digits);
}

/** The largest difference between the weights worked here and the source's own, among allowed keys; NaN if some is none. */
export function largestDifference(trace: RowTrace, weights: Vector): number {
  let most = 0;
  for (let key = 0; key < trace.allowed.length; key++) {
    if (!trace.allowed[key]) continue;
    const difference = Math.abs(trace.weights[key]! - weights[key]!);
    if (Number.isNaN(difference)) return NaN;
    most = Math.max(most, difference);
  }
  return most;
}

/** A number as somebody gave it, without needless zeros: 1, 0.8, −0.25. */
export function asGiven(number: number): string {
  return String(Number(number.toFixed(4))).replace("-", "−");
}

export const inBrackets = (text: string): string => (text.startsWith("−") ? `(${text})` : text);

/** The sign of a product that is not broken at the end of a line. */
export const TIMES = "\u00a0·\u00a0";
