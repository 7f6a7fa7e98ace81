// The map's stage: the canvas with what lies over it, which takes the pointer and the keys.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visible } from "../app/parts";
import type { LayerInfo, ReadingSource } from "../data/types";
import { CellTip } from "./cell-tip";
import { placeText, plural } from "./cell-text";
import type { MapController, Report } from "./controller";
import { attach } from "./gestures";
import { actionOf, KEYS_HELP } from "./keys";
import type { MapViewProps } from "./props";
import type { RowCache } from "./row-cache";
import type { Colours } from "./scene";
import type { Pooling } from "./tile-store";
import type { Cell } from "./viewport";
import { useUniqueId } from "../unique-id";

const HINT_MS = 1600;

export type LiveProps = MapViewProps & { info: LayerInfo };

export function Stage(
  props: LiveProps & {
    canvas: { current: HTMLCanvasElement | null };
    controller: { current: MapController | null };
    report: Report;
    how: Pooling;
    rows: RowCache;
    unit: string;
  },
) {
  const { source, info, head, query, choice, onChoose, canvas, controller, report, how, rows, unit } = props;
  const stage = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<Cell | null>(null);
  const [hint, setHint] = useHint();
  const help = useUniqueId();
  useShown(stage, controller, props);
  useHands(stage, controller, { onChoose, query, setHover, setHint, named: (at) => fullLabel(source, at) });
  useEffect(() => {
    if (query !== null && choice !== null && document.activeElement === stage.current) {
      controller.current?.reveal({ query, key: choice });
    }
  }, [query, choice]);
  const pressed = (event: KeyboardEvent) => {
    if (controller.current && act(controller.current, event, props)) setHover(null);
  };
  return (
    <>
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
    </>
  );
}

/** A hint that goes away by itself. */
function useHint(): [boolean, (on: boolean) => void] {
  const [hint, setHint] = useState(false);
  useEffect(() => {
    if (!hint) return;
    const timer = setTimeout(() => setHint(false), HINT_MS);
    return () => clearTimeout(timer);
  }, [hint]);
  return [hint, setHint];
}

/** Does what a key asks for; whether it asks for anything. */
function act(map: MapController, event: KeyboardEvent, { source, query, choice, onChoose }: LiveProps): boolean {
  const size = { rows: source.queries.tokens.length, columns: source.keys.tokens.length };
  const action = actionOf(event, query ?? 0, choice ?? 0, size);
  if (!action) return false;
  event.preventDefault();
  map.point(null);
  if (action.kind === "move") onChoose(action.query, query === null ? 0 : action.key);
  else if (action.kind === "pan") map.pan(action.dx, action.dy);
  else if (action.kind === "zoom") map.zoom(action.factor, ...middleOf(map, query, choice));
  else if (action.kind === "whole") map.showWhole();
  else onChoose(null, null);
  return true;
}

/** Tells the controller what to show, after every change and whenever the width or the pixel ratio changes. */
function useShown(
  stage: { current: HTMLDivElement | null },
  controller: { current: MapController | null },
  subject: LiveProps & { how: Pooling },
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
