// Compare: two texts, heads, layers or models, aligned; what changed, where nothing can, and where it may.

import { useMemo } from "preact/hooks";
import { useFrame } from "../app/frame";
import { useAnswer } from "../app/hooks";
import { differenceText, Guarded, Note, Panel, Quoted, Reason } from "../app/parts";
import { PlacePicker } from "../app/pickers";
import { MapView } from "../map/map-view";
import { TinyMap } from "../map/tiny-map";
import { pairText, placeOf } from "./align";
import { compared, type Compared, pairAt, usePairRow } from "./compared";
import type { Side } from "./difference";
import { PairWords } from "./pair-words";
import { type Found, search } from "./search";
import "./compare.css";

export function CompareView() {
  const { page, state, set } = useFrame();
  const { reading, layer, head, against, unit } = state;
  const of = useMemo(
    () => compared(page, { reading, layer, head }, against, unit),
    [page, reading, layer, head, against.reading, against.layer, against.head, unit],
  );
  return (
    <>
      <section class="reader" aria-label="Comparison">
        <p class="sentence">
          What changes from{" "}
          <PlacePicker
            page={page}
            place={state}
            which="first"
            readings
            onPlace={(place) => set({ reading: place.reading, layer: place.layer, head: place.head })}
          />{" "}
          to{" "}
          <PlacePicker
            page={page}
            place={against}
            which="second"
            readings
            onPlace={(place) => set({ against: place })}
          />
          .{" "}
          <button type="button" class="quiet" onClick={() => set({ ...against, against: { reading, layer, head } })}>
            ⇄ swap
          </button>
        </p>
        {typeof of === "string" ? <Reason>{of}</Reason> : <Pairs of={of} />}
      </section>
      {typeof of === "string" ? null : (
        <Guarded what="The comparison">
          <Difference of={of} />
        </Guarded>
      )}
    </>
  );
}

/** The chosen word's row on both sides. */
function Pairs({ of }: { of: Compared }) {
  const { state, set, theme } = useFrame();
  const place = pairAt(of.asking, state.query);
  const { row, reason } = usePairRow(of, place, state.rule);
  const asking = of.asking[place];
  const across = of.asking !== of.units;
  const choose = (next: number) => {
    const step = next < place ? -1 : 1; // past words that stand in the second text alone
    let at = next;
    while (of.asking[at] && !of.asking[at]?.a) at += step;
    const unit = of.asking[at]?.a;
    if (unit) set({ query: unit.tokens[unit.tokens.length - 1]!, key: null });
  };
  return (
    <>
      <Note>
        Where <Quoted text={pairText(asking?.a?.text ?? null, asking?.b?.text ?? null)} /> looks: below each word what
        it gets in the first, what it gets in the second, and the second less the first.
      </Note>
      {across ? (
        <PairWords
          pairs={of.asking}
          row={null}
          asking={place}
          text={of.a.source.queries.text}
          theme={theme}
          label="Words that look"
          onChoose={choose}
        />
      ) : null}
      {reason ? <Reason>{reason}</Reason> : null}
      <PairWords
        pairs={of.units}
        row={row}
        asking={across ? null : place}
        text={of.a.source.keys.text}
        theme={theme}
        label={across ? "Words that are looked at" : "Words: the chosen one looks at the others"}
        onChoose={across ? undefined : choose}
      />
    </>
  );
}

/** The map of differences, and what can be said of it. */
function Difference({ of }: { of: Compared }) {
  const { state, set, theme } = useFrame();
  const row = Math.max(0, placeOf(of.rows, state.query));
  const column = state.key === null ? null : placeOf(of.columns, state.key);
  const label = of.source.queries.tokens[of.mustBeZero]?.label;
  const mark =
    of.mustBeZero > 0 && label !== undefined
      ? { query: of.mustBeZero, text: "the same words above: must be 0" }
      : undefined;
  const choose = (query: number | null, key: number | null) => {
    const token = query === null ? null : (of.rows[query]?.[0] ?? null);
    set(token === null ? { key: null } : { query: token, key: key === null ? null : (of.columns[key]?.[0] ?? null) });
  };
  return (
    <div class="columns columns-compare">
      <Panel
        name="map"
        title="Map of differences"
        lead="blue: the second looks there more; brown: less; blank: nothing to compare"
      >
        <MapView
          source={of.source}
          layer={of.a.layer.number}
          head={of.a.head}
          query={row}
          choice={column}
          onChoose={choose}
          theme={theme}
          scale={state.scale}
          apart={false}
          difference
          mark={mark}
          onScale={(scale) => set({ scale })}
        />
      </Panel>
      <div class="panel">
        <Panel name="said" title="What changed">
          <Said of={of} onCell={choose} />
        </Panel>
        <Panel name="sides" title="The two maps">
          <div class="sides">
            <SideMap side={of.a} name="first" />
            <SideMap side={of.b} name="second" />
          </div>
        </Panel>
      </div>
    </div>
  );
}

function SideMap({ side: { source, layer, head }, name }: { side: Side; name: string }) {
  const { state, theme } = useFrame();
  return (
    <figure>
      <TinyMap
        source={source}
        layer={layer.number}
        head={head}
        theme={theme}
        size={140}
        scale={state.scale}
        apart={state.apart}
      />
      <figcaption>
        {name}: <bdi>{source.title}</bdi>, layer {layer.number}, {head === null ? "mean over heads" : `head ${head}`}
      </figcaption>
    </figure>
  );
}

function Said({ of, onCell }: { of: Compared; onCell: (query: number, key: number) => void }) {
  const { page } = useFrame();
  const answer = useAnswer(async () => ({ of, found: await search(of.source, of.mustBeZero) }), [of]);
  const found = answer.value?.of === of ? answer.value.found : undefined;
  const differs = of.source.queries.tokens[of.mustBeZero];
  return (
    <>
      {answer.error ? <Reason>The largest difference was not found: {answer.error}</Reason> : null}
      {found === null ? (
        <Reason>This map has too many cells to search as a whole. Its picture shows where to look.</Reason>
      ) : null}
      {found?.largest ? (
        <p>
          Largest difference: <Cell of={of} found={found.largest} onCell={onCell} />
        </p>
      ) : null}
      {found?.broken ? <Reason>{found.broken} cells are not a number.</Reason> : null}
      {found && of.mustBeZero > 0 ? (
        <Note>
          {differs ? (
            <>
              Before <Quoted text={differs.label} /> both have read the same words, and look only back: nothing there
              may differ.{" "}
            </>
          ) : (
            <>Both are the same head of the same text: nothing may differ. </>
          )}
          The largest difference there is{" "}
          {found.before ? <Cell of={of} found={found.before} onCell={onCell} /> : "none, for there is no such cell"}
          {found.before ? roundingText(found.before, of) : ""}.
          {differs ? (
            <>
              {" "}
              From <Quoted text={differs.label} /> on every row may differ.
            </>
          ) : null}
        </Note>
      ) : null}
      {of.mustBeZero === 0 ? <Note>{mayDiffer(of)}</Note> : null}
      {page.comparison?.note ? <Note>{page.comparison.note}</Note> : null}
      <Note>
        A difference says that the look changed with the words. It does not say that the answer changed because of it.
      </Note>
    </>
  );
}

/** Whether a difference that must be zero is within what the page's numbers may be off. */
function roundingText({ difference }: Found, { a, b }: Compared): string {
  const may = (a.layer.worst ?? 1e-3) + (b.layer.worst ?? 1e-3);
  if (difference === 0) return "";
  return Math.abs(difference) <= may
    ? `, within the ${may.toPrecision(1)} that rounding may make`
    : ": more than rounding makes, so these are not the same model, or something is wrong";
}

function mayDiffer({ a, b }: Compared): string {
  if (a.layer.number !== b.layer.number || a.head !== b.head)
    return "These are two heads that learned by themselves: every row may differ.";
  return a.source.layers.every((layer) => layer.causal)
    ? "These are two models or readings: every row may differ."
    : "This model reads in both directions, so a changed word may change every row.";
}

function Cell({ of, found, onCell }: { of: Compared; found: Found; onCell: (query: number, key: number) => void }) {
  const { query, key, difference } = found;
  return (
    <button type="button" class="quiet" onClick={() => onCell(query, key)}>
      <span class="figures">{differenceText(difference)}</span>, from{" "}
      <Quoted text={of.source.queries.tokens[query]!.label} /> to <Quoted text={of.source.keys.tokens[key]!.label} />
    </button>
  );
}
