// Heads: a number for every head, the maps of one layer side by side, and below them those of all layers.

import { layerOf, useFrame } from "../app/frame";
import { Note, Panel } from "../app/parts";
import { PlacePicker, Switch } from "../app/pickers";
import { counted } from "../reader/remarks";
import { HeadMaps } from "./head-maps";
import { StatisticGrid } from "./statistic-grid";
import { StatisticPicker } from "./statistic-picker";
import "./heads.css";

export function HeadsView() {
  const { page, source, layer, state, set } = useFrame();
  const statistic = source.statistics.find((each) => each.name === state.statistic);
  const read = (number: number, head: number | null) => set({ layer: number, head, view: "read" });
  return (
    <div class="columns columns-heads">
      <Panel name="grid" title="All heads" lead={<StatisticPicker />}>
        <StatisticGrid onHead={set} />
        <p>
          <button type="button" class="leading" onClick={() => set({ view: "read" })}>
            Read layer {state.layer}, {state.head === null ? "mean over heads" : `head ${state.head}`} →
          </button>
        </p>
        <Note>
          Each square is one head
          {statistic
            ? `: ${statistic.title.toLowerCase()}${statistic.unit === "share" ? "" : `, in ${statistic.unit}`}, averaged over the tokens that look`
            : ""}
          . Choose one to see its layer beside it.
        </Note>
      </Panel>
      <div>
        <Panel
          name="layer"
          title={`The heads of layer ${state.layer}`}
          lead={
            layer.keyValueHeads < layer.heads
              ? `${counted(layer.heads, "head")} share ${layer.keyValueHeads} key-value heads; choose one to read it`
              : `${counted(layer.heads, "head")}; choose one to read it`
          }
          tools={
            <div class="tools">
              <PlacePicker page={page} place={state} onPlace={set} readings />
              <Switch on={state.apart} onSwitch={(apart) => set({ apart })}>
                first token set apart (colours only)
              </Switch>
            </div>
          }
        >
          <HeadMaps layer={layer} size={132} captions onHead={(head) => read(state.layer, head)} />
        </Panel>
        <Panel
          name="layers"
          title="All layers"
          lead="the same maps, one line a layer; rows look, columns are looked at"
        >
          {source.layers.map(({ number }) => (
            <div key={number} class="layer-line">
              <button
                type="button"
                class="layer-number figures"
                aria-label={`layer ${number}`}
                aria-pressed={number === state.layer}
                onClick={() => set({ layer: number })}
              >
                {number}
              </button>
              <HeadMaps
                layer={layerOf(source, number)}
                size={sizeFor(layer.heads)}
                captions={false}
                onHead={(head) => read(number, head)}
              />
            </div>
          ))}
        </Panel>
      </div>
    </div>
  );
}

/** So small that the maps of a layer stand in one line, down to what can still be made out. */
function sizeFor(heads: number): number {
  return Math.min(76, Math.max(40, Math.floor(820 / heads) - 8));
}
