// The row that the reader shows and all that is said about it; asked for as one, so that it fits together.

import { useMemo } from "preact/hooks";
import { useAnswer } from "../app/hooks";
import type { ReadingSource, Row } from "../data/types";
import type { Place } from "../state";
import {
  askingTokens,
  firstSeen,
  largest,
  ordinaryShare,
  shareOf,
  type Share,
  type Unit,
  unitAt,
  unitRow,
  unitsOf,
} from "./units";

export interface SeenRow {
  row: Row;
  shares: Share[];
  /** The place of the first unit that may be looked at. */
  first: number | null;
  ordinary: number | null;
  /** The largest share of all, and the largest of those that are not the first. */
  largest: number;
  largestOther: number;
  /** The tokens whose rows were taken. */
  queries: number[];
}

export interface Reader {
  /** The words that look, and those that are looked at: the same in self-attention. */
  asking: Unit[];
  units: Unit[];
  /** The place of the unit that looks. */
  place: number;
  seen: SeenRow | null;
  error: string | null;
}

export interface Wanted extends Pick<Place, "layer" | "head"> {
  query: number;
  unit: "words" | "tokens";
  rule: "mean" | "last";
  /** Whether the token's own row is wanted, and not that of the word it belongs to. */
  exact?: boolean;
}

export function useReader(source: ReadingSource, wanted: Wanted): Reader {
  const { layer, head, query, unit, rule, exact = false } = wanted;
  const asking = useMemo(() => unitsOf(source.queries, unit), [source, unit]);
  const units = useMemo(() => (source.keys === source.queries ? asking : unitsOf(source.keys, unit)), [asking]);
  const place = unitAt(asking, query);
  const answer = useAnswer(async () => {
    const unitOf = asking[place];
    if (!unitOf) throw new Error("This text has no tokens.");
    return { units, seen: await seenRow(source, layer, head, exact ? [query] : askingTokens(unitOf, rule), units) };
  }, [source, layer, head, exact ? query : place, rule, units]);
  const seen = answer.value?.units === units ? answer.value.seen : null;
  return { asking, units, place, seen, error: answer.error };
}

export async function seenRow(
  source: ReadingSource,
  layer: number,
  head: number | null,
  queries: number[],
  units: Unit[],
): Promise<SeenRow> {
  const row = await unitRow(source, layer, head, queries);
  const shares = units.map((unit) => shareOf(row, unit));
  const token = firstSeen(row);
  const first = token === null ? null : units.findIndex((unit) => unit.tokens.includes(token));
  const [best] = largest(shares.map(numbersOnly), 1);
  const [next] = largest(
    shares.map((share, index) => (index === first ? { ...share, allowed: false } : numbersOnly(share))),
    1,
  );
  return {
    row,
    shares,
    first,
    queries,
    ordinary: ordinaryShare(row, units),
    largest: best === undefined ? 0 : shares[best]!.weight,
    largestOther: next === undefined ? 0 : shares[next]!.weight,
  };
}

function numbersOnly(share: Share): Share {
  return Number.isNaN(share.weight) ? { ...share, allowed: false } : share;
}
