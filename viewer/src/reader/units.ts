// What the reader shows side by side, words or tokens, and what a row of weights on tokens says about each of them.

import type { ReadingSource, Row, TokenList } from "../data/types";

/** A word as a person wrote it, or a single token: what is shown as one. */
export interface Unit {
  text: string;
  /** The positions of its tokens, ascending. */
  tokens: number[];
  /** What stands between the one before and this one. */
  before: string;
  special: boolean;
  /** Whether it is a patch of a picture. */
  patch: boolean;
}

/** What one unit gets of a row: the sum over its tokens. */
export interface Share {
  /** NaN where one of its weights is not a number. */
  weight: number;
  allowed: boolean;
}

/** The text as units; tokens that belong to no word, such as begin-of-text, are units of their own. */
export function unitsOf(list: TokenList, by: "words" | "tokens"): Unit[] {
  const units: Unit[] = [];
  const shown = new Set<number>();
  for (const token of list.tokens) {
    const patch = token.row !== undefined; // A part of a picture is no word, whatever it is called.
    const word = by === "words" && !patch && token.word !== null ? list.words[token.word] : undefined;
    if (token.word !== null && word) {
      if (!shown.has(token.word))
        units.push(...splitPunctuation(list, { ...word, special: token.special, patch: false }));
      shown.add(token.word);
    } else {
      units.push({
        text: token.label,
        tokens: [token.index],
        before: before(list, token.index),
        special: token.special,
        patch,
      });
    }
  }
  return units;
}

/** All tokens of the word that a token belongs to, without the signs around it; a token of no word stands alone. */
export function tokensOfWord(list: TokenList, token: number): number[] {
  const { word: number, special = false } = list.tokens[token] ?? { word: null };
  const word = number === null ? undefined : list.words[number];
  if (!word) return [token];
  const units = splitPunctuation(list, { ...word, special, patch: false });
  return units.find((unit) => unit.tokens.includes(token))?.tokens ?? [token];
}

/** Signs around a word that are tokens of their own stand beside it: “big” and “.”, not “big.”. */
function splitPunctuation(list: TokenList, word: Unit): Unit[] {
  const { tokens, text } = word;
  const label = (index: number) => list.tokens[index]!.label;
  const [first, last] = [tokens[0]!, tokens[tokens.length - 1]!];
  if (tokens.length < 2) return [word];
  if (SIGNS.test(label(first)) && text.startsWith(label(first))) {
    const rest = { ...word, text: text.slice(label(first).length), tokens: tokens.slice(1), before: "" };
    return [{ ...word, text: label(first), tokens: [first] }, ...splitPunctuation(list, rest)];
  }
  if (SIGNS.test(label(last)) && text.endsWith(label(last))) {
    const rest = { ...word, text: text.slice(0, -label(last).length), tokens: tokens.slice(0, -1) };
    return [...splitPunctuation(list, rest), { ...word, text: label(last), tokens: [last], before: "" }];
  }
  return [word];
}

const SIGNS = /^\p{P}+$/u;

/** A token that begins a word stands where the word stands; a later piece of it follows at once. */
function before(list: TokenList, index: number): string {
  const number = list.tokens[index]?.word;
  const word = number === null || number === undefined ? undefined : list.words[number];
  return word && word.tokens[0] === index ? word.before : "";
}

/** The unit that holds a token. */
export function unitAt(units: Unit[], token: number): number {
  return Math.max(
    0,
    units.findIndex((unit) => unit.tokens.includes(token)),
  );
}

/** The queries whose rows are asked for: all tokens of the unit, or its last alone. */
export function askingTokens(unit: Unit, rule: "mean" | "last"): number[] {
  return rule === "last" ? unit.tokens.slice(-1) : unit.tokens;
}

/** One row for a unit: the mean over the rows of its tokens. A key is allowed where any of them may look. */
export async function unitRow(
  source: ReadingSource,
  layer: number,
  head: number | null,
  queries: number[],
): Promise<Row> {
  const rows = await Promise.all(queries.map((query) => source.row(layer, head, query)));
  const [first, ...others] = rows;
  if (!first) throw new Error("A word without tokens has no row.");
  if (!others.length) return first;
  const weights = Float32Array.from(first.weights, (_, key) =>
    mean(rows.map((row) => (row.allowed[key] ? row.weights[key]! : 0))),
  );
  const allowed = Uint8Array.from(first.allowed, (_, key) => Number(rows.some((row) => row.allowed[key])));
  const sink = first.sink === null ? null : mean(rows.map((row) => row.sink ?? 0));
  return { weights, allowed, sink, sum: mean(rows.map((row) => row.sum)) };
}

export function shareOf(row: Row, unit: Unit): Share {
  const seen = unit.tokens.filter((token) => row.allowed[token]);
  return { weight: seen.reduce((sum, token) => sum + row.weights[token]!, 0), allowed: seen.length > 0 };
}

/** The first token that the row may look at: where the sink usually sits. */
export function firstSeen(row: Row): number | null {
  const first = row.allowed.indexOf(1);
  return first < 0 ? null : first;
}

/** The tokens where attention rests whatever the text says: the first that may be seen, and special tokens. */
export function setApart(row: Row, units: Unit[]): number[] {
  const special = units.filter((unit) => unit.special).flatMap((unit) => unit.tokens);
  const tokens = new Set([firstSeen(row), ...special]);
  return [...row.allowed.keys()].filter((token) => row.allowed[token] && tokens.has(token));
}

/** An ordinary share: what the tokens set apart leave, divided equally among the other allowed tokens. */
export function ordinaryShare(row: Row, units: Unit[]): number | null {
  const apart = setApart(row, units);
  const others = row.allowed.reduce((count, each) => count + each, 0) - apart.length;
  const left = row.sum - apart.reduce((sum, token) => sum + row.weights[token]!, 0);
  return others < 1 ? null : left / others;
}

/** The units with the largest shares, largest first; what is not a number comes before all, so that it cannot hide. */
export function largest(shares: Share[], count: number): number[] {
  const rank = (index: number) => (Number.isNaN(shares[index]!.weight) ? Infinity : shares[index]!.weight);
  return shares
    .flatMap((share, index) => (share.allowed ? [index] : []))
    .sort((a, b) => rank(b) - rank(a) || a - b)
    .slice(0, count);
}

function mean(numbers: number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
