// A page that is a file: header and blocks stand in script elements that are data, not programs.
import { fromBase64 } from "./bytes";
import { WorkerCalculator } from "./calculator";
import type { Header } from "./header";
import { openPage } from "./open";
import type { PageData } from "./types";
import MakeWorker from "./worker?worker&inline";

/** The page that stands in a document; null where there is none. */
export function pageInDocument(document: Document): PageData | null {
  const header = document.getElementById("heedmap-header")?.textContent;
  if (!header) return null;
  return openPage(JSON.parse(header) as Header, async (place) => blockIn(document, place), newCalculator());
}

/** A calculator in a worker of its own. */
export function newCalculator(): WorkerCalculator {
  return new WorkerCalculator(() => new MakeWorker());
}

function blockIn(document: Document, place: number): Uint8Array<ArrayBuffer> {
  const text = document.getElementById(`heedmap-block-${place}`)?.textContent;
  if (!text) throw new Error(`block ${place} is missing: the file is damaged or was cut off`);
  return fromBase64(text);
}
