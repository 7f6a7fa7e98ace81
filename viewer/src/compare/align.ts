// Which token of one text stands for which of another, and the same for words.

import type { PageData, TokenList } from "../data/types";
import type { Unit } from "../reader/units";

/** Places in step: a place of the one text and of the other, or null where it has no counterpart. Both ascend. */
export type Alignment = readonly (readonly [number | null, number | null])[];

/** The alignment of two token lists: one by one when they are the same, else as the page says, or null. */
export function alignmentOf(
  page: PageData,
  a: string,
  b: string,
  listA: TokenList,
  listB: TokenList,
): Alignment | null {
  if (sameTokens(listA, listB)) return listA.tokens.map((_, index) => [index, index] as const);
  const { comparison } = page;
  if (comparison && comparison.a === a && comparison.b === b) return fitting(comparison.alignment, listA, listB);
  if (comparison && comparison.a === b && comparison.b === a) {
    return fitting(
      comparison.alignment.map(([first, second]) => [second, first] as const),
      listA,
      listB,
    );
  }
  return null;
}

function sameTokens(a: TokenList, b: TokenList): boolean {
  return (
    a === b ||
    (a.tokens.length === b.tokens.length && a.tokens.every((token, index) => token.label === b.tokens[index]!.label))
  );
}

/** The page aligns the texts that differ; on another axis, such as the source of a translation, it says nothing. */
function fitting(alignment: Alignment, a: TokenList, b: TokenList): Alignment | null {
  const count = (side: 0 | 1) => alignment.reduce((sum, pair) => sum + Number(pair[side] !== null), 0);
  return count(0) === a.tokens.length && count(1) === b.tokens.length ? alignment : null;
}

export function isIdentity(alignment: Alignment): boolean {
  return alignment.every(([a, b], place) => a === place && b === place);
}

/** Where a token of the first text stands; -1 where it does not. */
export function placeOf(alignment: Alignment, token: number): number {
  return alignment.findIndex(([a]) => a === token);
}

/** A word of one text beside its counterpart in the other. */
export interface Pair {
  a: Unit | null;
  b: Unit | null;
}

/** Words side by side: two stand together when a token of the one is aligned with a token of the other. */
export function pairsOf(unitsA: Unit[], unitsB: Unit[], alignment: Alignment): Pair[] {
  const [ofA, ofB] = [byToken(unitsA), byToken(unitsB)];
  const pairs: Pair[] = [];
  for (const [tokenA, tokenB] of alignment) {
    const a = tokenA === null ? null : (ofA.get(tokenA) ?? null);
    const b = tokenB === null ? null : (ofB.get(tokenB) ?? null);
    const last = pairs[pairs.length - 1];
    const joins = last && ((a !== null && a === last.a) || (b !== null && b === last.b));
    if (joins) {
      last.a ??= a;
      last.b ??= b;
    } else {
      pairs.push({ a, b });
    }
  }
  return pairs;
}

function byToken(units: Unit[]): Map<number, Unit> {
  return new Map(units.flatMap((unit) => unit.tokens.map((token) => [token, unit] as const)));
}

/** "big" where both say so, "big → small" where they differ, "+ very" and "− very" where one has no counterpart. */
export function pairText(a: string | null, b: string | null): string {
  if (a === null) return `+ ${b ?? ""}`;
  if (b === null) return `− ${a}`;
  return a === b ? a : `${a} → ${b}`;
}
