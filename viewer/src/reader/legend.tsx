// What the colours of the words mean, and that switching them changes no number.

import { useFrame } from "../app/frame";
import { Quoted } from "../app/parts";
import { floorOf, gradient } from "../colour";
import type { SeenRow } from "./seen-row";
import { topOf } from "./shading";

export function Legend({ seen, first }: { seen: SeenRow; first: string | null }) {
  const {
    state: { apart, scale },
    theme,
  } = useFrame();
  const top = topOf(seen, apart);
  const low = scale === "log" ? `≤ ${floorOf(top).toPrecision(1)}` : "0";
  return (
    <p class="legend">
      <span class="figures">{low}</span>
      <span class="legend-bar" style={{ background: gradient("weight", theme) }} aria-hidden="true" />
      <span class="figures">{top === 1 ? "1" : top.toFixed(3)}</span>
      <span> weight{scale === "log" ? ", even steps of its logarithm" : ""}</span>
      {apart && first !== null ? (
        <span class="legend-first">
          <span class="legend-bar" style={{ background: gradient("first", theme) }} aria-hidden="true" />
          <span>
            {" "}
            <Quoted text={first} />, set apart with a scale to 1, so that the blue ends at the largest of the others. No
            number changes, nor does any height.
          </span>
        </span>
      ) : null}
    </p>
  );
}
