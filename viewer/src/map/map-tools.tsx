// The buttons over a map: zoom, how pooled cells are made, the colour scale, and saving what is on screen.

import { useState } from "preact/hooks";
import { pngOf, svgOf } from "../export/picture";
import { fileName, save } from "../export/save";
import { csv, json } from "../export/table";
import { cellsOf } from "../export/cells";
import type { LayerInfo, ReadingSource } from "../data/types";
import { hatchedText, placeText } from "./cell-text";
import type { MapController, Report } from "./controller";
import type { ColourScale } from "./props";
import type { Pooling } from "./tile-store";

type FileKind = "png" | "svg" | "csv" | "json";

interface Props {
  controller: { current: MapController | null };
  report: Report;
  how: Pooling;
  setHow: (how: Pooling) => void;
  info: LayerInfo;
  source: ReadingSource;
  head: number | null;
  scale: ColourScale;
  onScale?: (scale: ColourScale) => void;
  unit: string;
}

export function MapTools(props: Props) {
  const { controller, report, how, setHow, scale, onScale } = props;
  const [problem, setProblem] = useState("");
  const zoom = (factor: number) => controller.current?.zoom(factor);
  const keep = (kind: FileKind) =>
    saveAs(kind, props).then(
      () => setProblem(""),
      (reason: unknown) => setProblem(reason instanceof Error ? reason.message : String(reason)),
    );
  return (
    <div class="map-tools">
      <span class="choice" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" disabled={report.whole} onClick={() => zoom(1 / 1.6)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.6)}>
          +
        </button>
        <button type="button" disabled={report.whole} onClick={() => controller.current?.showWhole()}>
          whole map
        </button>
      </span>
      {onScale ? (
        <span class="choice" role="group" aria-label="Colour scale">
          <button type="button" aria-pressed={scale === "linear"} onClick={() => onScale("linear")}>
            linear
          </button>
          <button type="button" aria-pressed={scale === "log"} onClick={() => onScale("log")}>
            logarithmic
          </button>
        </span>
      ) : null}
      {report.level > 0 ? (
        <span class="choice" role="group" aria-label="What a cell of several tokens shows">
          <button type="button" aria-pressed={how === "max"} onClick={() => setHow("max")}>
            largest
          </button>
          <button type="button" aria-pressed={how === "mean"} onClick={() => setHow("mean")}>
            mean
          </button>
        </span>
      ) : null}
      <span class="map-saves" role="group" aria-label="Save what is on screen">
        save{" "}
        {(["png", "svg", "csv", "json"] as const).map((kind) => (
          <button type="button" class="quiet" key={kind} onClick={() => void keep(kind)}>
            {kind.toUpperCase()}
          </button>
        ))}
      </span>
      <span class="map-problem" role="status">
        {problem}
      </span>
    </div>
  );
}

async function saveAs(kind: FileKind, { controller, source, info, head, unit, how }: Props): Promise<void> {
  const scene = controller.current?.scene();
  if (!scene) return;
  const place = placeText(info, head);
  const name = fileName([source.model.name, source.id, place], kind);
  const pooled =
    controller.current!.level > 0 ? `each cell is the ${how === "max" ? "largest" : "mean"} of a block of weights` : "";
  const hatched = scene.placed.some((piece) => piece.holes) ? hatchedText(scene.ink.difference) : "";
  const lines = ["rows look, columns are looked at; what is blank cannot be seen", hatched, pooled].filter(Boolean);
  const caption = { title: `${source.model.name}: ${place}`, lines: [lines.join("; ")], unit };
  if (kind === "png") return save(name, await pngOf(scene, caption), "image/png");
  if (kind === "svg") return save(name, svgOf(scene, caption), "image/svg+xml");
  const cells = await cellsOf(scene, source, info.number, head);
  if (kind === "csv") return save(name, csv(cells), "text/csv;charset=utf-8");
  const about = {
    model: source.model,
    reading: source.id,
    layer: info.number,
    head,
    unit,
    precision: info.precision,
    worst: info.worst,
  };
  save(name, json(cells, about), "application/json");
}
