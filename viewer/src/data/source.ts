// A reading whose numbers are in the page: layers are decoded when they are first asked for.
import type { Calculator } from "./calculator";
import type { FlatVectors } from "./engine";
import type { HeaderLayer, HeaderReading, HeaderRule } from "./header";
import { numbersOf } from "./numbers";
import type { LayerInfo, Range, ReadingSource, Row, Statistic, Tile, TokenList, Vectors } from "./types";

/** Reads a block of the page, still compressed. */
export type ReadBlock = (place: number) => Promise<Uint8Array<ArrayBuffer>>;

/** Bytes of tiles that are kept. */
const KEPT_BYTES = 48 << 20;

export class EmbeddedSource implements ReadingSource {
  readonly id: string;
  readonly title: string;
  readonly model: ReadingSource["model"];
  readonly layers: LayerInfo[];
  readonly statistics: Statistic[];
  readonly notes: string[];
  readonly nextToken?: { text: string; probability: number | null }[];
  private readonly opened = new Map<number, Promise<string>>();
  private readonly tiles = new Map<string, Tile>();
  private bytes = 0;

  constructor(
    private readonly reading: HeaderReading,
    readonly queries: TokenList,
    readonly keys: TokenList,
    private readonly rules: HeaderRule[],
    private readonly readBlock: ReadBlock,
    private readonly calculator: Calculator,
  ) {
    this.id = reading.id;
    this.title = reading.title;
    this.model = reading.model;
    this.layers = reading.layers;
    this.notes = reading.notes;
    if (reading.nextToken) this.nextToken = reading.nextToken;
    const heads = Math.max(0, ...reading.layers.map((layer) => layer.heads));
    this.statistics = reading.statistics.map((one) => ({ ...one, values: numbersOf(one.values, heads) }));
  }

  async row(layer: number, head: number | null, query: number): Promise<Row> {
    const info = this.known(layer);
    checkHead(info, head);
    checkPlace("query", query, this.queries.tokens.length);
    const key = await this.open(info);
    return (await this.calculator.ask({ kind: "row", key, head, query })) as Row;
  }

  async tile(
    layer: number, head: number | null, rows: Range, columns: Range, height: number, width: number, how: "mean" | "max", signal?: AbortSignal,
  ): Promise<Tile> {
    const info = this.known(layer);
    checkHead(info, head);
    checkRange("rows", rows, this.queries.tokens.length);
    checkRange("columns", columns, this.keys.tokens.length);
    const name = [layer, head, rows.start, rows.stop, columns.start, columns.stop, height, width, how].join();
    const kept = this.tiles.get(name);
    if (kept) {
      this.tiles.delete(name);
      this.tiles.set(name, kept);
      return kept;
    }
    const key = await this.open(info);
    signal?.throwIfAborted();
    const asked = { head, rows, columns, height, width, how };
    const tile = (await this.calculator.ask({ kind: "tile", key, asked }, signal)) as Tile;
    this.keep(name, tile);
    return tile;
  }

  async vectors(layer: number, head: number, query: number): Promise<Vectors> {
    const info = this.known(layer);
    checkHead(info, head);
    checkPlace("query", query, this.queries.tokens.length);
    const key = await this.open(info);
    const flat = (await this.calculator.ask({ kind: "vectors", key, head, query })) as FlatVectors;
    const count = flat.allowed.length;
    return { ...flat, keys: split(flat.keys, count), values: flat.values && split(flat.values, count) };
  }

  private known(number: number): HeaderLayer {
    const info = this.reading.layers.find((layer) => layer.number === number);
    if (!info) throw new RangeError(`there is no layer ${number}`);
    if (info.carries === "nothing") throw new Error(`layer ${number} is not in this page: ${info.omitted}`);
    return info;
  }

  /** Hand the layer to whoever computes, once. */
  private open(info: HeaderLayer): Promise<string> {
    let opened = this.opened.get(info.number);
    if (!opened) {
      opened = this.handOver(info);
      this.opened.set(info.number, opened);
    }
    return opened;
  }

  private async handOver(info: HeaderLayer): Promise<string> {
    const key = `${this.id}/${info.number}`;
    const rule = this.rules[info.rule!]!;
    const bits = rule.block === undefined ? null : await this.readBlock(rule.block);
    this.calculator.open({ key, info, rule, block: await this.readBlock(info.block!), bits });
    return key;
  }

  /** Keep a tile, and forget those that were not asked for longest. */
  private keep(name: string, tile: Tile): void {
    if (this.tiles.has(name)) return; // it was asked for twice at once
    this.tiles.set(name, tile);
    this.bytes += size(tile);
    for (const [oldest, one] of this.tiles) {
      if (this.bytes <= KEPT_BYTES) break;
      this.tiles.delete(oldest);
      this.bytes -= size(one);
    }
  }
}

function size(tile: Tile): number {
  return tile.weights.byteLength + tile.allowed.byteLength;
}

function split(flat: Float32Array, count: number): Float32Array[] {
  const length = flat.length / count;
  return Array.from({ length: count }, (_, place) => flat.subarray(place * length, (place + 1) * length));
}

function checkHead(info: HeaderLayer, head: number | null): void {
  if (head !== null) checkPlace("head", head, info.heads);
}

function checkPlace(what: string, place: number, count: number): void {
  if (!Number.isInteger(place) || place < 0 || place >= count) throw new RangeError(`there is no ${what} ${place}: there are ${count}`);
}

function checkRange(what: string, range: Range, count: number): void {
  if (!(0 <= range.start && range.start < range.stop && range.stop <= count)) {
    throw new RangeError(`${what} ${range.start} to ${range.stop} are not within 0 to ${count}`);
  }
}
