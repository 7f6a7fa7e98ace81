// Compare, scale, softmax as a table: a line a word, with the sums below.

import { useState } from "preact/hooks";
import { colour } from "../colour";
import { visible } from "../app/parts";
import type { Theme } from "../map/props";
import { FIRST, fixed, listing, scalingText, type Work } from "./work";

interface Props {
  work: Work;
  choice: number | null;
  onChoose: (key: number) => void;
  theme: Theme;
}

const MORE = 100;

export function StepsTable({ work, choice, onChoose, theme }: Props) {
  const [most, setMost] = useState(FIRST);
  const { trace } = work;
  const { shown, sorted, rest } = listing(work, most, choice);
  const [few, many] = work.digits;
  const softmaxed = trace.exponentials !== null;
  const top = Math.max(...shown.map((key) => Math.abs(trace.weights[key]!)), 1e-9);
  return (
    <>
      <table class="steps-table">
        <caption class="spoken">{`q·k, scores and weights of ${work.asking}, ${sorted ? "largest weights first" : "in the order of the text"}`}</caption>
        <thead>
          <tr>
            <th scope="col">key</th>
            <th scope="col">q·k</th>
            <th scope="col">{scoreHead(work)}</th>
            {softmaxed ? <th scope="col">{trace.shift === 0 ? "e^s" : "e^(s −\u00a0max)"}</th> : null}
            <th scope="col">weight</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {shown.map((key) => (
            <Line key={key} {...{ work, place: key, chosen: key === choice, onChoose, theme, top }} />
          ))}
        </tbody>
        <tfoot>
          {rest ? (
            <Sum
              name={`${rest.count} others`}
              exponentials={softmaxed ? fixed(rest.exponentials, many) : null}
              weights={fixed(rest.weights, many)}
            />
          ) : null}
          {trace.sink !== null ? (
            <Sum
              name="learned sink"
              exponentials={fixed(trace.sink * trace.total!, many)}
              weights={fixed(trace.sink, many)}
            />
          ) : null}
          <Sum
            name="total"
            exponentials={softmaxed ? fixed(trace.total, many) : null}
            weights={fixed(total(work), many)}
          />
        </tfoot>
      </table>
      {rest ? (
        <button
          type="button"
          class="quiet"
          onClick={() => setMost(most + MORE)}
        >{`show the next ${Math.min(MORE, rest.count)}`}</button>
      ) : null}
      {few === 0 ? null : sorted ? <p class="steps-order">largest weights first</p> : null}
    </>
  );
}

interface LineProps {
  work: Work;
  place: number;
  chosen: boolean;
  onChoose: (key: number) => void;
  theme: Theme;
  top: number;
}

function Line({ work, place, chosen, onChoose, theme, top }: LineProps) {
  const { trace } = work;
  const [few, many] = work.digits;
  const may = trace.allowed[place] === 1;
  const weight = trace.weights[place]!;
  const bar =
    may && weight > 0
      ? {
          width: `${(100 * weight) / top}%`,
          background: colour(0.62, theme, { kind: place === 0 ? "first" : "weight" }),
        }
      : { width: "0" };
  return (
    <tr class={chosen ? "chosen" : undefined}>
      <th scope="row">
        <button type="button" class="steps-key" aria-pressed={chosen} onClick={() => onChoose(place)}>
          <bdi>{visible(work.keys[place]!)}</bdi>
        </button>
      </th>
      <td>{fixed(trace.products[place], few)}</td>
      <td>{may ? fixed(trace.scores[place], few) : "—"}</td>
      {trace.exponentials ? <td>{may ? fixed(trace.exponentials[place], many) : "—"}</td> : null}
      <td>{may ? fixed(weight, many) : "—"}</td>
      <td class="steps-bar" aria-hidden="true">
        <span style={bar} />
      </td>
    </tr>
  );
}

function Sum({ name, exponentials, weights }: { name: string; exponentials: string | null; weights: string }) {
  return (
    <tr>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      {exponentials === null ? null : <td>{exponentials}</td>}
      <td>{weights}</td>
      <td />
    </tr>
  );
}

/** The weights' sum, a sink's share included. */
function total({ trace }: Work): number {
  return trace.weights.reduce((sum, weight) => sum + weight, trace.sink ?? 0);
}

function scoreHead({ scale, multiply, query, softcap, bias }: Work): string {
  const times = multiply === 1 ? "" : ` × ${multiply}`;
  const more = softcap !== null || bias !== null ? ", …" : "";
  return `${scalingText(scale, query.length)}${times}${more}`;
}
