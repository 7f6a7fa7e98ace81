// The maps of all heads of a layer side by side, each small and exact, in brackets by the key-value head they share.

import { useFrame } from "../app/frame";
import { useSeen } from "../app/hooks";
import { Guarded, Reason, Spoken, statisticText } from "../app/parts";
import type { LayerInfo } from "../data/types";
import { TinyMap } from "../map/tiny-map";
import { groupsOf, statisticOf, valueOf } from "./statistics";

interface HeadMapsProps {
  layer: LayerInfo;
  /** Side of a map in CSS pixels. */
  size: number;
  /** Whether each map has its number and value below it. */
  captions: boolean;
  onHead: (head: number | null) => void;
}

export function HeadMaps({ layer, size, captions, onHead }: HeadMapsProps) {
  const [place, seen] = useSeen<HTMLDivElement>("picture", "200px");
  if (layer.carries === "nothing")
    return (
      <Reason>
        Layer {layer.number} is not in this page: {layer.omitted ?? "it was left out"}.
      </Reason>
    );
  const groups = groupsOf(layer);
  return (
    <div ref={place} class={seen ? "head-maps" : "head-maps head-maps-waiting"} style={{ minHeight: `${size}px` }}>
      {groups.map((heads, number) => (
        <div
          key={number}
          class={groups.length > 1 ? "head-group" : "head-group head-group-alone"}
          role="group"
          aria-label={groups.length > 1 ? `layer ${layer.number}, key-value head ${number}` : `layer ${layer.number}`}
        >
          {groups.length > 1 && captions ? <span class="bracket">kv {number}</span> : null}
          <div class="head-row">
            {heads.map((head) => (
              <HeadMap key={head} {...{ layer, head, size, captions, onHead, seen }} />
            ))}
          </div>
        </div>
      ))}
      {captions ? (
        <div class="head-group head-group-alone">
          <span class="bracket">all together</span>
          <div class="head-row">
            <HeadMap {...{ layer, size, captions, onHead, seen }} head={null} />
          </div>
        </div>
      ) : null}
    </div>
  );
}

interface HeadMapProps extends HeadMapsProps {
  head: number | null;
  seen: boolean;
}

function HeadMap({ layer, head, size, captions, onHead, seen }: HeadMapProps) {
  const { source, state, theme } = useFrame();
  const statistic = statisticOf(source, state.statistic);
  const name = head === null ? "mean" : `head ${head}`;
  const value = statistic && head !== null ? statisticText(valueOf(source, statistic, layer.number, head)) : "";
  const chosen = state.layer === layer.number && state.head === head;
  return (
    <button type="button" class="head-map" aria-pressed={chosen} onClick={() => onHead(head)}>
      <span class="head-picture" style={{ width: `${size}px`, height: `${size}px` }}>
        {seen ? (
          <Guarded what={name}>
            <TinyMap
              source={source}
              layer={layer.number}
              head={head}
              theme={theme}
              size={size}
              scale={state.scale}
              apart={state.apart}
            />
          </Guarded>
        ) : null}
      </span>
      <span class={captions ? "head-caption" : "spoken"}>
        <Spoken>layer {layer.number}, </Spoken>
        {name}
        {value ? <Spoken>, {statistic!.title.toLowerCase()} </Spoken> : null}
        <span class="figures">{value}</span>
      </span>
    </button>
  );
}
