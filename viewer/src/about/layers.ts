// What a page carries of each layer, told once for all layers of which the same holds.

import type { LayerInfo } from "../data/types";

export interface LayerGroup {
  /** "0 to 29", "3", "1, 4 and 7 to 9". */
  layers: string;
  like: LayerInfo;
}

/** What the table says of a layer, but for its number and its largest error; a file's layer holds more than that. */
const TOLD = ["heads", "keyValueHeads", "carries", "precision", "hasSteps", "window", "causal", "hasSink", "omitted"] as const;

export function layerGroups(layers: LayerInfo[]): LayerGroup[] {
  const groups = new Map<string, LayerInfo[]>();
  for (const layer of layers) {
    const key = JSON.stringify(TOLD.map((name) => layer[name]));
    groups.set(key, [...(groups.get(key) ?? []), layer]);
  }
  return [...groups.values()].map((group) => ({
    layers: ranges(group.map((layer) => layer.number)),
    like: worstOf(group),
  }));
}

/** Of layers that are alike, the one with the largest possible error speaks for all. */
function worstOf(group: LayerInfo[]): LayerInfo {
  return group.reduce((worst, each) => ((each.worst ?? 0) > (worst.worst ?? 0) ? each : worst), group[0]!);
}

export function ranges(numbers: number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs[runs.length - 1];
    if (last && number === last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const parts = runs.map(([start, stop]) =>
    start === stop ? String(start) : stop === start + 1 ? `${start}, ${stop}` : `${start} to ${stop}`,
  );
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}
