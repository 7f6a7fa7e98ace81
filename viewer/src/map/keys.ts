// What the keys do on a map that has the focus.

import type { Size } from "./viewport";

export type Action =
  | { kind: "move"; query: number; key: number }
  | { kind: "pan"; dx: number; dy: number }
  | { kind: "zoom"; factor: number }
  | { kind: "whole" }
  | { kind: "clear" };

/** Cells that a page key moves by, CSS pixels of a step with Shift, and how much a zoom key enlarges. */
const PAGE = 10;
const STEP = 60;
const FACTOR = 1.5;

export const KEYS_HELP =
  "Arrow keys move the cell, Home and End go to the first and last token of the row, with Control to the first and " +
  "last row, Page Up and Page Down move ten rows, Shift with arrows moves the view, plus and minus zoom, 0 shows the " +
  "whole map, Escape chooses nothing.";

/** The action of a key, or null when the key is none of the map's. `query` and `key` are where the cell is now. */
export function actionOf(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "shiftKey" | "metaKey" | "altKey">,
  query: number,
  key: number,
  { rows, columns }: Size,
): Action | null {
  if (event.altKey || event.metaKey || (event.ctrlKey && !["Home", "End"].includes(event.key))) return null;
  const move = (down: number, across: number): Action => ({
    kind: "move",
    query: Math.min(rows - 1, Math.max(0, query + down)),
    key: Math.min(columns - 1, Math.max(0, key + across)),
  });
  const arrow = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (arrow)
    return event.shiftKey ? { kind: "pan", dx: -STEP * arrow[1]!, dy: -STEP * arrow[0]! } : move(arrow[0]!, arrow[1]!);
  switch (event.key) {
    case "Home":
      return event.ctrlKey ? move(-rows, 0) : move(0, -columns);
    case "End":
      return event.ctrlKey ? move(rows, 0) : move(0, columns);
    case "PageUp":
      return move(-PAGE, 0);
    case "PageDown":
      return move(PAGE, 0);
    case "+":
    case "=":
      return { kind: "zoom", factor: FACTOR };
    case "-":
    case "_":
      return { kind: "zoom", factor: 1 / FACTOR };
    case "0":
      return { kind: "whole" };
    case "Escape":
      return { kind: "clear" };
    default:
      return null;
  }
}
