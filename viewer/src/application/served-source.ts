// A reading whose numbers stay on the server: every row, tile and vector is asked for when it is looked at.
import type { HeaderReading, HeaderText } from "../data/header";
import { numbersOf } from "../data/numbers";
import { tokenList } from "../data/open";
import type { LayerInfo, PageData, Range, ReadingSource, Row, Statistic, Tile, TokenList, Vectors } from "../data/types";
import { type Api, ApiError, type Numbers } from "./api";

/** Tiles that are kept. */
const KEPT = 400;

/** What the server tells of a reading, see docs/server.md. */
export interface Served {
  schema: "heedmap/served/1";
  id: string;
  texts: HeaderText[];
  reading: HeaderReading;
  start: PageData["start"];
}

export type ServedStatistic = HeaderReading["statistics"][number];

export class ServedSource implements ReadingSource {
  readonly id: string;
  readonly title: string;
  readonly model: ReadingSource["model"];
  readonly queries: TokenList;
  readonly keys: TokenList;
  readonly layers: LayerInfo[];
  readonly statistics: Statistic[];
  readonly notes: string[];
  readonly nextToken?: { text: string; probability: number | null }[];
  private readonly tiles = new Map<string, Tile>();
  private readonly path: string;

  /** `gone` is called when the server no longer holds the reading; `measure` has the statistics computed. */
  constructor(
    served: Served,
    statistics: ServedStatistic[],
    private readonly api: Api,
    private readonly gone: (error: ApiError) => void,
    readonly measure?: () => void,
  ) {
    const { reading } = served;
    this.id = reading.id;
    this.title = reading.title;
    this.model = reading.model;
    this.queries = tokenList(served.texts[reading.queries]!);
    this.keys = reading.keys === reading.queries ? this.queries : tokenList(served.texts[reading.keys]!);
    this.layers = reading.layers;
    this.notes = reading.notes;
    if (reading.nextToken) this.nextToken = reading.nextToken;
    const heads = Math.max(0, ...reading.layers.map((layer) => layer.heads));
    this.statistics = statistics.map((one) => ({ ...one, values: numbersOf(one.values, heads) }));
    this.path = `/api/readings/${encodeURIComponent(served.id)}`;
  }

  async row(layer: number, head: number | null, query: number): Promise<Row> {
    const { head: told, bytes } = await this.ask("row", { layer, head, query });
    const { weights, allowed } = cells(bytes, told.keys!);
    let sum = 0;
    for (const weight of weights) sum += weight;
    return { weights, allowed, sink: told.sink ?? null, sum };
  }

  async tile(
    layer: number, head: number | null, rows: Range, columns: Range, height: number, width: number, how: "mean" | "max", signal?: AbortSignal,
  ): Promise<Tile> {
    const asked = {
      layer, head, rows_start: rows.start, rows_stop: rows.stop, columns_start: columns.start, columns_stop: columns.stop, height, width, how,
    };
    const name = JSON.stringify(asked);
    const kept = this.tiles.get(name);
    if (kept) return kept;
    const { head: told, bytes } = await this.ask("tile", asked, signal);
    const tile = { rows, columns, height: told.height!, width: told.width!, ...cells(bytes, told.height! * told.width!) };
    this.tiles.set(name, tile);
    if (this.tiles.size > KEPT) this.tiles.delete(this.tiles.keys().next().value!);
    return tile;
  }

  async vectors(layer: number, head: number, query: number): Promise<Vectors> {
    const { head: told, bytes } = await this.ask("vectors", { layer, head, query });
    const { keys: count, dim, valueDim } = told as Record<"keys" | "dim" | "valueDim", number>;
    const numbers = new Float32Array(bytes, 0, dim + count * (dim + valueDim));
    const part = (start: number, length: number) => (_: unknown, place: number) =>
      numbers.subarray(start + place * length, start + (place + 1) * length);
    return {
      query: numbers.subarray(0, dim),
      keys: Array.from({ length: count }, part(dim, dim)),
      values: Array.from({ length: count }, part(dim + count * dim, valueDim)),
      scale: told.scale!,
      softcap: told.softcap ?? null,
      bias: null,
      sink: told.sink ?? null,
      allowed: new Uint8Array(bytes, numbers.byteLength, count),
    };
  }

  private async ask(what: string, asked: Record<string, number | string | null>, signal?: AbortSignal): Promise<Numbers> {
    const parts = Object.entries(asked).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
    try {
      return await this.api.numbers(`${this.path}/${what}?${new URLSearchParams(parts)}`, signal);
    } catch (error) {
      if (error instanceof ApiError && error.isGone) this.gone(error);
      throw error;
    }
  }
}

/** Weights in float32, then a byte a cell: 1 where the look is allowed. */
function cells(bytes: ArrayBuffer, count: number): { weights: Float32Array; allowed: Uint8Array } {
  return { weights: new Float32Array(bytes, 0, count), allowed: new Uint8Array(bytes, 4 * count, count) };
}
