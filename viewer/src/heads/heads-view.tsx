// Heads: a number for every head, the maps of one layer side by side, and below them those of all layers.

import { useFrame } from "../app/frame";
import { Note, Panel } from "../app/parts";
import { PlacePicker, Switch } from "../app/pickers";
import { counted } from "../reader/remarks";
import { HeadMaps } from "./head-maps";
import "./heads.css";
import { StatisticGrid } from "./statistic-grid";
import { StatisticPicker } from "./statistic-picker";
import { statisticOf } from "./statistics";

export function HeadsView() {
  return (
    <div class="columns columns-heads">
      <AllHeads />
      <div>
        <OneLayer />
        <AllLayers />
      </div>
    </div>
  );
}

function AllHeads() {
  const { source, state, set } = useFrame();
  const statistic = statisticOf(source, state.statistic);
  const unit = statistic && statistic.unit !== "share" ? `, in ${statistic.unit}` : "";
  const what = statistic ? `: ${statistic.title.toLowerCase()}${unit}, averaged over the tokens that look` : "";
  return (
    <Panel name="grid" title="All heads" lead={<StatisticPicker />}>
      <StatisticGrid onHead={set} />
      <p>
        <button type="button" class="leading" onClick={() => set({ view: "read" })}>
          Read layer {state.layer}, {state.head === null ? "mean over heads" : `head ${state.head}`} →
        </button>
      </p>
      <Note>Each square is one head{what}. Choose one to see its layer beside it.</Note>
    </Panel>
  );
}

function OneLayer() {
  const { page, layer, state, set } = useFrame();
  const heads = counted(layer.heads, "head");
  const shared = layer.keyValueHeads < layer.heads ? `${heads} share ${layer.keyValueHeads} key-value heads` : heads;
  return (
    <Panel
      name="layer"
      title={`The heads of layer ${state.layer}`}
      lead={`${shared}; choose one to read it`}
      tools={
        <div class="tools">
          <PlacePicker page={page} place={state} onPlace={set} readings />
          <Switch on={state.apart} onSwitch={(apart) => set({ apart })}>
            first token set apart (colours only)
          </Switch>
        </div>
      }
    >
      <HeadMaps layer={layer} size={132} captions onHead={(head) => set({ head, view: "read" })} />
    </Panel>
  );
}

function AllLayers() {
  const { source, state, set } = useFrame();
  return (
    <Panel name="layers" title="All layers" lead="the same maps, one line a layer; rows look, columns are looked at">
      {source.layers.map((layer) => (
        <div key={layer.number} class="layer-line">
          <button
            type="button"
            class="layer-number figures"
            aria-label={`layer ${layer.number}`}
            aria-pressed={layer.number === state.layer}
            onClick={() => set({ layer: layer.number })}
          >
            {layer.number}
          </button>
          <HeadMaps
            layer={layer}
            size={sizeFor(layer.heads)}
            captions={false}
            onHead={(head) => set({ layer: layer.number, head, view: "read" })}
          />
        </div>
      ))}
      <p class="note only-printed">Layers that were not yet on screen are not printed: scroll to them first.</p>
    </Panel>
  );
}

/** So small that the maps of a layer stand in one line, down to what can still be made out. */
function sizeFor(heads: number): number {
  return Math.min(76, Math.max(40, Math.floor(780 / heads) - 8));
}
