// A page made by Python, with the numbers that Python computes itself (see tests/drawing/page/making.py).
import { readFileSync } from "node:fs";
import { type Calculator, LocalCalculator } from "../../src/data/calculator";
import type { Header } from "../../src/data/header";
import { openPage } from "../../src/data/open";
import type { PageData, ReadingSource } from "../../src/data/types";

type Listed = (number | "NaN" | null)[];
interface Place { reading: string; layer: number; head: number | null }

export interface Fixture {
  header: Header;
  blocks: string[];
  rows: (Place & { query: number; weights: Listed; sum: number | "NaN"; sink: number | null })[];
  tiles: (Place & { how: "mean" | "max"; weights: Listed[] })[];
  vectors: (Place & { query: number; vector: number[]; keys: number[][]; values: number[][]; scores: (number | null)[] })[];
}

export function loadFixture(): Fixture {
  return JSON.parse(readFileSync(new URL("./page.json", import.meta.url), "utf8")) as Fixture;
}

export function openFixture(fixture: Fixture, calculator: Calculator = new LocalCalculator()): PageData {
  return openPage(fixture.header, async (place) => Uint8Array.from(Buffer.from(fixture.blocks[place]!, "base64")), calculator);
}

export function sourceOf(page: PageData, id: string): ReadingSource {
  return page.readings.find((reading) => reading.id === id)!;
}

/** How far a layer's numbers may lie from Python's: what the page itself says, and a rounding of float32. */
export function tolerance(source: ReadingSource, layer: number): number {
  return source.layers.find((info) => info.number === layer)!.worst! + 2e-7;
}

/** Compare numbers with Python's: null must be forbidden, "NaN" not a number. */
export function expectNumbers(found: Float32Array, allowed: Uint8Array, wanted: Listed, within: number): string[] {
  const wrong: string[] = [];
  wanted.forEach((number, place) => {
    const [mine, may] = [found[place]!, allowed[place] === 1];
    if (number === null ? may || mine !== 0 : !may || !close(mine, number, within)) wrong.push(`${place}: ${mine} (${may}) for ${number}`);
  });
  return wanted.length === found.length ? wrong : [`${found.length} numbers for ${wanted.length}`];
}

export function close(mine: number, wanted: number | "NaN", within: number): boolean {
  return wanted === "NaN" ? Number.isNaN(mine) : Math.abs(mine - wanted) <= within;
}
