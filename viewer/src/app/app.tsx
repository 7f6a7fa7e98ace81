// The whole page: what is mounted in a file, a notebook cell or the application.

import { useEffect, useMemo } from "preact/hooks";
import { AboutView } from "../about/about-view";
import { CompareView } from "../compare/compare-view";
import type { PageData } from "../data/types";
import { GenerationView } from "../generation/generation-view";
import { HeadsView } from "../heads/heads-view";
import { ReadView } from "../reader/read-view";
import { createStore, followAddress, initial, parse, reading, type View } from "../state";
import "../theme.css";
import "./app.css";
import { useUniqueId } from "../unique-id";
import { FrameProvider, layerOf } from "./frame";
import { HandView } from "./hand-view";
import { Header, type Host, tabId } from "./header";
import { useStore } from "./hooks";
import { Guarded } from "./parts";
import { useTheme } from "./theme";

const SHOWN: Record<View, () => preact.JSX.Element> = {
  read: ReadView,
  compare: CompareView,
  heads: HeadsView,
  generation: GenerationView,
  hand: HandView,
  about: AboutView,
};

/** `host` says where the page lives: its state stands in the address, but for a notebook, whose address is not its own. */
export function App({ page, host }: { page: PageData; host: Host }) {
  const id = useUniqueId();
  const store = useMemo(
    () => createStore(page, host === "notebook" ? initial(page) : parse(window.location.hash, page)),
    [page],
  );
  useEffect(() => (host === "notebook" ? undefined : followAddress(store, page, window)), [store]);
  const state = useStore(store);
  const { theme, preference, prefer } = useTheme();
  const source = reading(page, state.reading);
  const frame = { page, source, layer: layerOf(source, state.layer), state, set: store.set, theme };
  const View = SHOWN[state.view];
  const Body = host === "file" ? "main" : "div"; // A notebook and the application have a main part of their own.
  return (
    <FrameProvider value={frame}>
      <div class="heedmap" data-theme={theme} data-host={host}>
        <Header id={id} host={host} preference={preference} prefer={prefer} />
        <Body>
          <div
            class={`view view-${state.view}`}
            role="tabpanel"
            id={`${id}-view`}
            aria-labelledby={tabId(id, state.view)}
          >
            <Guarded what="This view" key={state.view}>
              <View />
            </Guarded>
          </div>
        </Body>
      </div>
    </FrameProvider>
  );
}
