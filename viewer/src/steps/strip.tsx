// A vector as a strip of colours, a cell a dimension: blue above 0, brown below, paler the nearer to 0.

import type { Vector } from "../arithmetic/steps";
import { differenceColour } from "../colour";
import type { Theme } from "../map/props";

export function Strip({ name, vector, theme }: { name: string; vector: Vector; theme: Theme }) {
  const numbers = Array.from(vector);
  const top = Math.max(...numbers.map(Math.abs), 1e-12);
  const share = 100 / numbers.length;
  const stops = numbers.map((number, index) => {
    const colour = differenceColour(number, theme, { top });
    return `${colour} ${(index * share).toFixed(3)}% ${((index + 1) * share).toFixed(3)}%`;
  });
  return (
    <div class="strip">
      <span class="strip-name">
        <bdi>{name}</bdi>
      </span>
      <span
        class="strip-cells"
        style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }}
        aria-hidden="true"
      />
    </div>
  );
}
