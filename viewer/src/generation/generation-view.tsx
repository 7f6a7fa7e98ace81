// Generation: the tokens that were written, one step after the other, each with the row that chose it.

import { useEffect, useState } from "preact/hooks";
import { useFrame } from "../app/frame";
import { Guarded, Note, Quoted, Reason, visible } from "../app/parts";
import { PlacePicker } from "../app/pickers";
import type { Generation } from "../data/types";
import { Largest } from "../reader/largest";
import { Legend } from "../reader/legend";
import { total } from "../reader/remarks";
import { useReader } from "../reader/seen-row";
import { shadingOf } from "../reader/shading";
import { LONG, Words } from "../reader/words";
import { StepsList } from "./steps-list";
import "./generation.css";

export function GenerationView() {
  const { page } = useFrame();
  const { generation } = page;
  if (!generation?.chosenBy.length) {
    return (
      <Reason>
        This page carries no generated text. A page of a generation has each written token here, with the row that chose
        it.
      </Reason>
    );
  }
  return <Steps generation={generation} />;
}

function Steps({ generation }: { generation: Generation }) {
  const { page, source, state, set } = useFrame();
  const step = Math.min(state.step, generation.chosenBy.length - 1);
  const written = generation.prompt + step;
  const query = generation.chosenBy[step]!;
  const tokens = source.queries.tokens;
  const [token, from] = [tokens[written], tokens[query]];
  const go = (next: number) => set({ step: next, query: generation.chosenBy[next]!, key: null });
  if (!token || !from) {
    return (
      <Reason>
        The reading “{source.title}” is not of the text that was written. Choose another:{" "}
        <PlacePicker page={page} place={state} readings onPlace={set} />
      </Reason>
    );
  }
  return (
    <>
      <section class="reader" aria-label="Generation">
        <p class="sentence">
          Step{" "}
          <span class="figures">
            {step + 1} of {generation.chosenBy.length}
          </span>
          : row {query}, at <Quoted text={from.label} />, chose token {written},{" "}
          <b>
            <Quoted text={token.label} />
          </b>
          . In{" "}
          <PlacePicker
            page={page}
            place={state}
            readings
            onPlace={({ reading, layer, head }) => set({ reading, layer, head })}
          />{" "}
          it looked here:
        </p>
        <Walk steps={generation.chosenBy.length} step={step} onStep={go} />
        <Written generation={generation} step={step} onStep={go} />
        <Guarded what="The row">
          <Looked query={query} />
        </Guarded>
      </section>
      <Guarded what="The list of steps">
        <StepsList generation={generation} step={step} onStep={go} />
      </Guarded>
      <div class="notes">
        <Note>Row i chooses token i + 1: the row of a token is read when the next one is written, never before.</Note>
        {generation.note ? <Note>{generation.note}</Note> : null}
      </div>
    </>
  );
}

const PACE = 900; // milliseconds a step

/** Back, forward, play, and a slider over all steps. */
function Walk({ steps, step, onStep }: { steps: number; step: number; onStep: (step: number) => void }) {
  const [playing, setPlaying] = useState(false);
  const ended = step >= steps - 1;
  useEffect(() => {
    if (!playing) return;
    if (ended) return setPlaying(false);
    const timer = setTimeout(() => onStep(step + 1), PACE);
    return () => clearTimeout(timer);
  }, [playing, step]);
  const play = () => {
    if (!playing && ended) onStep(0);
    setPlaying(!playing);
  };
  return (
    <div class="walk">
      <button type="button" aria-label="one step back" disabled={step === 0} onClick={() => onStep(step - 1)}>
        ←
      </button>
      <button type="button" aria-label={playing ? "stop" : "play"} aria-pressed={playing} onClick={play}>
        {playing ? "■" : "▶"}
      </button>
      <button type="button" aria-label="one step on" disabled={ended} onClick={() => onStep(step + 1)}>
        →
      </button>
      <input
        type="range"
        aria-label="step"
        min={0}
        max={steps - 1}
        value={step}
        onInput={(event) => onStep(Number(event.currentTarget.value))}
      />
    </div>
  );
}

/** The text as it grows: what was given, what has been written, the token of this step, and what is still to come. */
function Written({
  generation,
  step,
  onStep,
}: {
  generation: Generation;
  step: number;
  onStep: (step: number) => void;
}) {
  const { source } = useFrame();
  const { prompt } = generation;
  const spaced = (index: number) => {
    const word = source.queries.tokens[index]?.word ?? null;
    const of = word === null ? undefined : source.queries.words[word];
    return of && of.tokens[0] === index ? of.before : "";
  };
  return (
    <p class="written" aria-label="The text as it was written">
      <span class="written-prompt">
        {source.queries.tokens.slice(Math.max(0, prompt - 60), prompt).map((token) => (
          <bdi key={token.index}>
            {spaced(token.index)}
            {visible(token.label)}
          </bdi>
        ))}
      </span>
      {source.queries.tokens.slice(prompt, prompt + generation.chosenBy.length).map((token, place) => (
        <>
          {spaced(token.index)}
          <button
            type="button"
            key={token.index}
            class={place < step ? "written-before" : place > step ? "written-later" : "written-now"}
            aria-current={place === step ? "step" : undefined}
            onClick={() => onStep(place)}
          >
            <bdi>{visible(token.label)}</bdi>
          </button>
        </>
      ))}
    </p>
  );
}

/** The words that the choosing row looked at. */
function Looked({ query }: { query: number }) {
  const { source, state, theme } = useFrame();
  const reader = useReader(source, { ...state, query, exact: true });
  const { seen, units, error } = reader;
  if (error) return <Reason>This row cannot be shown: {error}</Reason>;
  const shading = seen ? shadingOf(seen, theme, state.scale, state.apart) : null;
  return (
    <>
      <Words
        units={units}
        shading={shading}
        asking={null}
        chosen={null}
        label="What the row looked at"
        text={source.keys.text}
      />
      {seen ? (
        <div class="reader-below">
          <Legend seen={seen} first={seen.first === null ? null : units[seen.first]!.text} />
          {units.length > LONG ? <Largest seen={seen} units={units} /> : null}
          <Note>{total(seen.row)}.</Note>
        </div>
      ) : null}
    </>
  );
}
