// What was changed in a worked example, as a value and as a short text that fits into an address.

import content from "./examples.json";

export interface Example {
  name: string;
  sentence: string;
  shows: string;
  digits: number;
  tokens: string[];
  /** The place of the word that each query belongs to. */
  asking: number[];
  query: number[][];
  key: number[][];
  value: number[][];
}

export const EXAMPLES: readonly Example[] = content.examples;

export type Role = "query" | "key" | "value";
export type MaskKind = "none" | "causal" | "upside down";

export interface Hand {
  example: Example;
  query: number[][];
  key: number[][];
  value: number[][];
  scaled: boolean;
  softmaxed: boolean;
  mask: MaskKind;
  /** A further factor on every score. */
  multiply: number;
  /** Which query is taken apart. */
  row: number;
  /** Which key is taken apart; the one with the largest weight when null. */
  choice: number | null;
}

const LETTERS: Record<Role, string> = { query: "q", key: "k", value: "v" };
const ROLES: Role[] = ["query", "key", "value"];

/** The example as it stands. */
export function fresh(name: string): Hand {
  const example = EXAMPLES.find((one) => one.name === name) ?? EXAMPLES[0]!;
  const copy = (rows: number[][]) => rows.map((row) => [...row]);
  return {
    example,
    query: copy(example.query),
    key: copy(example.key),
    value: copy(example.value),
    scaled: true,
    softmaxed: true,
    mask: "none",
    multiply: 1,
    row: example.asking.length - 1,
    choice: null,
  };
}

/** The same with one number changed. */
export function withNumber(hand: Hand, role: Role, row: number, dim: number, number: number): Hand {
  const rows = hand[role].map((vector, place) =>
    place === row ? vector.map((old, at) => (at === dim ? number : old)) : vector,
  );
  return { ...hand, [role]: rows };
}

/** Whether any number or setting differs from the example's own. */
export function isChanged(hand: Hand): boolean {
  return changes(hand).length > 0 || !hand.scaled || !hand.softmaxed || hand.mask !== "none" || hand.multiply !== 1;
}

/** "cat_k1-0*0.5_noscale": the example, then what differs from it; nothing for the first example as it stands. */
export function write(hand: Hand): string {
  const parts = changes(hand).map(({ role, row, dim, number }) => `${LETTERS[role]}${row}-${dim}*${number}`);
  if (!hand.scaled) parts.push("noscale");
  if (!hand.softmaxed) parts.push("nosoftmax");
  if (hand.mask !== "none") parts.push(hand.mask === "causal" ? "causal" : "upsidedown");
  if (hand.multiply !== 1) parts.push(`times*${hand.multiply}`);
  if (hand.row !== hand.example.asking.length - 1) parts.push(`row*${hand.row}`);
  if (hand.choice !== null) parts.push(`key*${hand.choice}`);
  if (!parts.length && hand.example === EXAMPLES[0]) return "";
  return [hand.example.name, ...parts].join("_");
}

/** What a text says; what it says wrongly is passed over. */
export function read(text: string): Hand {
  const [name = "", ...parts] = text.split("_");
  return parts.reduce(applied, fresh(name));
}

function applied(hand: Hand, part: string): Hand {
  switch (part) {
    case "noscale":
      return { ...hand, scaled: false };
    case "nosoftmax":
      return { ...hand, softmaxed: false };
    case "causal":
      return { ...hand, mask: "causal" };
    case "upsidedown":
      return { ...hand, mask: "upside down" };
  }
  const setting = /^(times|row|key)\*(-?[\d.]+(?:e[+-]?\d+)?)$/.exec(part);
  if (setting) return withSetting(hand, setting[1]!, Number(setting[2]));
  const change = /^([qkv])(\d{1,3})-(\d{1,3})\*(-?[\d.]+(?:e[+-]?\d+)?)$/.exec(part);
  const role = ROLES.find((one) => LETTERS[one] === change?.[1]);
  if (!change || !role) return hand;
  const [row, dim, number] = [Number(change[2]), Number(change[3]), Number(change[4])];
  return hand[role][row]?.[dim] !== undefined && Number.isFinite(number)
    ? withNumber(hand, role, row, dim, number)
    : hand;
}

function withSetting(hand: Hand, name: string, number: number): Hand {
  const place = (count: number) => Number.isInteger(number) && number >= 0 && number < count;
  if (name === "times" && Number.isFinite(number)) return { ...hand, multiply: number };
  if (name === "row" && place(hand.example.asking.length)) return { ...hand, row: number };
  if (name === "key" && place(hand.example.tokens.length)) return { ...hand, choice: number };
  return hand;
}

function changes(hand: Hand): { role: Role; row: number; dim: number; number: number }[] {
  return ROLES.flatMap((role) =>
    hand[role].flatMap((vector, row) =>
      vector.flatMap((number, dim) => (number === hand.example[role][row]![dim] ? [] : [{ role, row, dim, number }])),
    ),
  );
}

/** The same calculation on the command line; null where the command has no option for it. */
export function command(hand: Hand): string | null {
  if (hand.mask === "upside down") return null;
  const words = ["heedmap compute --example", hand.example.name];
  const vectors: [Role, string][] = [
    ["key", "--set-key"],
    ["value", "--set-value"],
    ["query", "--query"],
  ];
  for (const [role, option] of vectors) {
    for (const row of new Set(
      changes(hand)
        .filter((one) => one.role === role)
        .map((one) => one.row),
    )) {
      const place = role === "query" ? hand.example.asking[row]! : row;
      const numbers = hand[role][row]!.join(",");
      const named = role === "query" && hand.query.length === 1 ? numbers : `${hand.example.tokens[place]}=${numbers}`;
      words.push(`${option} ${named}`);
    }
  }
  if (!hand.scaled) words.push("--no-scale");
  if (!hand.softmaxed) words.push("--no-softmax");
  if (hand.mask === "causal") words.push("--causal");
  if (hand.multiply !== 1) words.push(`--multiply ${hand.multiply}`);
  return words.join(" ");
}
