// The map alone, to look at it and to measure it: `?tokens=2048&window=300&scale=log&theme=dark` and so on.

import { render } from "preact";
import { useState } from "preact/hooks";
import { MapView } from "../src/map/map-view";
import type { ColourScale, Theme } from "../src/map/props";
import { samplePage } from "../src/data/sample";
import { MadeUp } from "./made-up";
import "../src/theme.css";
import "../src/app/app.css";

const wishes = new URLSearchParams(location.search);
const number = (name: string, otherwise: number) => Number(wishes.get(name) ?? otherwise);
const theme = (wishes.get("theme") ?? "light") as Theme;
const difference = wishes.has("difference");
const source = wishes.has("tokens")
  ? new MadeUp({
      tokens: number("tokens", 64),
      keys: number("keys", 0) || undefined,
      causal: !wishes.has("open"),
      window: wishes.has("window") ? number("window", 0) : null,
      padding: number("padding", 0),
      difference,
      broken: wishes.has("broken")
        ? [
            [9, 4],
            [12, 12],
            [40, 3],
          ]
        : undefined,
    })
  : samplePage().readings[0]!;

function Bench() {
  const [chosen, choose] = useState<[number | null, number | null]>([number("query", 10), number("key", 1)]);
  const [scale, setScale] = useState((wishes.get("scale") ?? "linear") as ColourScale);
  const head = wishes.get("head") === "mean" ? null : number("head", 1);
  return (
    <div class="heedmap" data-theme={theme} data-host="file" style={{ padding: "20px" }}>
      <MapView
        source={source}
        layer={number("layer", 0)}
        head={head}
        query={chosen[0]}
        choice={chosen[1]}
        onChoose={(query, key) => choose([query, key])}
        theme={theme}
        scale={scale}
        onScale={setScale}
        apart={!wishes.has("together")}
        difference={difference}
        mark={
          wishes.has("mark") ? { query: number("mark", 0), text: "the same words up to here: must be 0" } : undefined
        }
      />
    </div>
  );
}

render(<Bench />, document.getElementById("stage")!);
