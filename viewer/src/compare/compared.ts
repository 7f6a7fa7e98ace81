// What the comparison shows: its two sides, how they are aligned, where they must agree, and the chosen word in both.

import { useMemo } from "preact/hooks";
import { layerOf } from "../app/frame";
import { useAnswer } from "../app/hooks";
import type { PageData } from "../data/types";
import { isCausal } from "../reader/remarks";
import { askingTokens, shareOf, type Share, type Unit, unitRow, unitsOf } from "../reader/units";
import { type Place, reading, type State } from "../state";
import { alignmentOf, type Alignment, type Pair, pairsOf } from "./align";
import { DifferenceSource, type Side } from "./difference";

export interface Compared {
  a: Side;
  b: Side;
  source: DifferenceSource;
  rows: Alignment;
  columns: Alignment;
  /** Words that look, and words that are looked at, side by side. */
  asking: Pair[];
  units: Pair[];
  /** Rows before this one must be zero; 0 where nothing must. */
  mustBeZero: number;
  /** What the page says of comparing its two texts; nothing when something else is compared. */
  told: string | null;
}

/** The comparison that is chosen, or the reason why there is none. */
export function compared(page: PageData, first: Place, second: Place, unit: State["unit"]): Compared | string {
  const [sourceA, sourceB] = [reading(page, first.reading), reading(page, second.reading)];
  const a: Side = { source: sourceA, layer: layerOf(sourceA, first.layer), head: first.head };
  const b: Side = { source: sourceB, layer: layerOf(sourceB, second.layer), head: second.head };
  for (const { layer } of [a, b]) {
    if (layer.carries === "nothing")
      return `Layer ${layer.number} is not in this page: ${layer.omitted ?? "it was left out"}.`;
  }
  const rows = alignmentOf(page, first.reading, second.reading, sourceA.queries, sourceB.queries);
  const self = sourceA.queries === sourceA.keys && sourceB.queries === sourceB.keys;
  const columns = self ? rows : alignmentOf(page, first.reading, second.reading, sourceA.keys, sourceB.keys);
  if (!rows || !columns)
    return "These two have different tokens, and this page does not say which stands for which. Compare two readings of the same text, or write a page that compares two texts.";
  const asking = pairsOf(unitsOf(sourceA.queries, unit), unitsOf(sourceB.queries, unit), rows);
  const units = self ? asking : pairsOf(unitsOf(sourceA.keys, unit), unitsOf(sourceB.keys, unit), columns);
  const told = isTold(page, a, b) ? page.comparison!.note : null;
  return {
    a,
    b,
    told,
    source: new DifferenceSource(a, b, rows, columns),
    rows,
    columns,
    asking,
    units,
    mustBeZero: mustBeZero(page, a, b, rows),
  };
}

/** In a causal model the same head of the same layer sees the same until the texts differ. */
function mustBeZero(page: PageData, a: Side, b: Side, rows: Alignment): number {
  if (isSameHead(a, b) && a.source.id === b.source.id) return rows.length;
  return isTold(page, a, b) && isCausal(a.source.layers) && isCausal(b.source.layers) ? page.comparison!.mustBeZero : 0;
}

/** Whether these are the page's two texts, in the same head of the same layer. */
function isTold({ comparison }: PageData, a: Side, b: Side): boolean {
  const ids = [a.source.id, b.source.id].sort().join();
  return comparison !== undefined && ids === [comparison.a, comparison.b].sort().join() && isSameHead(a, b);
}

function isSameHead(a: Side, b: Side): boolean {
  return a.layer.number === b.layer.number && a.head === b.head;
}

/** The place of the pair that holds a token of the first text. */
export function pairAt(pairs: Pair[], token: number): number {
  return Math.max(
    0,
    pairs.findIndex((pair) => pair.a?.tokens.includes(token)),
  );
}

export interface PairShare {
  a: Share | null;
  b: Share | null;
  /** Second minus first; null where one of them cannot be seen or does not stand there. */
  difference: number | null;
}

export interface PairRow {
  pairs: Pair[];
  shares: PairShare[];
  largest: number;
  largestDifference: number;
}

/** The chosen word's row on both sides; null while it is awaited, a reason where the word stands on one side alone. */
export function usePairRow(
  of: Compared | null,
  place: number,
  rule: State["rule"],
): { row: PairRow | null; reason: string | null } {
  const asking = of?.asking[place];
  const answer = useAnswer(
    async () => (of && asking?.a && asking.b ? pairRow(of, asking.a, asking.b, rule) : null),
    [of, asking, rule],
  );
  if (of && asking && !(asking.a && asking.b))
    return { row: null, reason: "This word stands in one of the two texts alone: there is no row to compare with." };
  return useMemo(
    () => ({ row: answer.value?.pairs === of?.units ? answer.value : null, reason: answer.error }),
    [answer, of],
  );
}

export async function pairRow(
  { a, b, units }: Compared,
  askingA: Unit,
  askingB: Unit,
  rule: State["rule"],
): Promise<PairRow> {
  const row = (side: Side, unit: Unit) => unitRow(side.source, side.layer.number, side.head, askingTokens(unit, rule));
  const [rowA, rowB] = await Promise.all([row(a, askingA), row(b, askingB)]);
  const shares = units.map((pair): PairShare => {
    const shareA = pair.a && shareOf(rowA, pair.a);
    const shareB = pair.b && shareOf(rowB, pair.b);
    return {
      a: shareA,
      b: shareB,
      difference: shareA?.allowed && shareB?.allowed ? shareB.weight - shareA.weight : null,
    };
  });
  const top = (numbers: (number | null | undefined)[]) =>
    numbers.reduce<number>((most, each) => Math.max(most, Math.abs(each || 0)), 0);
  return {
    pairs: units,
    shares,
    largest: top(shares.flatMap((each) => [each.a?.weight, each.b?.weight])),
    largestDifference: top(shares.map((each) => each.difference)),
  };
}
