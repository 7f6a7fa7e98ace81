// Which statistic the grid of heads shows.

import { useFrame } from "../app/frame";

export function StatisticPicker() {
  const { source, state, set } = useFrame();
  if (!source.statistics.length) return <>what each head does on average</>;
  return (
    <select
      aria-label="statistic"
      value={state.statistic}
      onChange={(event) => set({ statistic: event.currentTarget.value })}
    >
      {source.statistics.map(({ name, title }) => (
        <option key={name} value={name}>
          {title.toLowerCase()}
        </option>
      ))}
    </select>
  );
}
