// Compare: two texts, heads, layers or models, aligned; what changed, where nothing can, and where it may.

import { useMemo } from "preact/hooks";
import { useFrame } from "../app/frame";
import { Guarded, Note, Panel, Quoted, Reason } from "../app/parts";
import { PlacePicker } from "../app/pickers";
import { readingName } from "../app/reading-names";
import { MapView } from "../map/map-view";
import { TinyMap } from "../map/tiny-map";
import { pairText, placeOf } from "./align";
import { compared, type Compared, pairAt, usePairRow } from "./compared";
import type { Side } from "./difference";
import { PairWords } from "./pair-words";
import { Said } from "./said";
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
  const { page, state, theme } = useFrame();
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
        {name}: {page.readings.length > 1 ? <bdi>{readingName(page, source)}, </bdi> : null}layer {layer.number},{" "}
        {head === null ? "mean over heads" : `head ${head}`}
      </figcaption>
    </figure>
  );
}
