// Exercises, step by step: an answer is checked at once, a usual mistake is named, and another exercise follows.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { checkStep, isRight, type Verdict } from "./check";
import type { ProblemData, StepData } from "./data";
import { parsed } from "./questions";

/** So often a step may be tried before its answer is shown. */
const TRIES = 3;

interface Props {
  problems: ProblemData[];
  /** Called when one was solved without an answer being shown. */
  onSolved: () => void;
}

export function Exercise({ problems, onSolved }: Props) {
  const [index, setIndex] = useState(0);
  const problem = problems[index % problems.length]!;
  return <Problem key={index} problem={problem} onSolved={onSolved} onNext={() => setIndex(index + 1)} />;
}

function Problem({ problem, onSolved, onNext }: { problem: ProblemData; onSolved: () => void; onNext: () => void }) {
  const [own, setOwn] = useState<number[][]>([]);
  const [alone, setAlone] = useState(true);
  const finished = own.length === problem.steps.length;
  const go = (answer: number[], shown: boolean) => {
    const still = alone && !shown;
    setAlone(still);
    setOwn([...own, answer]);
    if (own.length + 1 === problem.steps.length && still) onSolved();
  };
  return (
    <div class="problem">
      <p class="aside">number {problem.seed}</p>
      <Html text={problem.text} />
      <ol>
        {problem.steps.slice(0, own.length + 1).map((step, place) => (
          <li key={place}>
            <Html text={step.asks ?? ""} />
            <Step step={step} own={own.slice(0, place)} done={place < own.length} onDone={go} />
          </li>
        ))}
      </ol>
      {finished ? <p role="status">{alone ? "Solved." : "Worked through; another one will go better."}</p> : null}
      <button type="button" onClick={onNext}>
        Another one
      </button>
    </div>
  );
}

interface StepProps {
  step: StepData;
  own: number[][];
  done: boolean;
  onDone: (answer: number[], shown: boolean) => void;
}

function Step({ step, own, done, onDone }: StepProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [tries, setTries] = useState(0);
  const [told, setTold] = useState("");
  const check = (event: Event) => {
    event.preventDefault();
    const found = checkStep(step, typed, own);
    setVerdict(found);
    setTold("");
    if (isRight(found)) onDone(found.answer!, false);
    else if (found.outcome !== "unreadable") setTries(tries + 1);
  };
  const show = () => {
    setTold(shown(step));
    onDone(step.chains[0]!.map((one) => (step.options.length ? one : Number(one.toFixed(step.digits)))), true);
  };
  return (
    <form onSubmit={check}>
      <label for={id}>Your answer</label>{" "}
      <input id={id} value={typed} disabled={done} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />{" "}
      {done ? null : <button type="submit">Check</button>}{" "}
      {done ? null : (
        <button type="button" onClick={() => setTold(step.hint)}>
          Hint
        </button>
      )}{" "}
      {!done && tries >= TRIES ? (
        <button type="button" onClick={show}>
          Show me
        </button>
      ) : null}
      <p class="said" role="status" data-tone={verdict && isRight(verdict) ? "right" : "wrong"}>
        {verdict && !told ? verdict.says : null}
        {told ? <Html text={told} /> : null}
      </p>
    </form>
  );
}

/** The right answer of a step, as it is written. */
function shown(step: StepData): string {
  const right = step.chains[0]!;
  if (step.options.length) return `It is: ${step.options[right[0]!]}`;
  return `It is: ${right.map((one, place) => `${step.labels[place] ? `${step.labels[place]} ` : ""}${one.toFixed(step.digits)}`).join(", ")}`;
}

/** HTML that Heedmap wrote when the page was made. */
function Html({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.replaceChildren(...parsed(text)), [text]);
  return <div class="html" ref={place} />;
}
