// What a step gives from the learner's own earlier numbers, by the arithmetic that every view shows.

import { blend, score, softmax } from "../arithmetic/steps";
import type { Follows } from "./data";

/** The numbers of a step from those before; null where they cannot be worked with. */
export function followed(how: Follows, own: readonly (readonly number[])[]): number[] | null {
  const from = own[how.from];
  if (!from) return null;
  const numbers = given(how, from);
  return numbers.every(Number.isFinite) ? numbers : null;
}

function given(how: Follows, from: readonly number[]): number[] {
  switch (how.how) {
    case "scale":
      return from.map((product) => score(product, how.by));
    case "exponentials":
      return from.map((one, key) => (how.allowed[key] ? Math.exp(one) : 0));
    case "weights": {
      // The softmax of the logarithms shares by the exponentials themselves; those that are 0 are forbidden.
      const seen = from.map((one) => one > 0);
      return Array.from(softmax(from.map((one, key) => (seen[key] ? Math.log(one) : 0)), seen).weights);
    }
    case "blend":
      return Array.from(blend(from, how.values));
  }
}
