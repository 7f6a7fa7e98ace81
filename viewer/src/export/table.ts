// The numbers on screen as files: a table as Python writes it, and strict JSON.

import { visible } from "../app/parts";

/** A row or column; `tokens` are its places in two texts in step. */
interface CellToken {
  index: number;
  label: string;
  tokens?: readonly [number | null, number | null];
}

/** The cells of a part of a map, row by row. */
export interface Cells {
  queries: CellToken[];
  keys: CellToken[];
  weights: ArrayLike<number>;
  allowed: ArrayLike<number>;
}

const CORNER = "from (query) \\ to (key)";

/**
 * A table as `heedmap map -o map.csv` writes it: the first line holds the key labels, the first column the query
 * labels, forbidden cells are empty, and a label that a spreadsheet would run as a formula has an apostrophe before it.
 */
export function csv(cells: Cells): string {
  const width = cells.keys.length;
  const line = (fields: string[]) => fields.map(quoted).join(",");
  const header = line([CORNER, ...cells.keys.map(({ label }) => noFormula(visible(label)))]);
  const rows = cells.queries.map(({ label }, row) => {
    const numbers = cells.keys.map((_, column) => numberText(cells, row * width + column));
    return line([noFormula(visible(label)), ...numbers]);
  });
  return `${[header, ...rows].join("\n")}\n`;
}

/** Strict JSON: null for what may not be looked at, and a list of the cells that are not numbers. */
export function json(cells: Cells, about: Record<string, unknown>): string {
  const width = cells.keys.length;
  const broken: [number, number][] = [];
  const weights = cells.queries.map((query, row) =>
    cells.keys.map((key, column) => {
      const cell = row * width + column;
      if (!cells.allowed[cell]) return null;
      const weight = cells.weights[cell]!;
      if (!Number.isFinite(weight)) broken.push([query.index, key.index]);
      return Number.isFinite(weight) ? weight : null;
    }),
  );
  const labels = { queries: cells.queries, keys: cells.keys };
  return `${JSON.stringify({ schema: "heedmap/map-part/1", ...about, ...labels, weights, not_numbers: broken })}\n`;
}

function numberText(cells: Cells, cell: number): string {
  if (!cells.allowed[cell]) return "";
  const weight = cells.weights[cell]!;
  return Number.isNaN(weight) ? "nan" : String(shortest(weight));
}

/** The shortest decimal that reads back as the same number in single precision. */
export function shortest(weight: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const short = Number(weight.toPrecision(digits));
    if (Math.fround(short) === Math.fround(weight)) return short;
  }
  return weight;
}

const quoted = (field: string): string => (/[",\n\r]/.test(field) ? `"${field.replace(/"/g, '""')}"` : field);

const noFormula = (label: string): string => (/^[=+\-@]/.test(label) ? `'${label}` : label);
