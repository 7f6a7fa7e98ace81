// The words at which two rows differ most, for texts too long to read number by number.

import { differenceText, Quoted } from "../app/parts";
import { tokenNumber } from "../map/cell-text";
import { pairText } from "./align";
import type { PairRow } from "./compared";

const SHOWN = 12;

export function LargestDifferences({ row }: { row: PairRow }) {
  const size = (place: number) => Math.abs(row.shares[place]!.difference || 0);
  const places = row.pairs
    .flatMap((_, place) => (size(place) > 0 ? [place] : []))
    .sort((a, b) => size(b) - size(a))
    .slice(0, SHOWN);
  return (
    <div class="largest">
      <p class="note">The words where the two rows differ most:</p>
      <ol aria-label="The largest differences">
        {places.map((place) => {
          const { a, b } = row.pairs[place]!;
          return (
            <li key={place}>
              <Quoted text={pairText(a?.text ?? null, b?.text ?? null)} />{" "}
              <span class="figures">{differenceText(row.shares[place]!.difference!)}</span>{" "}
              <small>at {tokenNumber({ index: 0, pair: [a?.tokens[0] ?? null, b?.tokens[0] ?? null] })}</small>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
