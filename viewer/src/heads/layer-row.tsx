// One line of the grid of heads: a square for each head of a layer.

import { useMemo } from "preact/hooks";
import { useFrame } from "../app/frame";
import { statisticText } from "../app/parts";
import type { LayerInfo, Statistic } from "../data/types";
import { groupsOf, statisticColour, type StatisticScale, valueOf } from "./statistics";

interface LayerRowProps {
  layer: LayerInfo;
  /** The head where the keyboard enters; none in the lines that are not chosen. */
  chosen: number | null;
  /** Whether that head is the one that is shown. */
  outlined: boolean;
  statistic: Statistic | null;
  scale: StatisticScale | null;
}

/** Drawn again only when what it shows has changed, since models have thousands of heads. */
export function LayerRow({ layer, chosen, outlined, statistic, scale }: LayerRowProps) {
  const { source, theme } = useFrame();
  return useMemo(() => {
    const cell = (head: number) => {
      const value = statistic && valueOf(source, statistic, layer.number, head);
      const background =
        value === null || !scale
          ? "var(--tint)"
          : Number.isNaN(value)
            ? undefined
            : statisticColour(value, scale, theme);
      return (
        <button
          type="button"
          role="gridcell"
          key={head}
          data-layer={layer.number}
          data-head={head}
          tabIndex={head === chosen ? 0 : -1}
          aria-selected={outlined && head === chosen}
          class={background ? "cell" : "cell cell-absent"}
          style={{ background }}
          aria-label={headText(layer.number, head, value)}
        />
      );
    };
    return (
      <div role="row" class="statistics-row">
        <span role="rowheader" class="statistics-layer figures">
          {layer.number}
        </span>
        {groupsOf(layer).map((group) =>
          group.map((head, place) =>
            place ? (
              cell(head)
            ) : (
              <span key={`group ${head}`} role="presentation" class="cell-group">
                {cell(head)}
              </span>
            ),
          ),
        )}
      </div>
    );
  }, [source, statistic, layer, chosen, outlined, scale, theme]);
}

/** "layer 16, head 3: 0.559", or without a number where nothing was measured. */
export function headText(layer: number, head: number, value: number | null): string {
  return `layer ${layer}, head ${head}${value === null ? "" : `: ${statisticText(value)}`}`;
}
