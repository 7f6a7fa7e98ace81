// A small exact map for overviews: pooled by the source, asked for when it comes near the screen, drawn once.

import { useEffect, useState } from "preact/hooks";
import { useSeen } from "../app/hooks";
import type { Range, ReadingSource, Tile } from "../data/types";
import { inTurn } from "./one-by-one";
import { paint, summary } from "./paint";
import type { TinyMapProps } from "./props";

/** Cells along a side; of longer texts each stands for a block, as its largest weight. */
const SIDE = 64;

interface Parts {
  first: Tile;
  others: Tile | null;
}

export function TinyMap({
  source,
  layer,
  head,
  theme,
  size = 64,
  scale = "linear",
  apart = false,
  difference = false,
}: TinyMapProps) {
  const [place, seen] = useSeen<HTMLCanvasElement>("picture", "200px");
  const parts = useParts(source, layer, head, seen);
  useEffect(() => {
    if (!parts || !place.current) return;
    const own = parts.others ? summary(parts.others, false).largest : 1;
    const top = (difference || apart) && own > 0 ? own : 1;
    draw(place.current, parts, { theme, scale, top, difference });
  }, [parts, theme, scale, apart, difference]);
  return (
    <canvas
      ref={place}
      class="tiny-map"
      width={1}
      height={1}
      style={{ width: `${size}px`, height: `${size}px` }}
      aria-hidden="true"
    />
  );
}

/** The first token's column and the rest; null until they have come. */
function useParts(source: ReadingSource, layer: number, head: number | null, seen: boolean): Parts | null {
  const [parts, setParts] = useState<Parts | null>(null);
  useEffect(() => {
    const info = source.layers.find((each) => each.number === layer);
    if (!seen || !info || info.carries === "nothing") return;
    const abort = new AbortController();
    inTurn(() => ask(source, layer, head, abort.signal), abort.signal).then(
      (found) => abort.signal.aborted || setParts(found),
      // An overview says nothing of a map that failed: the map itself does, when it is opened.
      () => undefined,
    );
    return () => abort.abort();
  }, [source, layer, head, seen]);
  return parts;
}

async function ask(source: ReadingSource, layer: number, head: number | null, signal: AbortSignal): Promise<Parts> {
  const rows = { start: 0, stop: source.queries.tokens.length };
  const keys = source.keys.tokens.length;
  const height = Math.min(rows.stop, SIDE);
  const tile = (columns: Range, width: number) => source.tile(layer, head, rows, columns, height, width, "max", signal);
  if (keys <= SIDE) {
    const whole = await tile({ start: 0, stop: keys }, keys);
    return { first: columnsOf(whole, 0, 1), others: keys > 1 ? columnsOf(whole, 1, keys) : null };
  }
  // Where several keys share a cell, the first token has a column of its own all the same.
  return { first: await tile({ start: 0, stop: 1 }, 1), others: await tile({ start: 1, stop: keys }, SIDE) };
}

/** Some columns of a tile whose cells stand for one key each. */
function columnsOf(tile: Tile, start: number, stop: number): Tile {
  const cells = Array.from({ length: tile.height * (stop - start) }, (_, cell) => {
    const row = Math.floor(cell / (stop - start));
    return row * tile.width + start + (cell % (stop - start));
  });
  return {
    ...tile,
    columns: { start, stop },
    width: stop - start,
    weights: Float32Array.from(cells, (cell) => tile.weights[cell]!),
    allowed: Uint8Array.from(cells, (cell) => tile.allowed[cell]!),
  };
}

function draw(canvas: HTMLCanvasElement, { first, others }: Parts, ink: Parameters<typeof paint>[1]): void {
  canvas.width = 1 + (others?.width ?? 0);
  canvas.height = first.height;
  const context = canvas.getContext("2d")!;
  context.drawImage(paint(first, ink, true, null), 0, 0);
  if (others) context.drawImage(paint(others, ink, false, null), 1, 0);
}
