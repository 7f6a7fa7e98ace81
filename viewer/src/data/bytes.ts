// From text or compressed bytes to arrays of numbers.
import type { HeaderPart } from "./header";

export type Numbers = Uint8Array | Uint16Array | Float32Array;

/** Bytes written as base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  return bytes;
}

/** A block's bytes, decompressed (zlib's format). */
export async function inflate(block: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([block]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The parts of a block, by name. In a block each array has all its lowest bytes first and all its highest last.
 * Numbers of 16 bits stay as they are; `widen` makes floats of them.
 */
export function cut(bytes: Uint8Array, parts: HeaderPart[]): Map<string, Numbers> {
  const found = new Map<string, Numbers>();
  let start = 0;
  for (const part of parts) {
    const count = part.shape.reduce((product, size) => product * size, 1);
    const size = part.type === "uint8" ? 1 : part.type === "float16" ? 2 : 4;
    const planes = bytes.subarray(start, start + count * size);
    if (planes.length !== count * size) throw new Error(`the part “${part.name}” is cut off: the page is damaged`);
    found.set(part.name, joined(planes, count, part.type));
    start += count * size;
  }
  if (start !== bytes.length) throw new Error("a block has more bytes than its parts: the page is damaged");
  return found;
}

function joined(planes: Uint8Array, count: number, type: HeaderPart["type"]): Numbers {
  if (type === "uint8") return planes.slice();
  if (type === "float16") {
    const halves = new Uint16Array(count);
    for (let place = 0; place < count; place++) halves[place] = planes[place]! | (planes[count + place]! << 8);
    return halves;
  }
  const words = new Uint32Array(count);
  for (let place = 0; place < count; place++) {
    words[place] =
      planes[place]! | (planes[count + place]! << 8) | (planes[2 * count + place]! << 16) | (planes[3 * count + place]! << 24);
  }
  return new Float32Array(words.buffer);
}

let table: Float32Array | null = null;

/** The number that each of the 65,536 halves stands for (IEEE 754 binary16). */
export function halfTable(): Float32Array {
  if (table) return table;
  table = new Float32Array(1 << 16);
  for (let half = 0; half < table.length; half++) {
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    const size =
      exponent === 31
        ? fraction
          ? NaN
          : Infinity
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * 2 ** (exponent - 25);
    table[half] = half >> 15 ? -size : size;
  }
  return table;
}

/** Halves or floats as floats. */
export function widen(numbers: Numbers | undefined): Float32Array {
  if (numbers instanceof Float32Array) return numbers;
  if (!(numbers instanceof Uint16Array)) throw new Error("a part is missing or no float: the page is damaged");
  const known = halfTable();
  const wide = new Float32Array(numbers.length);
  for (let place = 0; place < wide.length; place++) wide[place] = known[numbers[place]!]!;
  return wide;
}
