// The map of one head: drawn on a canvas, read with the pointer or the keyboard, saved as it stands.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CellLine } from "./cell-tip";
import { MapController, type Report } from "./controller";
import { Legend } from "./legend";
import { MapTools } from "./map-tools";
import type { MapViewProps } from "./props";
import { RowCache } from "./row-cache";
import { type LiveProps, Stage } from "./stage";
import type { Pooling } from "./tile-store";
import "./map.css";

const NOTHING: Report = {
  level: 0,
  whole: true,
  loading: true,
  stale: false,
  broken: false,
  holes: false,
  top: 1,
  fault: null,
};

export function MapView(props: MapViewProps) {
  const info = props.source.layers.find((layer) => layer.number === props.layer);
  if (!info || info.carries === "nothing") {
    return (
      <p
        class="reason"
        role="note"
      >{`Layer ${props.layer} is not in this page${info?.omitted ? `: ${info.omitted}` : ""}.`}</p>
    );
  }
  if (!props.source.queries.tokens.length || !props.source.keys.tokens.length) {
    return (
      <p class="reason" role="note">
        There is no token to show.
      </p>
    );
  }
  return <LiveMap {...props} info={info} />;
}

function LiveMap(props: LiveProps) {
  const { source, info, head, query, choice, theme, scale } = props;
  const unit = props.unit ?? (props.difference ? "difference of weights" : "weight");
  const canvas = useRef<HTMLCanvasElement>(null);
  const [report, setReport] = useState(NOTHING);
  const [how, setHow] = useState<Pooling>("max");
  const controller = useController(canvas, setReport);
  const rows = useRows(props);
  const ink = { theme, scale, top: report.top, difference: props.difference ?? false };
  return (
    <div class="map">
      <MapTools {...{ controller, report, how, setHow, info, source, head, scale, unit }} onScale={props.onScale} />
      <Stage {...{ ...props, canvas, controller, report, how, rows, unit }} />
      <CellLine {...{ source, info, head, unit, rows, query, choice }} />
      {report.fault ? (
        <p class="reason" role="alert">{`Some of this map could not be shown: ${report.fault}`}</p>
      ) : null}
      <Legend
        ink={ink}
        unit={legendUnit(unit, report.level, how, props)}
        first={!ink.difference}
        holes={report.holes}
        broken={report.broken}
        blank={info.causal || report.holes}
      />
    </div>
  );
}

/** What draws on the canvas, as long as this is on the page. */
function useController(
  canvas: { current: HTMLCanvasElement | null },
  setReport: (report: Report) => void,
): { current: MapController | null } {
  const controller = useRef<MapController | null>(null);
  useLayoutEffect(() => {
    const made = new MapController(canvas.current!, setReport);
    controller.current = made;
    return () => made.close();
  }, []);
  return controller;
}

/** The source's rows, kept while the head stays the same. */
function useRows({ source, layer, head }: MapViewProps): RowCache {
  const kept = useRef<{ cache: RowCache; name: unknown[] } | null>(null);
  const name = [source, layer, head];
  if (!kept.current || kept.current.name.some((part, index) => part !== name[index])) {
    kept.current = { cache: new RowCache(source, layer, head), name };
  }
  return kept.current.cache;
}

/** What a colour stands for, with what was done to get there. */
function legendUnit(unit: string, level: number, how: Pooling, { apart, difference }: MapViewProps): string {
  const block =
    level > 0 ? `each cell is the ${how === "max" ? "largest" : "mean"} of ${2 ** level} × ${2 ** level}; ` : "";
  const rescaled =
    apart && !difference
      ? "; the blue scale ends at the largest weight on other tokens, the numbers are unchanged"
      : "";
  return difference ? `${block}${unit}` : `${block}${unit}: share of the row's attention${rescaled}`;
}
