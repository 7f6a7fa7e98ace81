// The four steps in sentences, for one word that looks and one that is looked at.

import type { ComponentChildren } from "preact";
import { visibleLabel } from "../map/label-text";
import type { Theme } from "../map/props";
import { Strip } from "./strip";
import { fixed, scalingText, terms, tidy, type Work } from "./work";

/** Vectors of up to so many numbers are written out whole. */
const SHORT = 4;
const MOST_TERMS = 3;
const MOST_SUMMANDS = 8;
/** A product is not broken at the end of a line. */
const TIMES = "\u00a0·\u00a0";

interface Props {
  work: Work;
  /** The key that is taken apart. */
  choice: number;
  theme: Theme;
}

export function Explained({ work, choice, theme, children }: Props & { children?: ComponentChildren }) {
  const may = work.trace.allowed[choice] === 1;
  return (
    <ol class="explained">
      <Step number={1} title="compare">
        <Compare {...{ work, choice, theme }} />
      </Step>
      {may ? (
        <>
          <Step number={2} title={work.scale === 1 ? "scale (left out)" : "scale"}>
            <Scale {...{ work, choice, theme }} />
          </Step>
          <Step number={3} title={work.trace.exponentials ? "softmax" : "softmax (left out)"}>
            <Weigh {...{ work, choice, theme }} />
            {children}
          </Step>
        </>
      ) : (
        <Step number={2} title="mask">
          <p>
            <Word text={work.asking} /> may not look at <Word text={work.keys[choice]!} />: the score is left out, and
            the weight is exactly 0.
          </p>
        </Step>
      )}
      <Step number={4} title="blend">
        <Blend {...{ work, choice, theme }} />
      </Step>
    </ol>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ComponentChildren }) {
  return (
    <li class="step">
      <h3>
        <span class="step-number" aria-hidden="true">
          {number}
        </span>
        {title}
      </h3>
      {children}
    </li>
  );
}

/** A number as somebody gave it, without needless zeros: 1, 0.8, −0.25. */
function asGiven(number: number): string {
  return String(Number(number.toFixed(4))).replace("-", "−");
}

const inBrackets = (text: string): string => (text.startsWith("−") ? `(${text})` : text);

function Word({ text }: { text: string }) {
  return (
    <span class="quoted">
      “<bdi>{visibleLabel(text)}</bdi>”
    </span>
  );
}

function Compare({ work, choice, theme }: Props) {
  const [few] = work.digits;
  const product = fixed(work.trace.products[choice], few);
  const all = terms(work, choice);
  const bracketed = (number: number) => inBrackets(fixed(number, few));
  if (all.length <= SHORT) {
    const given = (number: number) => inBrackets(asGiven(number));
    const sum = [...all]
      .sort((a, b) => a.dim - b.dim)
      .map(({ left, right }) => `${given(left)}${TIMES}${given(right)}`)
      .join(" + ");
    return (
      <p>
        q · k of <Word text={work.asking} /> and <Word text={work.keys[choice]!} /> is{" "}
        <span class="figures">
          {sum} = <b>{product}</b>
        </span>
      </p>
    );
  }
  return (
    <>
      <p>
        q · k of <Word text={work.asking} /> and <Word text={work.keys[choice]!} /> is <b>{product}</b>, the sum of{" "}
        {all.length} products. Those that move it most:{" "}
        {all
          .slice(0, MOST_TERMS)
          .map(
            ({ dim, left, right, product: one }) =>
              `${bracketed(left)}${TIMES}${bracketed(right)} = ${fixed(one, few)} (dimension ${dim})`,
          )
          .join(", ")}
        .
      </p>
      <Strip name="q" vector={work.query} theme={theme} />
      <Strip name="k" vector={work.key[choice]!} theme={theme} />
      <Strip name="q × k" vector={[...all].sort((a, b) => a.dim - b.dim).map((term) => term.product)} theme={theme} />
      <details>
        <summary>all {all.length} products</summary>
        <table class="steps-table steps-terms">
          <thead>
            <tr>
              <th scope="col">dimension</th>
              <th scope="col">q</th>
              <th scope="col">k</th>
              <th scope="col">q × k</th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ dim, left, right, product: one }) => (
              <tr key={dim}>
                <th scope="row">{dim}</th>
                <td>{fixed(left, 3)}</td>
                <td>{fixed(right, 3)}</td>
                <td>{fixed(one, 3)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">sum</th>
              <td />
              <td />
              <td>{fixed(work.trace.products[choice], 3)}</td>
            </tr>
          </tfoot>
        </table>
      </details>
    </>
  );
}

function Scale({ work, choice }: Props) {
  const [few] = work.digits;
  const { scale, multiply, softcap, bias, query } = work;
  const product = fixed(work.trace.products[choice], few);
  const how = scalingText(scale, query.length);
  const scaled = work.trace.products[choice]! * scale * multiply;
  const root = how.startsWith("÷")
    ? `${product} ÷ √${query.length} = ${product} ${how}`
    : how === "as it is"
      ? product
      : `${product} ${how}`;
  const times = multiply === 1 ? "" : ` × ${tidy(multiply)}`;
  return (
    <>
      <p class="figures">
        s = {root}
        {times} = <b>{fixed(scaled, few)}</b>
      </p>
      {softcap !== null ? (
        <p class="figures">
          capped: {tidy(softcap)} · tanh({fixed(scaled, few)} ÷ {tidy(softcap)}) ={" "}
          {fixed(softcap * Math.tanh(scaled / softcap), few)}
        </p>
      ) : null}
      {bias !== null ? (
        <p class="figures">
          with the bias of this place: {fixed(bias[choice], few)}, so s = <b>{fixed(work.trace.scores[choice], few)}</b>
        </p>
      ) : null}
      {how === "as it is" && query.length > 1 ? (
        <p>
          Not divided by √{query.length} = {tidy(Math.sqrt(query.length))}: scores grow with the number of dimensions,
          and softmax grows sharper with them.
        </p>
      ) : null}
    </>
  );
}

function Weigh({ work, choice }: Props) {
  const [few, many] = work.digits;
  const { trace } = work;
  const weight = fixed(trace.weights[choice], many);
  if (!trace.exponentials) {
    const sum = trace.weights.reduce((all, one) => all + one, 0);
    return (
      <p>
        Without softmax the score itself is the weight of <Word text={work.keys[choice]!} />: <b>{weight}</b>. The
        weights add up to {fixed(sum, many)}, not to 1, and may be negative.
      </p>
    );
  }
  const one = fixed(trace.exponentials[choice], many);
  const score = fixed(trace.scores[choice], few);
  const power = trace.shift === 0 ? `e^${score}` : `e^(${score} − ${fixed(trace.shift, few)})`;
  const name = trace.shift === 0 ? "e^s" : "e^(s − max)";
  return (
    <p>
      {name} is{" "}
      <span class="figures">
        {power} = {one}
      </span>
      . <b>{weight}</b> is {name} of <Word text={work.keys[choice]!} /> over the total of the column,{" "}
      <span class="figures">
        {one} ÷ {fixed(trace.total, many)}
      </span>
      .
    </p>
  );
}

function Blend({ work, choice, theme }: Props) {
  const [, many] = work.digits;
  const { trace, value } = work;
  if (!value) return <p>This page does not carry the values of this layer, so the blend cannot be shown.</p>;
  if (!trace.allowed.includes(1))
    return (
      <p>
        <Word text={work.asking} /> may look at nothing: there is nothing to blend.
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
            <span class="figures">{fixed(trace.weights[key], many)}</span> × value of <Word text={work.keys[key]!} />
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

function LongBlend({ work, choice, theme }: Props) {
  const { trace } = work;
  const value = work.value![choice]!;
  return (
    <>
      <Strip name={`value of ${visibleLabel(work.keys[choice]!)}`} vector={value} theme={theme} />
      <Strip name="output" vector={trace.output} theme={theme} />
      <details>
        <summary>all {trace.output.length} numbers of the output</summary>
        <table class="steps-table steps-terms">
          <thead>
            <tr>
              <th scope="col">dimension</th>
              <th scope="col">
                value of <bdi>{visibleLabel(work.keys[choice]!)}</bdi>
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
