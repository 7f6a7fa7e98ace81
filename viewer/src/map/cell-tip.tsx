// One cell in words: beside the pointer, and under the map for the cell that is chosen.

import { useEffect, useState } from "preact/hooks";
import { Quoted } from "../app/parts";
import type { LayerInfo, Range, ReadingSource, Row, TokenList } from "../data/types";
import { cellText, exactText, placeText, plural, tokenNumber } from "./cell-text";
import type { MapController } from "./controller";
import type { RowCache } from "./row-cache";
import type { Pooling } from "./tile-store";
import type { Cell } from "./viewport";

interface Head {
  source: ReadingSource;
  info: LayerInfo;
  head: number | null;
  unit: string;
  rows: RowCache;
}

/** A pointer that only passes over a row does not ask for it. */
const PATIENCE_MS = 40;

/** The row of a query; null until it has arrived, and the reason where it cannot. */
function useRow(rows: RowCache, query: number | null): { row: Row | null; fault: string | null } {
  const [, again] = useState(0);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    setFault(null);
    if (query === null || rows.peek(query)) return;
    let current = true;
    const timer = setTimeout(() => {
      rows.get(query).then(
        () => current && again((count) => count + 1),
        (reason: unknown) => current && setFault(reason instanceof Error ? reason.message : String(reason)),
      );
    }, PATIENCE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [rows, query]);
  return { row: query === null ? null : rows.peek(query), fault };
}

const TIP_WIDTH = 250;

/** Beside the pointer. Where cells are pooled, also what the coloured block stands for. */
export function CellTip({
  source,
  info,
  head,
  unit,
  rows,
  cell,
  map,
  pooled,
}: Head & { cell: Cell; map: MapController; pooled: Pooling | null }) {
  const { row, fault } = useRow(rows, cell.query);
  const { looking, looked, verb, value, absent } = cellText(source, info, cell, row);
  const { x, y, side } = map.place(cell);
  const width = map.layout?.width ?? 0;
  const left = x + side + 10 + TIP_WIDTH > width ? Math.max(0, x - TIP_WIDTH - 8) : x + side + 10;
  return (
    <div class="map-tip" style={{ left: `${left}px`, top: `${y + side + 8}px`, maxWidth: `${TIP_WIDTH}px` }}>
      <p>
        <Quoted text={looking} /> {verb} <Quoted text={looked} />
      </p>
      <p class="map-tip-number">
        {fault ?? (absent ? value : `${unit} ${value}`)}
        <span>{placeText(info, head)}</span>
      </p>
      {pooled ? <p class="map-tip-block">{blockText(map, source, cell, pooled)}</p> : null}
    </div>
  );
}

function blockText(map: MapController, source: ReadingSource, cell: Cell, how: Pooling): string {
  const { level, tiles } = map;
  const found = tiles?.lookup(level, cell.query, cell.key);
  if (!tiles || !found) return "";
  const [queries, keys] = tiles.block(level, cell.query, cell.key);
  const from = ({ tokens }: TokenList, { start, stop }: Range) =>
    [tokens[start]!, ...(stop - start > 1 ? [tokens[stop - 1]!] : [])].map(tokenNumber).join(" to ");
  const what = found.allowed
    ? `${how === "max" ? "largest" : "mean"} ${exactText(found.weight)}`
    : source.absent
      ? "nothing to compare"
      : "nothing may be looked at";
  return `tokens ${from(source.queries, queries)} at tokens ${from(source.keys, keys)}: ${what}`;
}

/** Under the map, read out when it changes: the chosen cell, or the chosen row, in a sentence. */
export function CellLine(props: Head & { query: number | null; choice: number | null }) {
  const { rows, query, choice } = props;
  const { row, fault } = useRow(rows, query);
  return (
    <p class="map-line" aria-live="polite">
      {fault ??
        (query === null || !row ? (
          "Choose a cell to read its number, or a row's word to see where it looks."
        ) : choice === null ? (
          <RowSentence {...props} query={query} row={row} />
        ) : (
          <CellSentence {...props} cell={{ query, key: choice }} row={row} />
        ))}
    </p>
  );
}

function CellSentence({ source, info, head, unit, cell, row }: Head & { cell: Cell; row: Row }) {
  const { looking, looked, verb, value, absent } = cellText(source, info, cell, row);
  return (
    <>
      <Quoted text={looking} /> (token {tokenNumber(source.queries.tokens[cell.query]!)}) {verb}{" "}
      <Quoted text={looked} /> (token {tokenNumber(source.keys.tokens[cell.key]!)}):{" "}
      {absent ? value : `${unit} ${value}`}; {placeText(info, head)}
    </>
  );
}

function RowSentence({ source, unit, query, row }: Head & { query: number; row: Row }) {
  const seen = row.allowed.reduce((sum, one) => sum + one, 0);
  const sink = row.sink === null ? "" : `, and ${exactText(row.sink)} goes to the learned sink`;
  const asking = source.queries.tokens[query]!;
  const what = source.absent ? `can be compared at ${seen} places` : `may look at ${seen} tokens`;
  return (
    <>
      <Quoted text={asking.label} /> (token {tokenNumber(asking)}) {what}; the {plural(unit)} of its row add up to{" "}
      {exactText(row.sum)}
      {sink}
    </>
  );
}
