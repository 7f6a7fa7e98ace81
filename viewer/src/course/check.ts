// Checks an exercise step by step, by the same rules as Python's `heedmap.lessons.exercises.checking`.

import { readAnswer, Unreadable } from "./answers";
import type { StepData } from "./data";
import { followed } from "./follow";

export type Outcome = "right" | "follows" | "mistake" | "coarse" | "wrong" | "unreadable";

export interface Verdict {
  outcome: Outcome;
  says: string;
  mistake: string | null;
  answer: number[] | null;
}

/** Mistakes that can be made in any step, from the right numbers of the step itself. */
const GENERAL: [string, string, (right: number[]) => number[]][] = [
  [
    "percent",
    "That is in percent: write shares of 1 (0.38 for 38 percent), or put a % behind.",
    (right) => right.map((one) => 100 * one),
  ],
  ["sign", "The sign is the wrong way round.", (right) => right.map((one) => -one)],
  [
    "reversed",
    "The right numbers, from the last to the first: give them in the order asked for.",
    (right) => [...right].reverse(),
  ],
];

export function isRight({ outcome }: Verdict): boolean {
  return outcome === "right" || outcome === "follows";
}

/** What is to be said about the answer to one step; `own` are the learner's answers to the steps before. */
export function checkStep(step: StepData, typed: string, own: readonly number[][] = []): Verdict {
  let answer: number[];
  try {
    answer = readAnswer(step, typed);
  } catch (error) {
    if (error instanceof Unreadable) return { outcome: "unreadable", says: `${error.message}.`, mistake: null, answer: null };
    throw error;
  }
  const verdict = (outcome: Outcome, says: string, mistake: string | null = null) => ({ outcome, says, mistake, answer });
  if (between(step, answer, step.chains)) return verdict("right", "Right.");
  if (step.within != null && Math.abs(answer[0]! - step.chains[0]![0]!) <= step.within) return verdict("right", "Right.");
  const ownRight = step.follows ? followed(step.follows, own) : null;
  if (ownRight && between(step, answer, [ownRight])) {
    return verdict("follows", "Right, from the numbers you had before: the slip is in an earlier step.");
  }
  const known = knownMistake(step, answer);
  if (known) return verdict("mistake", known.says, known.name);
  if (!step.options.length && tooCoarse(answer, step.chains[0]!, step.digits)) {
    return verdict("coarse", `On the way, but rounded too far: give ${step.digits} digits after the point.`, "too-coarse");
  }
  return verdict("wrong", whichAreOff(step, answer));
}

/** Whether every number lies where it may: between the chains, or one last digit beyond. */
function between(step: StepData, answer: readonly number[], chains: readonly (readonly number[])[]): boolean {
  if (chains.some((chain) => chain.length !== answer.length)) return false;
  if (step.options.length) return chains.some((chain) => chain[0] === answer[0]);
  return answer.every((number, place) => {
    const values = chains.map((chain) => chain[place]!);
    const slack = slackOf(values, step.digits);
    return Math.min(...values) - slack <= number && number <= Math.max(...values) + slack;
  });
}

/** How far off a number may be: one last digit, or nothing where it comes out even and there is nothing to round. */
function slackOf(values: readonly number[], digits: number): number {
  const unit = 10 ** -digits;
  const even = values.every((one) => Math.abs(one - Math.round(one / unit) * unit) < 1e-9);
  if (even && Math.max(...values) - Math.min(...values) < 1e-9) return Math.max(1, Math.abs(values[0]!)) * 1e-9;
  return unit * 1.001; // a hair more than one: 0.38 - 0.37 is a little more than 0.01 in binary
}

function knownMistake(step: StepData, answer: number[]): { name: string; says: string } | null {
  for (const mistake of step.mistakes) if (between(step, answer, mistake.chains)) return mistake;
  if (step.options.length) return null;
  for (const [name, says, work] of GENERAL) {
    if (between(step, answer, step.chains.map(work))) return { name, says };
  }
  return null;
}

/** Whether the right numbers were rounded to fewer digits than asked for. */
function tooCoarse(answer: readonly number[], right: readonly number[], digits: number): boolean {
  for (let fewer = 0; fewer < digits; fewer++) {
    const unit = 10 ** -fewer;
    // Half a unit may be rounded either way: schools differ.
    const near = (one: number, place: number) =>
      Math.abs(one - Math.round(one / unit) * unit) < 1e-9 && Math.abs(one - right[place]!) <= unit / 2 + 1e-9;
    if (answer.every(near)) return true;
  }
  return false;
}

/** Says which numbers are off, when some are right. */
function whichAreOff(step: StepData, answer: readonly number[]): string {
  if (step.options.length || answer.length === 1) return "Not right.";
  const off = answer.flatMap((one, place) =>
    between({ ...step, options: [] }, [one], step.chains.map((chain) => [chain[place]!])) ? [] : [place],
  );
  if (off.length === answer.length) return "Not right.";
  return `Not right for ${off.map((place) => step.labels[place]).join(", ")}; the others are.`;
}
