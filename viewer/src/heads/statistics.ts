// A statistic of every head: its value in a layer and head, its scale and its colour.

import { colour, differenceColour } from "../colour";
import type { LayerInfo, ReadingSource, Statistic } from "../data/types";
import type { Theme } from "../map/props";

export function statisticOf(source: ReadingSource, name: string): Statistic | null {
  return source.statistics.find((each) => each.name === name) ?? source.statistics[0] ?? null;
}

/** The value of a head, NaN where it is absent. Values lie layer by layer, all as wide as the widest. */
export function valueOf(source: ReadingSource, statistic: Statistic, layer: number, head: number): number {
  const place = source.layers.findIndex((each) => each.number === layer);
  const heads = statistic.values.length / source.layers.length;
  return place < 0 || head >= heads ? NaN : (statistic.values[place * heads + head] ?? NaN);
}

export interface StatisticScale {
  low: number;
  high: number;
  /** Around nothing, with a colour for either side, where values of both signs occur. */
  diverging: boolean;
}

/** Shares run from 0 to 1 whatever was measured; all else from 0 to the largest value, or as far to either side. */
export function scaleOf(statistic: Statistic): StatisticScale {
  const values = Array.from(statistic.values).filter(Number.isFinite);
  if (statistic.unit === "share") return { low: 0, high: 1, diverging: false };
  const top = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
  const diverging = values.some((value) => value < 0);
  return { low: diverging ? -top : 0, high: top, diverging };
}

export function statisticColour(value: number, scale: StatisticScale, theme: Theme): string {
  return scale.diverging
    ? differenceColour(value, theme, { top: scale.high })
    : colour(value, theme, { top: scale.high });
}

/** The heads of a layer in groups that read one key-value head; a single group where every head has its own. */
export function groupsOf({ heads, keyValueHeads }: Pick<LayerInfo, "heads" | "keyValueHeads">): number[][] {
  const every = Array.from({ length: heads }, (_, head) => head);
  const size = heads / keyValueHeads;
  if (size <= 1 || !Number.isInteger(size)) return [every];
  return Array.from({ length: keyValueHeads }, (_, group) => every.slice(group * size, (group + 1) * size));
}
