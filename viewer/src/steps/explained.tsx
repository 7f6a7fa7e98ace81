// The four steps in sentences, for one word that looks and one that is looked at.

import type { ComponentChildren } from "preact";
import { Quoted } from "../app/parts";
import { Blend } from "./blend";
import { Strip } from "./strip";
import { asGiven, fixed, inBrackets, type Part, scalingText, SHORT, type Term, terms, tidy, TIMES, weighed } from "./work";

const MOST_TERMS = 3;

export function Explained({ work, choice, theme, children }: Part & { children?: ComponentChildren }) {
  const may = work.trace.allowed[choice] === 1;
  return (
    <ol class="explained">
      <Step number={1} title="compare">
        <Compare {...{ work, choice, theme }} />
      </Step>
      {may ? (
        <>
          <Step number={2} title={work.scale === 1 && work.byHand ? "scale (left out)" : "scale"}>
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
            <Quoted text={work.asking} /> may not look at <Quoted text={work.keys[choice]!} />: the score is left out,
            and the weight is exactly 0.
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

function Compare({ work, choice, theme }: Part) {
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
        q · k of <Quoted text={work.asking} /> and <Quoted text={work.keys[choice]!} /> is{" "}
        <span class="figures">
          {sum} = <b>{product}</b>
        </span>
      </p>
    );
  }
  return (
    <>
      <p>
        q · k of <Quoted text={work.asking} /> and <Quoted text={work.keys[choice]!} /> is <b>{product}</b>, the sum of{" "}
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
      <Products work={work} all={all} choice={choice} />
    </>
  );
}

/** Every product of the sum, dimension by dimension. */
function Products({ work, choice, all }: Pick<Part, "work" | "choice"> & { all: Term[] }) {
  return (
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
  );
}

function Scale({ work, choice }: Part) {
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
          {work.byHand ? "Not" : "This model's scores are not"} divided by √{query.length} ={" "}
          {tidy(Math.sqrt(query.length))}. Scores grow with the number of dimensions, and softmax grows sharper with
          them.
        </p>
      ) : null}
    </>
  );
}

function Weigh({ work, choice }: Part) {
  const [few, many] = work.digits;
  const { trace } = work;
  const weight = weighed(trace.weights[choice]!, many);
  if (!trace.exponentials) {
    const sum = trace.weights.reduce((all, one) => all + one, 0);
    return (
      <p>
        Without softmax the score itself is the weight of <Quoted text={work.keys[choice]!} />: <b>{weight}</b>. The
        weights add up to {fixed(sum, many)}, not to 1, and may be negative.
      </p>
    );
  }
  const one = weighed(trace.exponentials[choice]!, many);
  const score = fixed(trace.scores[choice], few);
  const power = trace.shift === 0 ? `e^${score}` : `e^(${score} − ${inBrackets(fixed(trace.shift, few))})`;
  const name = trace.shift === 0 ? "e^s" : "e^(s − max)";
  return (
    <p>
      {name} is{" "}
      <span class="figures">
        {power} = {one}
      </span>
      . <b>{weight}</b> is {name} of <Quoted text={work.keys[choice]!} /> over the total of the column,{" "}
      <span class="figures">
        {one} ÷ {fixed(trace.total, many)}
      </span>
      .
    </p>
  );
}
