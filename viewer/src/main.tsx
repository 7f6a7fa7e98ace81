// Where the page starts: in a file it finds the data beside it, in a notebook `render` is called with the widget's.
import { render as mount } from "preact";
import { App } from "./app/app";
import { newCalculator, pageInDocument } from "./data/file";
import { pageInWidget, type WidgetModel } from "./data/notebook";
import type { PageData } from "./data/types";

function show(element: Element, page: PageData, host: "file" | "notebook"): () => void {
  mount(<App page={page} host={host} />, element);
  return () => mount(null, element);
}

/** Say what went wrong where the page would stand. */
function complain(element: Element, error: unknown): void {
  element.setAttribute("role", "alert");
  element.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
}

async function start(): Promise<void> {
  const element = document.getElementById("heedmap");
  if (!element) return;
  try {
    const page = import.meta.env.DEV ? await sampleByAddress() : pageInDocument(document);
    if (page) show(element, page, "file");
  } catch (error) {
    complain(element, error);
  }
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

/** What a notebook calls, with the widget's values and the element of the cell; returns how it is taken away again. */
function render({ model, el }: { model: WidgetModel; el: HTMLElement }): (() => void) | undefined {
  try {
    return show(el, pageInWidget(model, newCalculator()), "notebook");
  } catch (error) {
    complain(el, error);
    return undefined;
  }
}

void start();

export default { render };
