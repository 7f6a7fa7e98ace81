// About these numbers: what was run, what the page carries and how exactly, what a weight is not, and the keys.

import { useFrame } from "../app/frame";
import { Panel } from "../app/parts";
import type { LayerInfo, ReadingSource } from "../data/types";
import { counted } from "../reader/remarks";
import { layerGroups } from "./layers";
import "./about.css";

export function AboutView() {
  const { page } = useFrame();
  return (
    <div class="about">
      <Panel name="weights" title="What a weight is, and what it is not">
        <Meaning />
      </Panel>
      {page.readings.map((source) => (
        <Panel key={source.id} name="reading" title={source.title} lead={lengthOf(source)}>
          <Model source={source} />
          {source.notes.length ? (
            <ul class="about-notes">
              {source.notes.map((note) => (
                <li key={note}>
                  <bdi>{note}</bdi>
                </li>
              ))}
            </ul>
          ) : null}
          <Carried source={source} />
        </Panel>
      ))}
      <Panel name="keys" title="Keys">
        <Keys />
      </Panel>
      <p class="note">
        Written by Heedmap {page.version}, as {page.schema}. This page asks nothing of the network.
      </p>
    </div>
  );
}

function Meaning() {
  return (
    <div class="prose">
      <p>
        In each head, each token asks (its query) and is asked (its key). The scores q·k, scaled, go through softmax and
        become weights: shares of one whole, which say how much of each token's value is blended into the asking token.
      </p>
      <p>
        A weight is not an explanation. It does not say that the answer depends on that token: a large weight on a small
        value moves little, and what one head does others may undo. It is a place to look. Whether it matters is found
        out by a test: take the look away, read again, compare, and repeat on sentences that were not used to find it.
      </p>
      <p>
        Much of the weight often rests on the first token, whatever it is: a place to put a share that nothing else
        needs. Setting it apart changes colours only. Nothing on this page is divided again after something was left
        out.
      </p>
      <p>
        In a model that looks only back, nothing in a row can depend on what comes later. Where two texts share their
        beginning, their rows are the same up to there.
      </p>
      <p>
        A word may be several tokens. As a word that is looked at, it gets the sum of their weights, so longer words
        gain. As the word that looks, its row is the mean over its tokens or that of its last token, as chosen; where
        this was used, it is said.
      </p>
      <p>
        Blank cells are forbidden: what lies ahead, outside a window, or padding. A forbidden cell is not a small
        weight. What is not a number (nan) is marked, and never drawn as 0.
      </p>
    </div>
  );
}

function lengthOf({ queries, keys }: ReadingSource): string {
  return queries === keys
    ? counted(queries.tokens.length, "token")
    : `${counted(queries.tokens.length, "token")} looking at ${queries.tokens.length === keys.tokens.length ? "as many" : keys.tokens.length}`;
}

/** Everything that is known of the model, as it came. */
function Model({ source: { model } }: { source: ReadingSource }) {
  const facts = Object.entries(model).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replace(/_/g, " ")}</dt>
          <dd>
            <bdi>{typeof value === "object" ? JSON.stringify(value) : String(value)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Carried({ source }: { source: ReadingSource }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={`What this page carries of ${source.title}`}>
      <table>
        <thead>
          <tr>
            <th>layers</th>
            <th>heads</th>
            <th>carries</th>
            <th>precision</th>
            <th>a weight is off by at most</th>
            <th>four steps</th>
            <th>may look</th>
          </tr>
        </thead>
        <tbody>
          {layerGroups(source.layers).map(({ layers, like }) => (
            <tr key={layers}>
              <th scope="row">{layers}</th>
              <td>
                {like.heads === like.keyValueHeads
                  ? like.heads
                  : `${like.heads} on ${like.keyValueHeads} key-value heads`}
              </td>
              <td>
                {like.carries}
                {like.omitted ? `: ${like.omitted}` : ""}
              </td>
              <td>{like.carries === "nothing" ? "–" : like.precision}</td>
              <td class="figures">
                {like.carries === "nothing" ? "–" : like.worst === null ? "not known" : like.worst.toPrecision(2)}
              </td>
              <td>{like.hasSteps ? "unfold" : "not carried"}</td>
              <td>{mayLook(like)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function mayLook({ causal, window, hasSink }: LayerInfo): string {
  const way = causal ? "back" : "both ways";
  return `${way}${window === null ? "" : `, within ${window} tokens`}${hasSink ? ", and at a learned sink" : ""}`;
}

const KEYS: [string, string][] = [
  ["Tab", "from part to part; each list, grid and map is one stop"],
  ["← → in the words", "the word before, the word after; ↑ ↓ the line above, the line below; Home, End"],
  ["arrows in the grid of heads", "from head to head and layer to layer"],
  ["arrows in the map", "from cell to cell; the map says its other keys itself"],
  ["← → on the tabs", "from view to view"],
];

function Keys() {
  return (
    <dl class="facts">
      {KEYS.map(([keys, what]) => (
        <div key={keys}>
          <dt>{keys}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
