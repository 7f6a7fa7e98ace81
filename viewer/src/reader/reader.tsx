// The reader: which word looks, in which head, and what each word of the text gets.

import { useMemo } from "preact/hooks";
import { useFrame } from "../app/frame";
import { Guarded, Note, Quoted, Reason, smallText, weightText } from "../app/parts";
import { Choice, PlacePicker, Switch } from "../app/pickers";
import type { Theme } from "../map/props";
import { Largest } from "./largest";
import { Legend } from "./legend";
import { caution, counted, reach, type Remark, sharing, total, unseen } from "./remarks";
import type { Reader as Reading, SeenRow } from "./seen-row";
import { shadingOf } from "./shading";
import { setApart, type Unit, unitAt } from "./units";
import { LONG, Words } from "./words";
import "./reader.css";

export function Reader({ reader }: { reader: Reading }) {
  const { source, state, set, theme } = useFrame();
  const { asking, units, place, seen, error } = reader;
  const across = source.queries !== source.keys;
  const shading = useShading(seen, theme);
  const choose = (next: number) => set({ query: asking[next]!.tokens[asking[next]!.tokens.length - 1]!, key: null });
  const chosen = state.key === null ? null : unitAt(units, state.key);
  const name = state.unit === "words" ? "Words" : "Tokens";
  return (
    <section class="reader" aria-label="Reader">
      <div class="reader-head">
        <Sentence reader={reader} />
        <Tools reader={reader} />
      </div>
      {across ? (
        <Words
          units={asking}
          shading={null}
          asking={place}
          chosen={null}
          label={`${name} that look`}
          text={source.queries.text}
          onChoose={choose}
        />
      ) : null}
      {error ? <Reason>This row cannot be shown: {error}</Reason> : null}
      <Words
        units={units}
        shading={error ? null : shading}
        asking={across ? null : place}
        chosen={chosen}
        text={source.keys.text}
        label={across ? `${name} that are looked at` : `${name}: the chosen one looks at the others`}
        onChoose={across ? undefined : choose}
      />
      {seen && !error ? <Below seen={seen} reader={reader} /> : null}
    </section>
  );
}

function useShading(seen: SeenRow | null, theme: Theme) {
  const {
    state: { apart, scale },
  } = useFrame();
  return useMemo(() => (seen ? shadingOf(seen, theme, scale, apart) : null), [seen, theme, scale, apart]);
}

/** "Where “it” looks in layer 16, head 3. The row adds up to 1.000; an ordinary share of what “The” leaves is 0.076." */
function Sentence({ reader: { asking, units, place, seen } }: { reader: Reading }) {
  const { page, state, set } = useFrame();
  const apart = seen ? setApart(seen.row, units) : [];
  const names = [...new Set(units.filter((unit) => unit.tokens.some((token) => apart.includes(token))).map((unit) => unit.text))];
  return (
    <p class="sentence">
      Where{" "}
      <b>
        <Quoted text={asking[place]?.text ?? ""} />
      </b>
      <Occurrence units={asking} place={place} /> looks in{" "}
      <PlacePicker
        page={page}
        place={state}
        onPlace={({ reading, layer, head }) => set({ reading, layer, head })}
        readings
      />
      . {seen ? <span class="figures">{total(seen.row)}</span> : null}
      {seen && seen.ordinary !== null && !Number.isNaN(seen.ordinary) ? (
        <>
          ; an ordinary share of what{" "}
          {names.map((name, index) => (
            <>
              {index === 0 ? "" : index === names.length - 1 ? " and " : ", "}
              <Quoted text={name} />
            </>
          ))}{" "}
          {names.length > 1 ? "leave" : "leaves"} is{" "}
          <span class="figures">{smallText(seen.ordinary)}</span>.
        </>
      ) : seen ? (
        "."
      ) : null}
    </p>
  );
}

/** Which one it is of a word that stands several times, as the command line writes it: it#2. */
function Occurrence({ units, place }: { units: Unit[]; place: number }) {
  const same = units.flatMap((unit, index) => (unit.text === units[place]?.text ? [index] : []));
  const which = same.indexOf(place) + 1;
  return same.length > 1 ? <small title={`number ${which} of ${same.length}`}>#{which}</small> : null;
}

function Tools({ reader: { asking, place } }: { reader: Reading }) {
  const { source, state, set } = useFrame();
  const pieces = [source.queries, source.keys].some((list) => list.words.some((word) => word.tokens.length > 1));
  return (
    <div class="tools">
      {(asking[place]?.tokens.length ?? 1) > 1 ? (
        <Choice
          label="Row of a word of several tokens"
          value={state.rule}
          onValue={(rule) => set({ rule })}
          names={[
            ["mean", "mean of its tokens"],
            ["last", "its last token"],
          ]}
        />
      ) : null}
      {pieces ? (
        <Choice
          label="Show"
          value={state.unit}
          onValue={(unit) => set({ unit })}
          names={[
            ["words", "words"],
            ["tokens", "tokens"],
          ]}
        />
      ) : null}
      <Switch on={state.apart} onSwitch={(apart) => set({ apart })}>
        first token set apart (colours only)
      </Switch>
    </div>
  );
}

/** What the words alone do not say: colours, rules, what cannot be seen, and for long texts the largest shares. */
function Below({ seen, reader: { asking, units, place } }: { seen: SeenRow; reader: Reading }) {
  const { source, layer, state, set } = useFrame();
  const remark = reach(source, asking, state.query);
  const pieces = asking[place]?.tokens.length ?? 1;
  const notes = [
    pieces > 1
      ? `The row is ${state.rule === "mean" ? `the mean over the rows of its ${pieces} tokens` : `that of the last of its ${pieces} tokens`}.`
      : null,
    seen.row.allowed.some(Boolean) ? sentences(unseen(seen.row)) : null,
    layer.window !== null ? `This layer looks back over a window of ${counted(layer.window, "token")}.` : null,
    sharing(layer, state.head),
    patchesText(seen, units),
    units.some((unit) => unit.tokens.length > 1) ? "A word of several tokens gets the sum of their weights." : null,
  ].filter(Boolean);
  return (
    <div class="reader-below">
      <Legend seen={seen} first={seen.first === null ? null : units[seen.first]!.text} />
      {units.filter((unit) => !unit.patch).length > LONG ? (
        <Guarded what="The list of the largest">
          <Largest seen={seen} units={units} onKey={(key) => set({ key, query: asking[place]!.tokens.at(-1)! })} />
        </Guarded>
      ) : null}
      <Note>{notes.join(" ")}</Note>
      <p class="remark">
        {remark ? <Filled remark={remark} /> : null} {caution(state.head)}
      </p>
    </div>
  );
}

/** What the patches of a picture get together; one by one they are in the picture. */
function patchesText(seen: SeenRow, units: Unit[]): string | null {
  const patches = seen.shares.filter((_, place) => units[place]!.patch);
  if (!patches.length) return null;
  const together = patches.reduce((sum, share) => sum + (share.allowed ? share.weight : 0), 0);
  return `The ${counted(patches.length, "patch", "patches")} of the picture get ${weightText(together)} together.`;
}

/** A remark with its quotes in their places. */
function Filled({ remark }: { remark: Remark }) {
  const parts = remark.text.split(/\{(\d)\}/);
  return (
    <>
      {parts.map((part, index) => (index % 2 ? <Quoted key={index} text={remark.quotes[Number(part)] ?? ""} /> : part))}
    </>
  );
}

function sentences(parts: string[]): string | null {
  return parts.length ? `${parts.join(", ")}.` : null;
}
