// Read: the sentence above, and below it all heads, the map, and the steps behind one row.

import { useFrame } from "../app/frame";
import { Guarded, Note, Panel, Quoted, Reason } from "../app/parts";
import { StatisticGrid } from "../heads/statistic-grid";
import { StatisticPicker } from "../heads/statistic-picker";
import { MapView } from "../map/map-view";
import { PicturePanel } from "../picture/picture";
import { Odds } from "./odds";
import { Reader } from "./reader";
import { caution, reach, type Remark } from "./remarks";
import { useReader } from "./seen-row";
import { StepsPanel } from "./steps-panel";

export function ReadView() {
  const { source, layer, state, set, theme } = useFrame();
  const reader = useReader(source, state);
  const remark = reach(source, reader.asking, state.query);
  return (
    <>
      <Guarded what="The reader">
        <Reader reader={reader} />
      </Guarded>
      <Guarded what="The picture">
        <PicturePanel reader={reader} />
      </Guarded>
      <div class="columns">
        <Panel name="heads" title="All heads" lead={<StatisticPicker />}>
          <StatisticGrid onHead={(place) => set(place)} />
        </Panel>
        <Panel name="map" title="Map" lead={mapLead(source.queries === source.keys, layer.causal, layer.window)}>
          <Guarded what="The map">
            {layer.carries === "nothing" ? (
              <Reason>
                Layer {layer.number} is not in this page: {layer.omitted ?? "it was left out"}.
              </Reason>
            ) : (
              <MapView
                source={source}
                layer={state.layer}
                head={state.head}
                query={state.query}
                choice={state.key}
                theme={theme}
                scale={state.scale}
                apart={state.apart}
                onChoose={(query, key) => set(query === null ? { key: null } : { query, key })}
                onScale={(scale) => set({ scale })}
              />
            )}
          </Guarded>
        </Panel>
        <div class="panel panel-steps">
          <Guarded what="The four steps">
            <StepsPanel />
          </Guarded>
          {remark ? (
            <Note>
              <Filled remark={remark} />
            </Note>
          ) : null}
          <Note>{caution(state.head)}</Note>
          <Odds />
        </div>
      </div>
    </>
  );
}

function mapLead(self: boolean, causal: boolean, window: number | null): string {
  if (!self) return "rows look, columns are looked at: two different texts";
  if (!causal) return "rows look, columns are looked at, in both directions";
  return `rows look, columns are looked at; what lies ahead cannot be seen${window === null ? "" : `, nor what lies ${window} or more back`}`;
}

/** A remark with its quotes in their places. */
export function Filled({ remark }: { remark: Remark }) {
  const parts = remark.text.split(/\{(\d)\}/);
  return (
    <>
      {parts.map((part, index) => (index % 2 ? <Quoted key={index} text={remark.quotes[Number(part)] ?? ""} /> : part))}
    </>
  );
}
