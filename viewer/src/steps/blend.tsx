// The last step: the values, blended by the weights.

import { Quoted, visible } from "../app/parts";
import { Strip } from "./strip";
import { asGiven, fixed, inBrackets, type Part, SHORT, TIMES, type Work } from "./work";

const MOST_SUMMANDS = 8;

export function Blend({ work, choice, theme }: Part) {
  const [, many] = work.digits;
  const { trace, value } = work;
  if (!value) return <p>This page does not carry the values of this layer, so the blend cannot be shown.</p>;
  if (!trace.allowed.includes(1))
    return (
      <p>
        <Quoted text={work.asking} /> may look at nothing: there is nothing to blend.
      </p>
    );
  const order = Array.from(trace.allowed.keys()).filter((key) => trace.allowed[key]);
  const long = trace.output.length > SHORT;
  if (long || order.length > MOST_SUMMANDS) order.sort((a, b) => trace.weights[b]! - trace.weights[a]!);
  const shown = order.slice(0, long ? 3 : MOST_SUMMANDS);
  return (
    <>
      <p>
        {shown.map((key, index) => (
          <span key={key}>
            {index ? " + " : ""}
            <span class="figures">{fixed(trace.weights[key], many)}</span> × value of <Quoted text={work.keys[key]!} />
          </span>
        ))}
        {order.length > shown.length ? ` + ${order.length - shown.length} more` : ""}
      </p>
      {long ? (
        <LongBlend {...{ work, choice, theme }} />
      ) : (
        <ShortBlend work={work} order={shown} complete={shown.length === order.length} />
      )}
    </>
  );
}

/** Each dimension of the output written out. */
function ShortBlend({ work, order, complete }: { work: Work; order: number[]; complete: boolean }) {
  const [few, many] = work.digits;
  const value = work.value!;
  return (
    <>
      {Array.from(work.trace.output, (sum, dim) => (
        <p class="figures steps-sum" key={dim}>
          {order
            .map((key) => `${fixed(work.trace.weights[key], many)}${TIMES}${inBrackets(asGiven(value[key]![dim]!))}`)
            .join(" + ")}
          {complete ? "" : " + …"} = <b>{fixed(sum, few)}</b>
        </p>
      ))}
      <p class="figures">
        output [<b>{Array.from(work.trace.output, (sum) => fixed(sum, few)).join(", ")}</b>]
      </p>
    </>
  );
}

function LongBlend({ work, choice, theme }: Part) {
  const { trace } = work;
  const value = work.value![choice]!;
  return (
    <>
      <Strip name={`value of ${visible(work.keys[choice]!)}`} vector={value} theme={theme} />
      <Strip name="output" vector={trace.output} theme={theme} />
      <details>
        <summary>all {trace.output.length} numbers of the output</summary>
        <table class="steps-table steps-terms">
          <thead>
            <tr>
              <th scope="col">dimension</th>
              <th scope="col">
                value of <bdi>{visible(work.keys[choice]!)}</bdi>
              </th>
              <th scope="col">× {fixed(trace.weights[choice], 3)}</th>
              <th scope="col">output</th>
            </tr>
          </thead>
          <tbody>
            {Array.from(trace.output, (sum, dim) => (
              <tr key={dim}>
                <th scope="row">{dim}</th>
                <td>{fixed(value[dim], 3)}</td>
                <td>{fixed(value[dim]! * trace.weights[choice]!, 3)}</td>
                <td>{fixed(sum, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
