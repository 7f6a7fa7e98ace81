// By hand: four words and a few numbers, each of which can be changed; every step follows at once.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Explained } from "./explained";
import { command, EXAMPLES, fresh, type Hand, isChanged, type MaskKind, read, write } from "./hand-state";
import { trace, workOf } from "./hand-work";
import { HandGrid } from "./hand-grid";
import { HandNumbers } from "./hand-numbers";
import { HandPlane } from "./hand-plane";
import type { HandExampleProps } from "./props";
import { StepsTable } from "./steps-table";
import { largest } from "./work";
import "../map/map.css";
import "./hand.css";
import "./steps.css";

export function HandExample({ state, onState, theme, only }: HandExampleProps) {
  const [hand, change] = useHand(state, onState, only);
  const worked = useMemo(() => trace(hand), [hand]);
  const work = workOf(hand, worked);
  const choice = hand.choice ?? largest(work) ?? 0;
  const choose = (key: number) => change({ ...hand, choice: key });
  return (
    <div class="hand">
      {only ? null : <Examples hand={hand} onExample={(name) => change(fresh(name))} />}
      <p class="hand-shows">
        <b>{hand.example.sentence}</b> <span>{hand.example.shows}</span>
      </p>
      <div class="hand-columns">
        <section class="hand-side" aria-label="The numbers">
          <h2>The numbers</h2>
          <HandNumbers hand={hand} onHand={change} />
          <Switches hand={hand} onHand={change} />
          {hand.example.asking.length > 1 ? (
            <HandGrid hand={hand} worked={worked} choice={choice} onHand={change} theme={theme} />
          ) : null}
          <Below hand={hand} onReset={() => change({ ...fresh(hand.example.name), row: hand.row })} />
        </section>
        <section class="hand-steps" aria-label="The four steps">
          <h2>
            The four steps for “<bdi>{work.asking}</bdi>”
          </h2>
          <StepsTable work={work} choice={choice} onChoose={choose} theme={theme} />
          <p class="hand-output" aria-live="polite">
            {outputText(work.trace.output, work.digits[0])}
          </p>
          {work.query.length === 2 ? <HandPlane hand={hand} choice={choice} onHand={change} /> : null}
        </section>
        <Explained work={work} choice={choice} theme={theme} />
      </div>
    </div>
  );
}

/** The example from its text in the address; text and example follow each other. */
function useHand(state: string, onState: (state: string) => void, only?: string): [Hand, (hand: Hand) => void] {
  const start = () => (only && !state ? fresh(only) : read(state));
  const [hand, setHand] = useState<Hand>(start);
  const [seen, written] = [useRef(state), useRef(state)];
  // Another address, and not the one that a change here has just written: follow it.
  const followed = state !== seen.current && state !== written.current ? start() : null;
  seen.current = state;
  if (followed) {
    written.current = state;
    setHand(followed);
  }
  const change = (next: Hand) => {
    setHand(next);
    written.current = write(next);
    onState(written.current);
  };
  return [followed ?? hand, change];
}

function Examples({ hand, onExample }: { hand: Hand; onExample: (name: string) => void }) {
  return (
    <div class="choice hand-examples" role="group" aria-label="Examples">
      {EXAMPLES.map(({ name, sentence }) => (
        <button
          type="button"
          key={name}
          aria-pressed={name === hand.example.name}
          onClick={() => onExample(name)}
          title={sentence}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

const MASKS: [MaskKind, string][] = [
  ["none", "none"],
  ["causal", "no word sees a later one"],
  ["upside down", "upside down"],
];

function Switches({ hand, onHand }: { hand: Hand; onHand: (hand: Hand) => void }) {
  const root = Math.sqrt(hand.query[0]!.length).toPrecision(3);
  return (
    <fieldset class="hand-switches">
      <legend>Try to break it</legend>
      <label>
        <input type="checkbox" checked={hand.scaled} onChange={() => onHand({ ...hand, scaled: !hand.scaled })} />{" "}
        divide by √{hand.query[0]!.length} = {root}
      </label>
      <label>
        <input
          type="checkbox"
          checked={hand.softmaxed}
          onChange={() => onHand({ ...hand, softmaxed: !hand.softmaxed })}
        />{" "}
        softmax
      </label>
      <label>
        mask{" "}
        <select
          value={hand.mask}
          onChange={(event) => onHand({ ...hand, mask: event.currentTarget.value as MaskKind })}
        >
          {MASKS.map(([kind, text]) => (
            <option key={kind} value={kind}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        scores times{" "}
        <select
          value={String(hand.multiply)}
          onChange={(event) => onHand({ ...hand, multiply: Number(event.currentTarget.value) })}
        >
          {[...new Set([0, 0.5, 1, 2, 8, hand.multiply])]
            .sort((a, b) => a - b)
            .map((factor) => (
              <option key={factor} value={String(factor)}>
                {factor}
              </option>
            ))}
        </select>
      </label>
    </fieldset>
  );
}

function Below({ hand, onReset }: { hand: Hand; onReset: () => void }) {
  const line = command(hand);
  const [copied, setCopied] = useState("");
  const copy = async () => {
    if (isChanged(hand) && !window.location.hash.includes("hand=")) {
      setCopied("Here the address does not hold the changes; the command below does.");
      return;
    }
    try {
      await navigator.clipboard.writeText(window.location.href);
      setCopied("The link is copied.");
    } catch {
      setCopied("The address of this page holds every change: copy it from there.");
    }
  };
  useEffect(() => setCopied(""), [hand]);
  return (
    <div class="hand-below">
      <button type="button" disabled={!isChanged(hand)} onClick={onReset}>
        Reset
      </button>
      <button type="button" onClick={() => void copy()}>
        Copy link
      </button>
      <span role="status">{copied}</span>
      {line ? (
        <p>
          The same on the command line: <code>{line}</code>
        </p>
      ) : (
        <p>A mask upside down lets each word see itself and what comes later: no language model does.</p>
      )}
    </div>
  );
}

function outputText(output: Float64Array, digits: number): string {
  if (output.some(Number.isNaN)) return "It may look at nothing, so there is no output.";
  return `output [${Array.from(output, (number) => number.toFixed(digits).replace("-", "−")).join(", ")}]`;
}
