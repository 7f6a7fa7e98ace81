// A page in a notebook cell: the widget's own values hold the header, and all blocks one after the other.
import type { Calculator } from "./calculator";
import type { Header } from "./header";
import { openPage } from "./open";
import type { PageData } from "./types";

/** The part of an anywidget model that is used. */
export interface WidgetModel {
  get(name: "header"): string;
  get(name: "data"): DataView | ArrayBuffer;
  get(name: "sizes"): number[];
}

export function pageInWidget(model: WidgetModel, calculator: Calculator): PageData {
  const given = model.get("data");
  const bytes = given instanceof DataView ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength) : new Uint8Array(given);
  const ends: number[] = [];
  for (const size of model.get("sizes")) ends.push((ends[ends.length - 1] ?? 0) + size);
  if ((ends[ends.length - 1] ?? 0) !== bytes.length) throw new Error("the widget's numbers did not come whole: run the cell again");
  return openPage(JSON.parse(model.get("header")) as Header, async (place) => bytes.slice(ends[place - 1] ?? 0, ends[place]), calculator);
}
