// Sentences about a row: what it adds up to, what the word cannot have read, and what a weight does not say.

import type { LayerInfo, ReadingSource, Row } from "../data/types";
import { unitAt, type Unit } from "./units";

/** What the row adds up to, and the name of what is missing. */
export function total(row: Row): string {
  const broken = row.weights.reduce(
    (count, weight, key) => count + Number(row.allowed[key] && Number.isNaN(weight)),
    0,
  );
  const seen = row.allowed.reduce((count, each) => count + each, 0);
  if (broken)
    return `${broken} of its ${counted(seen, "weight")} ${broken === 1 ? "is" : "are"} not a number, so the row has no sum`;
  if (!seen) return "It may look at no token: this row is absent, not zero";
  const sum = `The row adds up to ${row.sum.toFixed(3)}`;
  return row.sink ? `${sum}, and ${row.sink.toFixed(3)} goes to the learned sink` : sum;
}

/** How many tokens the word may not look at: before those it sees, in between, and after. */
export function unseen(row: Row): string[] {
  const first = row.allowed.indexOf(1);
  const last = row.allowed.lastIndexOf(1);
  if (first < 0) return [];
  const between = row.allowed.slice(first, last).reduce((count, each) => count + Number(!each), 0);
  const later = row.allowed.length - 1 - last;
  const sentences: string[] = [];
  if (first) sentences.push(`${counted(first, "earlier token")} cannot be seen`);
  if (between) sentences.push(`${counted(between, "token")} in between cannot be seen`);
  if (later) sentences.push(`${counted(later, "later token")} cannot be seen`);
  return sentences;
}

/** Whether no token sees a later one, in any layer that the page knows; of a layer left out it has no rule. */
export function isCausal(layers: LayerInfo[]): boolean {
  return layers.every((layer) => layer.causal || layer.carries === "nothing") && layers.some((layer) => layer.causal);
}

export interface Remark {
  /** The word that looks, quoted where the sentence begins with it. */
  text: string;
  quotes: string[];
}

/**
 * What the model has and has not read when this word looks: two words of the text, as `{0}` and `{1}`, with a sentence.
 *
 * Only what every layer forbids is unread; in an encoder each word has already heard of all others.
 */
export function reach(source: ReadingSource, units: Unit[], query: number): Remark | null {
  if (source.queries !== source.keys) {
    return {
      text: "These words look at another text, which the model has read as a whole, in both directions.",
      quotes: [],
    };
  }
  const here = unitAt(units, query);
  const asking = units[here];
  if (!asking) return null;
  if (!isCausal(source.layers)) {
    const text =
      "This model reads in both directions: what stands after {0} has already gone into it, so any change may change this row.";
    return { text, quotes: [asking.text] };
  }
  const later = units.slice(here + 1).filter((unit) => !unit.special && /[\p{L}\p{N}]/u.test(unit.text));
  const unread = later[later.length - 1];
  if (!unread)
    return {
      text: "At {0} the model has read the whole text. This row is the one that chooses the next token.",
      quotes: [asking.text],
    };
  return {
    text: "At {0} the model has not read {1}. Whatever this head shows here, it shows the same for every other ending.",
    quotes: [asking.text, bare(unread.text)],
  };
}

/** A word without the punctuation around it. */
function bare(word: string): string {
  return word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
}

/** What cannot be concluded, in the words of this place. */
export function caution(head: number | null): string {
  const what =
    head === null
      ? "The mean over heads says how much of each token is blended in on average"
      : "A weight says how much of a token's value this head blends in";
  return `${what}. It does not say that the answer depends on it: that takes a test, such as removing the look and reading again.`;
}

/** Which key-value head a head reads, and who shares it. */
export function sharing(layer: LayerInfo, head: number | null): string | null {
  const group = layer.heads / layer.keyValueHeads;
  if (head === null || group <= 1) return null;
  const start = Math.floor(head / group) * group;
  const others = Array.from({ length: group }, (_, place) => start + place).filter((each) => each !== head);
  return `It reads key-value head ${Math.floor(head / group)}, shared with ${others.length === 1 ? "head" : "heads"} ${listed(others)}.`;
}

export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** "1", "1 and 2", "1, 2 and 3". */
export function listed(parts: (string | number)[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}
