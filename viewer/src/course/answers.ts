// From what a learner typed to numbers, by the same rules as Python's `heedmap.lessons.exercises.answers`.

import type { StepData } from "./data";

/** The answer cannot be read; the message says what is expected. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

const NUMBER = "[-+−]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)";
const ONE = new RegExp(`^(${NUMBER})(?:/(${NUMBER}))?(%)?$`);

/** The numbers of an answer: separated by blanks, commas or semicolons; fractions, percentages and names are read too. */
export function readAnswer(step: Pick<StepData, "labels" | "options">, typed: string): number[] {
  let text = typed.trim().replace(/^[[\]()]+|[[\]()]+$/g, "").trim();
  if (!text) throw new Unreadable("nothing was written");
  if (step.options.length) return [choose(step.options, text)];
  const count = step.labels.length || 1;
  if (count === 1 && /^[-+−]?\d+,\d+$/.test(text)) text = text.replace(",", ".");
  for (const label of step.labels) {
    text = text.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(label)}(?![\\p{L}\\p{N}_])[:=]?`, "giu"), " ");
  }
  const parts = text.replace(/\s*\/\s*/g, "/").split(/[\s,;]+/).filter(Boolean);
  const numbers = parts.map(oneNumber);
  if (numbers.length !== count) {
    throw new Unreadable(`expected ${count} ${count === 1 ? "number" : "numbers"}, found ${numbers.length}`);
  }
  return numbers;
}

function oneNumber(text: string): number {
  const match = ONE.exec(text);
  if (!match) throw new Unreadable(`'${text}' is not a number`);
  let value = toNumber(match[1]!);
  if (match[2] !== undefined) {
    const bottom = toNumber(match[2]);
    if (bottom === 0) throw new Unreadable(`'${text}' divides by 0`);
    value /= bottom;
  }
  if (match[3]) value /= 100;
  if (!Number.isFinite(value)) throw new Unreadable(`'${text}' is not a number that can be worked with`);
  return value;
}

function toNumber(text: string): number {
  return Number(text.replace("−", "-"));
}

/** Which option was meant: by its words, by its number from 1, by its letter, or by its beginning. */
export function choose(options: readonly string[], typed: string): number {
  const folded = options.map((option) => option.toLowerCase());
  const wanted = typed.trim().replace(/^["'“” ]+|["'“” ]+$/g, "").toLowerCase();
  const exact = folded.indexOf(wanted);
  if (exact >= 0) return exact;
  if (/^\d+$/.test(wanted) && Number(wanted) >= 1 && Number(wanted) <= options.length) return Number(wanted) - 1;
  const letter = wanted.length === 1 ? wanted.charCodeAt(0) - "a".charCodeAt(0) : -1;
  if (letter >= 0 && letter < options.length) return letter;
  const beginning = folded.flatMap((option, index) => (option.startsWith(wanted) ? [index] : []));
  if (beginning.length === 1) return beginning[0]!;
  const short = options.reduce((sum, option) => sum + option.length, 0) < 60;
  throw new Unreadable(`expected one of ${short ? options.join(", ") : `the ${options.length} answers`}, or its number`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
