// One number for every head: layers down, heads across, bracketed by the key-value head they share.

import { useMemo, useRef, useState } from "preact/hooks";
import { useFrame } from "../app/frame";
import { Note, statisticText } from "../app/parts";
import type { LayerInfo } from "../data/types";
import { headText, LayerRow } from "./layer-row";
import { gradient } from "../colour";
import type { State } from "../state";
import { groupsOf, scaleOf, type StatisticScale, statisticOf, valueOf } from "./statistics";
import "./heads.css";

interface Spot {
  layer: number;
  head: number;
}

export function StatisticGrid({ onHead }: { onHead: (spot: Pick<State, "layer" | "head">) => void }) {
  const { source, state } = useFrame();
  const [pointed, setPointed] = useState<Spot | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const statistic = statisticOf(source, state.statistic);
  const scale = useMemo(() => (statistic ? scaleOf(statistic) : null), [statistic]);
  const move = (event: KeyboardEvent) => {
    const next = neighbour(event.key, spotOf(event.target), source.layers);
    if (!next) return;
    event.preventDefault();
    onHead(next);
    cellAt(grid.current, next)?.focus();
  };
  const choose = (event: Event) => {
    const spot = spotOf(event.target);
    if (spot) onHead(spot);
  };
  const shown = pointed ?? (state.head === null ? null : { layer: state.layer, head: state.head });
  return (
    <div
      class="statistics"
      style={{ "--widest": Math.max(...source.layers.map(({ heads }) => heads)) }}
      onMouseLeave={() => setPointed(null)}
    >
      <Brackets layers={source.layers} />
      <div
        role="grid"
        ref={grid}
        aria-label={`${statistic?.title ?? "All heads"}: layers by heads`}
        class="statistics-grid"
        onKeyDown={move}
        onClick={choose}
        onMouseOver={(event) => setPointed(spotOf(event.target))}
      >
        {source.layers.map((layer) => (
          <LayerRow
            key={layer.number}
            layer={layer}
            chosen={layer.number === state.layer ? (state.head ?? 0) : null}
            outlined={state.head !== null}
            statistic={statistic}
            scale={scale}
          />
        ))}
      </div>
      {scale ? (
        <Ends scale={scale} unit={statistic!.unit} />
      ) : (
        <Note>This reading carries no statistics of its heads; a square still leads to its head.</Note>
      )}
      <p class="readout figures">
        {shown
          ? headText(shown.layer, shown.head, statistic && valueOf(source, statistic, shown.layer, shown.head))
          : `layer ${state.layer}, mean over heads`}
      </p>
    </div>
  );
}

/** "kv 0" above the heads that read key-value head 0, where heads share them. */
function Brackets({ layers }: { layers: LayerInfo[] }) {
  const [first] = layers;
  const groups = first ? groupsOf(first) : [];
  if (
    !first ||
    groups.length < 2 ||
    layers.some((layer) => layer.heads !== first.heads || layer.keyValueHeads !== first.keyValueHeads)
  )
    return null;
  return (
    <div class="statistics-row brackets" aria-hidden="true">
      <span class="statistics-layer" />
      {groups.map((group, number) => (
        <span key={number} class="bracket" style={{ "--heads": group.length }}>
          kv {number}
        </span>
      ))}
    </div>
  );
}

function spotOf(target: EventTarget | null): Spot | null {
  const cell = target instanceof Element ? target.closest<HTMLElement>("[data-head]") : null;
  return cell ? { layer: Number(cell.dataset.layer), head: Number(cell.dataset.head) } : null;
}

function cellAt(grid: Element | null, { layer, head }: Spot): HTMLElement | null {
  return grid?.querySelector<HTMLElement>(`[data-layer="${layer}"][data-head="${head}"]`) ?? null;
}

/** What the colours mean: the ends of the scale and its unit. */
function Ends({ scale, unit }: { scale: StatisticScale; unit: string }) {
  const { theme } = useFrame();
  const half = (kind: "less" | "more", side: "left" | "right") =>
    `${gradient(kind, theme, `to ${side}`)} ${side} / 50% 100% no-repeat`;
  const background = scale.diverging ? `${half("less", "left")}, ${half("more", "right")}` : gradient("weight", theme);
  return (
    <p class="legend">
      <span class="figures">{endText(scale.low)}</span>
      <span class="legend-bar" style={{ background }} aria-hidden="true" />
      <span class="figures">{endText(scale.high)}</span> <span>{unit}</span>
    </p>
  );
}

/** The ends of a scale, without places that say nothing. */
function endText(value: number): string {
  return Number.isInteger(value) && value >= 0 ? String(value) : statisticText(value);
}

/** The head an arrow key leads to. */
export function neighbour(key: string, from: Spot | null, layers: LayerInfo[]): Spot | null {
  const place = layers.findIndex((layer) => layer.number === from?.layer);
  if (!from || place < 0) return null;
  const within = (head: number, at: number) => Math.min(head, (layers[at]?.heads ?? 1) - 1);
  const row = { ArrowUp: place - 1, ArrowDown: place + 1, PageUp: 0, PageDown: layers.length - 1 }[key];
  if (row !== undefined) return layers[row] ? { layer: layers[row].number, head: within(from.head, row) } : null;
  const heads = layers[place]!.heads;
  const head = { ArrowLeft: from.head - 1, ArrowRight: from.head + 1, Home: 0, End: heads - 1 }[key];
  return head === undefined || head < 0 || head >= heads ? null : { layer: from.layer, head };
}
