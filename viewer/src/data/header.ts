// The header of a page: everything but the numbers, as Python writes it (see docs/page.md).
import type { Comparison, Generation, LayerInfo } from "./types";

export interface Header {
  schema: string;
  version: string;
  start: { reading: string; layer: number; head: number | null; query: number | null };
  texts: HeaderText[];
  rules: HeaderRule[];
  readings: HeaderReading[];
  comparison?: Comparison;
  generation?: Generation;
}

export interface HeaderText {
  text: string;
  labels: string[];
  special: number[];
  words: [text: string, before: string, tokens: number[]][];
  patches?: ([row: number, column: number] | null)[];
  picture?: { url: string; rows: number; columns: number };
}

/** Which keys each query may look at: a band around the diagonal, keys that are absent, or bits that alone count. */
export interface HeaderRule {
  queries: number;
  keys: number;
  shift: number;
  back: number | null;
  ahead: number | null;
  absent: number[];
  bits?: HeaderPart;
  block?: number;
}

export interface HeaderPart {
  name: string;
  type: "float16" | "float32" | "uint8";
  shape: number[];
}

export interface HeaderLayer extends LayerInfo {
  rule?: number;
  block?: number;
  parts?: HeaderPart[];
  scale?: number;
  softcap?: number | null;
}

export interface HeaderReading {
  id: string;
  title: string;
  model: { name: string; layers: number; heads: number; dtype: string; [key: string]: unknown };
  queries: number;
  keys: number;
  layers: HeaderLayer[];
  statistics: { name: string; title: string; unit: string; values: (number | null)[][] }[];
  notes: string[];
  nextToken?: { text: string; probability: number | null }[];
}
