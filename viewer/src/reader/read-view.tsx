// Read: the sentence above, and below it all heads, the map, and the steps behind one row.

import { useFrame } from "../app/frame";
import { Guarded, Panel, Reason } from "../app/parts";
import { StatisticGrid } from "../heads/statistic-grid";
import { StatisticPicker } from "../heads/statistic-picker";
import { MapView } from "../map/map-view";
import { PicturePanel } from "../picture/picture";
import { Odds } from "./odds";
import { Reader } from "./reader";
import { useReader } from "./seen-row";
import { StepsPanel } from "./steps-panel";

export function ReadView() {
  const { source, layer, state, set, theme } = useFrame();
  const reader = useReader(source, state);
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
          <Odds />
        </Panel>
        <div class="panel panel-steps">
          <Guarded what="The four steps">
            <StepsPanel />
          </Guarded>
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
