// The head of the page: what was read, the views as tabs, and the theme.

import { useRef } from "preact/hooks";
import type { PageData } from "../data/types";
import { VIEWS, type View } from "../state";
import { counted } from "../reader/remarks";
import { useFrame } from "./frame";
import type { Preference } from "./theme";

const TITLES: Record<View, string> = {
  read: "Read",
  compare: "Compare",
  heads: "Heads",
  generation: "Generation",
  hand: "By hand",
  about: "About these numbers",
};

export type Host = "file" | "notebook" | "application";

interface HeaderProps {
  /** Sets the page's tabs apart from those of another page in the same notebook. */
  id: string;
  /** In a notebook the page is not the document, and takes no heading of its own; the application has one already. */
  host: Host;
  preference: Preference;
  prefer: (preference: Preference) => void;
}

export function Header({ id, host, preference, prefer }: HeaderProps) {
  const { source } = useFrame();
  const { model, queries, keys } = source;
  const length =
    queries === keys
      ? counted(queries.tokens.length, "token")
      : `${queries.tokens.length} × ${counted(keys.tokens.length, "token")}`;
  return (
    <header class="header">
      {host === "file" ? <h1 class="brand">Heedmap</h1> : null}
      {host === "notebook" ? <span class="brand">Heedmap</span> : null}
      <span class="model">
        <bdi>{model.name}</bdi> · {model.layers} layers × {counted(model.heads, "head")} · {model.dtype} · {length}
      </span>
      <Tabs id={id} host={host} />
      <ThemeButton preference={preference} prefer={prefer} />
    </header>
  );
}

function Tabs({ id, host }: Pick<HeaderProps, "id" | "host">) {
  const { page, state, set } = useFrame();
  const list = useRef<HTMLDivElement>(null);
  const views = viewsOf(page, state.view, host);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = views[(views.indexOf(state.view) + step + views.length) % views.length]!;
    set({ view: next });
    list.current?.querySelector<HTMLElement>(`#${tabId(id, next)}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" ref={list} onKeyDown={move}>
      {views.map((view) => (
        <button
          type="button"
          role="tab"
          key={view}
          id={tabId(id, view)}
          aria-controls={`${id}-view`}
          aria-selected={view === state.view}
          tabIndex={view === state.view ? 0 : -1}
          onClick={() => set({ view })}
        >
          {TITLES[view]}
        </button>
      ))}
    </div>
  );
}

/** Generation has a tab where something was generated; by hand has none in the application, where it is a room. */
export function viewsOf(page: PageData, current: View, host: Host = "file"): View[] {
  const fits = (view: View) => (view === "generation" ? page.generation : view !== "hand" || host !== "application");
  return VIEWS.filter((view) => fits(view) || current === view);
}

export function tabId(id: string, view: View): string {
  return `${id}-tab-${view}`;
}

const NEXT: Record<Preference, Preference> = { auto: "light", light: "dark", dark: "auto" };
const SHOWN: Record<Preference, string> = { auto: "◐ auto", light: "○ light", dark: "● dark" };

function ThemeButton({ preference, prefer }: Pick<HeaderProps, "preference" | "prefer">) {
  return (
    <button
      type="button"
      class="theme"
      title="Light, dark, or as the system has it"
      onClick={() => prefer(NEXT[preference])}
      aria-label={`Theme: ${preference}. Change to ${NEXT[preference]}.`}
    >
      {SHOWN[preference]}
    </button>
  );
}
