// What is chosen on the page, kept in its address so that a view can be linked, and a store that tells of changes.

import type { PageData, ReadingSource } from "./data/types";

export const VIEWS = ["read", "compare", "heads", "generation", "hand", "about"] as const;
export type View = (typeof VIEWS)[number];

/** One head of one reading; no head is the mean over heads. */
export interface Place {
  reading: string;
  layer: number;
  head: number | null;
}

export interface State extends Place {
  view: View;
  /** The token that looks. */
  query: number;
  /** The token that is looked at, when a single cell was chosen. */
  key: number | null;
  /** Words as a person wrote them, or the tokens that the model saw. */
  unit: "words" | "tokens";
  /** How the rows of a word of several tokens become one. */
  rule: "mean" | "last";
  /** Whether the first token has a colour scale of its own. */
  apart: boolean;
  scale: "linear" | "log";
  /** The name of the statistic that the grid of heads shows. */
  statistic: string;
  /** How many written tokens have been stepped through. */
  step: number;
  /** What was changed in the examples worked by hand; they say themselves what it means. */
  hand: string;
  /** The other side of a comparison. */
  against: Place;
}

export type Change = Partial<State>;

export interface Store {
  get(): State;
  set(change: Change): void;
  /** Calls back after each change until the returned function is called. */
  listen(callback: () => void): () => void;
}

export function reading(page: PageData, id: string): ReadingSource {
  const found = page.readings.find((source) => source.id === id) ?? page.readings[0];
  if (!found) throw new Error("This page carries no reading. Write it again with a text.");
  return found;
}

/** What is chosen when the address says nothing. */
export function initial(page: PageData): State {
  const source = reading(page, page.start.reading);
  const place = { reading: source.id, layer: page.start.layer, head: page.start.head };
  const statistic = source.statistics[0]?.name ?? "";
  const query = page.start.query ?? Math.max(0, source.queries.tokens.length - 1);
  const start: State = {
    ...place,
    view: "read",
    query,
    key: null,
    unit: "words",
    rule: "mean",
    apart: true,
    scale: "linear",
    statistic,
    step: 0,
    hand: "",
    against: place,
  };
  return fitted(page, { ...start, against: opposite(page, place) });
}

/** What a place is compared with when nothing is said: the other text, or else the next head. */
export function opposite(page: PageData, place: Place): Place {
  const { comparison } = page;
  if (comparison) return { ...place, reading: place.reading === comparison.b ? comparison.a : comparison.b };
  const heads = reading(page, place.reading).layers.find((layer) => layer.number === place.layer)?.heads ?? 1;
  return { ...place, head: place.head === null ? 0 : (place.head + 1) % heads };
}

/** The state with everything that this page does not have replaced by the nearest that it has. */
export function fitted(page: PageData, state: State): State {
  const source = reading(page, state.reading);
  const place = fittedPlace(page, state);
  const last = source.queries.tokens.length - 1;
  const keys = source.keys.tokens.length;
  const statistics = source.statistics.map((each) => each.name);
  return {
    ...state,
    ...place,
    query: clamp(state.query, 0, Math.max(0, last)),
    key: state.key === null || state.key >= keys ? null : state.key,
    statistic: statistics.includes(state.statistic) ? state.statistic : (statistics[0] ?? ""),
    step: clamp(state.step, 0, Math.max(0, (page.generation?.chosenBy.length ?? 1) - 1)),
    against: fittedPlace(page, state.against),
  };
}

function fittedPlace(page: PageData, place: Place): Place {
  const source = reading(page, place.reading);
  const layers = source.layers.map((layer) => layer.number);
  const layer = layers.includes(place.layer) ? place.layer : nearest(layers, place.layer);
  const heads = source.layers.find((each) => each.number === layer)?.heads ?? 1;
  return { reading: source.id, layer, head: place.head === null ? null : clamp(place.head, 0, heads - 1) };
}

/** The state that an address asks for, each wish that cannot be read passed over. */
export function parse(hash: string, page: PageData): State {
  const wishes = new URLSearchParams(hash.replace(/^#/, ""));
  const start = initial(page);
  const number = (name: string, otherwise: number) => whole(wishes.get(name)) ?? otherwise;
  const head = (name: string, otherwise: number | null) =>
    wishes.get(name) === "mean" ? null : (whole(wishes.get(name)) ?? otherwise);
  const place = {
    reading: wishes.get("reading") ?? start.reading,
    layer: number("layer", start.layer),
    head: head("head", start.head),
  };
  const across = opposite(page, fittedPlace(page, place));
  const named = page.readings.some((source) => source.id === place.reading);
  return fitted(page, {
    ...(named ? place : { ...place, reading: start.reading }),
    view: one(VIEWS, wishes.get("view"), start.view),
    query: number("query", start.query),
    key: whole(wishes.get("key")),
    unit: one(["words", "tokens"] as const, wishes.get("unit"), start.unit),
    rule: one(["mean", "last"] as const, wishes.get("rule"), start.rule),
    apart: wishes.get("apart") === null ? start.apart : wishes.get("apart") !== "no",
    scale: one(["linear", "log"] as const, wishes.get("scale"), start.scale),
    statistic: wishes.get("statistic") ?? start.statistic,
    step: number("step", start.step),
    hand: wishes.get("hand") ?? start.hand,
    against: {
      reading: wishes.get("against") ?? across.reading,
      layer: number("against-layer", across.layer),
      head: head("against-head", across.head),
    },
  });
}

/** The address of a state: only what differs from what the page would show anyway, and always where one is. */
export function address(state: State, page: PageData): string {
  const start = initial(page);
  const parts = new URLSearchParams();
  parts.set("view", state.view);
  parts.set("reading", state.reading);
  parts.set("layer", String(state.layer));
  parts.set("head", headName(state.head));
  parts.set("query", String(state.query));
  if (state.key !== null) parts.set("key", String(state.key));
  for (const name of ["unit", "rule", "scale", "statistic", "step", "hand"] as const) {
    if (state[name] !== start[name]) parts.set(name, String(state[name]));
  }
  if (state.apart !== start.apart) parts.set("apart", state.apart ? "yes" : "no");
  if (state.view === "compare") {
    parts.set("against", state.against.reading);
    parts.set("against-layer", String(state.against.layer));
    parts.set("against-head", headName(state.against.head));
  }
  return `#${parts}`;
}

export function createStore(page: PageData, start: State): Store {
  let state = fitted(page, start);
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(change) {
      const next = fitted(page, { ...state, ...change });
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      state = next;
      for (const callback of [...listeners]) callback();
    },
    listen(callback) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
  };
}

/** Keeps the address and the store the same, in both directions; returns what undoes it. */
export function followAddress(store: Store, page: PageData, window: Window): () => void {
  const write = () => {
    const wanted = address(store.get(), page);
    if (window.location.hash !== wanted) window.history.replaceState(window.history.state, "", wanted);
  };
  const read = () => store.set(parse(window.location.hash, page));
  const stop = store.listen(write);
  window.addEventListener("hashchange", read);
  return () => {
    stop();
    window.removeEventListener("hashchange", read);
  };
}

function headName(head: number | null): string {
  return head === null ? "mean" : String(head);
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function one<Name extends string>(names: readonly Name[], wish: string | null, otherwise: Name): Name {
  return names.find((name) => name === wish) ?? otherwise;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function nearest(numbers: number[], wanted: number): number {
  return numbers.reduce(
    (best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best),
    numbers[0] ?? 0,
  );
}
