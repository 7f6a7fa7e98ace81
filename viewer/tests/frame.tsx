// Renders a part of the page with a frame around it, as the page itself would.
import { render } from "preact";
import { act } from "preact/test-utils";
import type { PageData } from "../src/data/types";
import { FrameProvider, layerOf } from "../src/app/frame";
import { useStore } from "../src/app/hooks";
import { createStore, initial, reading, type State, type Store } from "../src/state";

export interface Shown {
  element: HTMLElement;
  store: Store;
  /** Waits until what was asked for has arrived and is drawn. */
  settled(): Promise<void>;
  click(selector: string): Promise<void>;
  press(selector: string, key: string): Promise<void>;
  close(): void;
}

export async function show(Part: () => preact.JSX.Element, page: PageData, change: Partial<State> = {}): Promise<Shown> {
  const store = createStore(page, { ...initial(page), ...change });
  const Framed = () => {
    const state = useStore(store);
    const source = reading(page, state.reading);
    return <FrameProvider value={{ page, source, layer: layerOf(source, state.layer), state, set: store.set, theme: "light" }}><Part /></FrameProvider>;
  };
  return mounted(<Framed />, store);
}

export async function mounted(vnode: preact.JSX.Element, store: Store): Promise<Shown> {
  const element = document.body.appendChild(document.createElement("div"));
  await act(() => render(vnode, element));
  const settled = () => act(async () => { await new Promise((resolve) => setTimeout(resolve, 20)); });
  const at = (selector: string) => {
    const found = element.querySelector<HTMLElement>(selector);
    if (!found) throw new Error(`nothing matches ${selector} in ${element.innerHTML.slice(0, 500)}`);
    return found;
  };
  await settled();
  return {
    element, store, settled,
    async click(selector) {
      await act(() => at(selector).click());
      await settled();
    },
    async press(selector, key) {
      at(selector).focus();
      await act(() => { at(selector).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })); });
      await settled();
    },
    close() {
      render(null, element);
      element.remove();
    },
  };
}

/** What an element says, its spaces made even. */
export function said(element: Element | null): string {
  return (element?.textContent ?? "").replace(/\s+/g, " ").trim();
}
