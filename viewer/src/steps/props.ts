// What the four steps need from the page around them.

import type { LayerInfo, Row, Token, Vectors } from "../data/types";
import type { Theme } from "../map/props";

export interface FourStepsProps {
  /** Of one query in one head: `source.vectors(layer, head, query)`. */
  vectors: Vectors;
  /** The tokens that are looked at. */
  labels: readonly Token[];
  /** The token that looks. */
  asking: Token;
  /** The source's own row, to compare with: `source.row(layer, head, query)`. */
  row: Row | null;
  /** How exact the source is. */
  info: LayerInfo;
  /** The key that is taken apart; the one with the largest weight when null. */
  choice: number | null;
  onChoose: (key: number) => void;
  theme: Theme;
}

export interface HandExampleProps {
  /** What was changed, as a short text for the address; "" is the first example as it stands. */
  state: string;
  onState: (state: string) => void;
  theme: Theme;
  /** Only this example, without the list of them: for a lesson. */
  only?: string;
}
