// A worked example, worked: the trace of every word that asks.

import { attend, type Trace } from "../arithmetic/attention";
import type { Hand } from "./hand-state";
import type { Work } from "./work";

export function trace(hand: Hand): Trace {
  const { example, mask } = hand;
  const upside = [example.asking.map((place) => example.tokens.map((_, key) => key >= place))];
  return attend([hand.query], [hand.key], [hand.value], {
    ...(hand.scaled ? {} : { scale: 1 }),
    ...(mask === "upside down" ? { mask: upside } : {}),
    causal: mask === "causal",
    queryPositions: example.asking,
    multiply: hand.multiply,
    softmax: hand.softmaxed,
  });
}

/** One row of it, in the form that the steps are shown in. */
export function workOf(hand: Hand, worked: Trace): Work {
  const { example, row } = hand;
  const digits = Math.max(2, example.digits);
  return {
    asking: example.tokens[example.asking[row]!]!,
    keys: example.tokens,
    query: hand.query[row]!,
    key: hand.key,
    value: hand.value,
    trace: worked.heads[0]![row]!,
    scale: worked.scale,
    multiply: hand.multiply,
    softcap: null,
    bias: null,
    digits: [digits, digits],
    byHand: true,
  };
}
