// What every part of the page shares: the data, what is chosen, and the theme.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LayerInfo, PageData, ReadingSource } from "../data/types";
import type { Theme } from "../map/props";
import type { Change, State } from "../state";

export interface Frame {
  page: PageData;
  /** The reading that is chosen. */
  source: ReadingSource;
  /** The layer that is chosen. */
  layer: LayerInfo;
  state: State;
  set: (change: Change) => void;
  theme: Theme;
}

const FrameContext = createContext<Frame | null>(null);

export const FrameProvider = FrameContext.Provider;

export function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (!frame) throw new Error("This part of the page was used outside of the page.");
  return frame;
}

export function layerOf(source: ReadingSource, number: number): LayerInfo {
  const found = source.layers.find((layer) => layer.number === number);
  if (!found) throw new Error(`The reading “${source.title}” has no layer ${number}.`);
  return found;
}
