// Which statistic the grid of heads shows; those of a long text are computed when somebody asks for them.

import { useFrame } from "../app/frame";
import type { Statistic } from "../data/types";

/** A model without a learned sink, say, has no share on it to show. */
function isMeasured(statistic: Statistic): boolean {
  return statistic.values.some(Number.isFinite);
}

export function StatisticPicker() {
  const { source, state, set } = useFrame();
  if (!source.statistics.length && source.measure) {
    return (
      <button type="button" onClick={source.measure}>
        Compute what each head does on average
      </button>
    );
  }
  if (!source.statistics.length) return <>what each head does on average</>;
  return (
    <select
      aria-label="statistic"
      value={state.statistic}
      onChange={(event) => set({ statistic: event.currentTarget.value })}
    >
      {source.statistics.filter(isMeasured).map(({ name, title }) => (
        <option key={name} value={name}>
          {title.toLowerCase()}
        </option>
      ))}
    </select>
  );
}
