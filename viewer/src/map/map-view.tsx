// The map of one head: drawn on a canvas, read with the pointer or the keyboard, saved as it stands.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visible } from "../app/parts";
import type { LayerInfo, ReadingSource } from "../data/types";
import { CellLine, CellTip } from "./cell-tip";
import { placeText, plural } from "./cell-text";
import { MapController, type Report } from "./controller";
import { attach } from "./gestures";
import { actionOf, KEYS_HELP } from "./keys";
import { Legend } from "./legend";
import { MapTools } from "./map-tools";
import type { MapViewProps } from "./props";
import { RowCache } from "./row-cache";
import type { Colours } from "./scene";
import type { Pooling } from "./tile-store";
import type { Cell } from "./viewport";
import { useUniqueId } from "../unique-id";
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
const HINT_MS = 1600;

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

function LiveMap(props: MapViewProps & { info: LayerInfo }) {
  const { source, info, head, query, choice, onChoose, theme, scale } = props;
  const unit = props.unit ?? (props.difference ? "difference of weights" : "weight");
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const controller = useRef<MapController | null>(null);
  const [report, setReport] = useState(NOTHING);
  const [how, setHow] = useState<Pooling>("max");
  const [hover, setHover] = useState<Cell | null>(null);
  const [hint, setHint] = useState(false);
  const rows = useRows(props);
  const help = useUniqueId();

  useEffect(() => {
    const made = new MapController(canvas.current!, setReport);
    controller.current = made;
    return () => made.close();
  }, []);
  useShown(stage, controller, { ...props, how });
  useHands(stage, controller, { onChoose, query, setHover, setHint, named: (at) => fullLabel(source, at) });
  useEffect(() => {
    if (query !== null && choice !== null && document.activeElement === stage.current) {
      controller.current?.reveal({ query, key: choice });
    }
  }, [query, choice]);
  useEffect(() => {
    if (!hint) return;
    const timer = setTimeout(() => setHint(false), HINT_MS);
    return () => clearTimeout(timer);
  }, [hint]);

  const size = { rows: source.queries.tokens.length, columns: source.keys.tokens.length };
  const pressed = (event: KeyboardEvent) => {
    const map = controller.current;
    const action = map && actionOf(event, query ?? 0, choice ?? 0, size);
    if (!map || !action) return;
    event.preventDefault();
    setHover(null);
    map.point(null);
    if (action.kind === "move") onChoose(action.query, query === null ? 0 : action.key);
    else if (action.kind === "pan") map.pan(action.dx, action.dy);
    else if (action.kind === "zoom") map.zoom(action.factor, ...middleOf(map, query, choice));
    else if (action.kind === "whole") map.showWhole();
    else onChoose(null, null);
  };

  const ink = { theme, scale, top: report.top, difference: props.difference ?? false };
  return (
    <div class="map">
      <MapTools {...{ controller, report, how, setHow, info, source, head, scale, unit }} onScale={props.onScale} />
      <div
        ref={stage}
        class={`map-stage${report.whole ? " map-whole" : ""}${report.stale ? " map-stale" : ""}`}
        role="application"
        aria-roledescription="attention map"
        aria-label={`Map of ${plural(unit)}: rows look, columns are looked at`}
        aria-describedby={help}
        aria-busy={report.loading}
        tabIndex={0}
        onKeyDown={pressed}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {hover ? (
          <CellTip
            {...{ source, info, head, unit, rows }}
            cell={hover}
            map={controller.current!}
            pooled={report.level > 0 ? how : null}
          />
        ) : null}
        {report.stale ? <p class="map-hint map-waiting">Computing {placeText(info, head)} …</p> : null}
        {hint ? <p class="map-hint">Click the map, or hold Ctrl, to zoom with the wheel</p> : null}
      </div>
      <p id={help} class="spoken">
        {KEYS_HELP}
      </p>
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

/** The source's rows, kept while the head stays the same. */
function useRows({ source, layer, head }: MapViewProps): RowCache {
  const kept = useRef<{ cache: RowCache; name: unknown[] } | null>(null);
  const name = [source, layer, head];
  if (!kept.current || kept.current.name.some((part, index) => part !== name[index])) {
    kept.current = { cache: new RowCache(source, layer, head), name };
  }
  return kept.current.cache;
}

/** Tells the controller what to show, after every change and whenever the width or the pixel ratio changes. */
function useShown(
  stage: { current: HTMLDivElement | null },
  controller: { current: MapController | null },
  subject: MapViewProps & { info: LayerInfo; how: Pooling },
): void {
  const [box, setBox] = useState({ width: 0, ratio: 1 });
  useLayoutEffect(() => {
    const element = stage.current!;
    const look = () => setBox({ width: Math.floor(element.clientWidth), ratio: window.devicePixelRatio || 1 });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    // Moving to another screen changes the ratio and may leave every size as it is.
    window.addEventListener("resize", look);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", look);
    };
  }, []);
  useEffect(() => {
    if (!box.width || !controller.current) return;
    const { source, info, head, how, theme, scale, apart, query, choice } = subject;
    const most = Math.max(360, Math.min(window.innerHeight * 0.8, 900));
    controller.current.show(
      {
        source,
        info,
        head,
        how,
        theme,
        scale,
        apart,
        query,
        choice,
        difference: subject.difference ?? false,
        mark: subject.mark ?? null,
      },
      coloursOf(stage.current!),
      box.width,
      most,
      box.ratio,
    );
  });
}

function useHands(
  stage: { current: HTMLDivElement | null },
  controller: { current: MapController | null },
  page: {
    onChoose: MapViewProps["onChoose"];
    query: number | null;
    setHover: (cell: Cell | null) => void;
    setHint: (on: boolean) => void;
    named: (at: { query: number | null; key: number | null }) => string;
  },
): void {
  const now = useRef(page);
  now.current = page;
  useEffect(() => {
    const element = stage.current!;
    const cellAt = (x: number, y: number) => controller.current?.at(x, y) ?? null;
    return attach(element, {
      pan: (dx, dy) => controller.current?.pan(dx, dy),
      zoom: (factor, x, y) => controller.current?.zoom(factor, x, y),
      hover: (point) => {
        const at = point && cellAt(point.x, point.y);
        const cell = at && at.query !== null && at.key !== null ? { query: at.query, key: at.key } : null;
        controller.current?.point(cell);
        element.title = at && !cell ? now.current.named(at) : "";
        now.current.setHover(cell);
      },
      pick: (x, y) => {
        const at = cellAt(x, y);
        const query = at && (at.query ?? now.current.query);
        if (at && query !== null) now.current.onChoose(query, at.key);
      },
      enter: (x, y) => {
        const at = cellAt(x, y);
        if (at && at.query !== null && at.key !== null) controller.current?.zoomTo({ query: at.query, key: at.key });
      },
      ownsWheel: () => document.activeElement === element,
      wheelPassed: () => now.current.setHint(true),
    });
  }, []);
}

/** The whole of a label that may have been cut, over an axis. */
function fullLabel(source: ReadingSource, { query, key }: { query: number | null; key: number | null }): string {
  const token = query !== null ? source.queries.tokens[query] : key !== null ? source.keys.tokens[key] : undefined;
  return token ? `token ${query ?? key}: ${visible(token.label)}` : "";
}

/** Zooming by key keeps the chosen cell in place. */
function middleOf(map: MapController, query: number | null, choice: number | null): [number?, number?] {
  if (query === null || choice === null) return [];
  const { x, y, side } = map.place({ query, key: choice });
  return [x + side / 2, y + side / 2];
}

/** The page's colours as they are where the map stands. */
function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string, otherwise: string) => style.getPropertyValue(`--${name}`).trim() || otherwise;
  return {
    paper: of("paper", "#fbfaf7"),
    ink: of("ink", "#22262b"),
    quiet: of("quiet", "#686c71"),
    line: of("line", "#dcdad4"),
    accent: of("accent", "#2d4f96"),
    choice: of("choice", "#c2410c"),
    sand: of("sand", "#7a6634"),
  };
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
