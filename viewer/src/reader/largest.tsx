// The largest shares of a row as a list, for texts too long to read number by number.

import { Quoted, weightText } from "../app/parts";
import type { SeenRow } from "./seen-row";
import { largest, type Unit } from "./units";

const SHOWN = 12;

export function Largest({ seen, units, onKey }: { seen: SeenRow; units: Unit[]; onKey?: (key: number) => void }) {
  const places = largest(seen.shares, SHOWN);
  const together = places.reduce((sum, place) => sum + seen.shares[place]!.weight, 0);
  const others = seen.shares.filter((share) => share.allowed).length - places.length;
  return (
    <div class="largest">
      <ol aria-label="The largest shares">
        {places.map((place) => (
          <li key={place}>
            {onKey ? (
              <button type="button" onClick={() => onKey(units[place]!.tokens[0]!)}>
                <Entry unit={units[place]!} weight={seen.shares[place]!.weight} />
              </button>
            ) : (
              <Entry unit={units[place]!} weight={seen.shares[place]!.weight} />
            )}
          </li>
        ))}
      </ol>
      <p class="note">
        Together <span class="figures">{weightText(together)}</span> of the row; the other {others.toLocaleString("en")}{" "}
        share <span class="figures">{weightText(seen.row.sum - together)}</span>.
      </p>
    </div>
  );
}

function Entry({ unit, weight }: { unit: Unit; weight: number }) {
  return (
    <>
      <Quoted text={unit.text} /> <span class="figures">{weightText(weight)}</span> <small>at {unit.tokens[0]}</small>
    </>
  );
}
