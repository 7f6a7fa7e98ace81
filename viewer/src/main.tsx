// Where the page starts: in a file it finds the data beside it, in a notebook `render` is called with the widget's.
import { render as mount } from "preact";
import { App } from "./app";
import type { PageData } from "./data/types";

function show(element: Element, page: PageData, host: "file" | "notebook"): () => void {
  mount(<App page={page} host={host} />, element);
  return () => mount(null, element);
}

async function start(): Promise<void> {
  const element = document.getElementById("heedmap");
  if (!element) return;
  if (import.meta.env.DEV) show(element, await sampleByAddress(), "file");
}

/** In development `?sample=comparison` and the like choose what is shown. */
async function sampleByAddress(): Promise<PageData> {
  const sample = await import("./data/sample");
  switch (new URLSearchParams(location.search).get("sample")) {
    case "comparison": return sample.sampleComparison();
    case "generation": return sample.sampleGeneration();
    case "stacks": return sample.sampleTwoStacks();
    case "picture": return sample.samplePicture();
    case "long": return sample.samplePage(sample.longTokens(2048));
    default: return sample.samplePage();
  }
}

void start();

export default {};
