// @vitest-environment happy-dom
// The whole page: its views, the address, the theme, and that each view says something for each kind of data.
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { App } from "../../src/app/app";
import { sampleComparison, sampleGeneration, samplePage, samplePicture, sampleTwoStacks } from "../../src/data/sample";
import type { PageData } from "../../src/data/types";
import { VIEWS } from "../../src/state";
import { said } from "../frame";

let element: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  localStorage.clear();
  element = document.body.appendChild(document.createElement("div"));
});

afterEach(() => {
  render(null, element);
  element.remove();
  history.replaceState(null, "", "#");
});

const settled = () => act(async () => { await new Promise((resolve) => setTimeout(resolve, 30)); });

async function open(page: PageData, hash = "", host: "file" | "notebook" = "file") {
  history.replaceState(null, "", hash || "#");
  await act(() => render(<App page={page} host={host} />, element));
  await settled();
}

async function click(selector: string) {
  await act(() => element.querySelector<HTMLElement>(selector)!.click());
  await settled();
}

describe.each([
  ["a sentence", samplePage], ["a comparison", sampleComparison], ["a generation", sampleGeneration], ["two stacks", sampleTwoStacks], ["a picture", samplePicture],
])("a page of %s", (_name, make) => {
  it.each(VIEWS)("shows its view %s, and no fault", async (view) => {
    await open(make(), `#view=${view}`);
    const shown = said(element.querySelector(".view"));
    expect(shown.length).toBeGreaterThan(40);
    expect(shown).not.toMatch(/cannot be shown|undefined|NaN|\[object/);
    expect(element.querySelector('[role="tab"][aria-selected="true"]')?.id).toMatch(new RegExp(`-${view}$`));
  });
});

describe("the address", () => {
  it("is where the page starts, and follows what is chosen", async () => {
    await open(samplePage(), "#view=read&layer=4&head=mean&query=3");
    expect(said(element.querySelector(".sentence b"))).toBe("“not”");
    expect(said(element.querySelector(".readout"))).toBe("layer 4, mean over heads");
    await click('[data-layer="1"][data-head="2"]');
    expect(location.hash).toContain("layer=1");
    expect(location.hash).toContain("head=2");
  });

  it("is left alone in a notebook", async () => {
    await open(samplePage(), "#cell-7", "notebook");
    await click('[data-layer="1"][data-head="2"]');
    expect(location.hash).toBe("#cell-7");
    expect(element.querySelector("main, h1")).toBeNull();
  });
});

it("shows two pages in one document without mixing them up", async () => {
  const other = document.body.appendChild(document.createElement("div"));
  await open(samplePage(), "", "notebook");
  await act(() => render(<App page={sampleComparison()} host="notebook" />, other));
  await settled();
  await click('[data-layer="1"][data-head="2"]');
  expect([element, other].map((each) => said(each.querySelector(".readout")).slice(0, 15))).toEqual(["layer 1, head 2", "layer 2, head 1"]);
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  expect(new Set(ids).size).toBe(ids.length);
  render(null, other);
  other.remove();
});

it("walks the tabs with the arrow keys", async () => {
  await open(samplePage());
  const tab = () => element.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')!;
  tab().focus();
  await act(() => { tab().dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true })); });
  await settled();
  expect(said(tab())).toBe("About these numbers");
  expect(document.activeElement).toBe(tab());
});

it("goes from auto to light to dark, and remembers it", async () => {
  await open(samplePage());
  const theme = () => element.querySelector<HTMLElement>(".heedmap")!.dataset.theme;
  expect(theme()).toBe("light");
  await click("button.theme");
  await click("button.theme");
  expect(theme()).toBe("dark");
  expect(localStorage.getItem("heedmap-theme")).toBe("dark");
});

it("steps through a generation: the row that chose each token", async () => {
  await open(sampleGeneration(), "#view=generation");
  expect(said(element.querySelector(".sentence"))).toContain("Step 1 of 4: row 10, at “it”, chose token 11, “was”.");
  await click('[aria-label="one step on"]');
  expect(said(element.querySelector(".sentence"))).toContain("Step 2 of 4: row 11, at “was”, chose token 12, “too”.");
  expect(location.hash).toContain("step=1");
  expect(element.querySelectorAll(".steps-list tbody tr")).toHaveLength(4);
});

it("gives a reason where nothing was generated", async () => {
  await open(samplePage(), "#view=generation");
  expect(said(element.querySelector(".view"))).toContain("carries no generated text");
});

it("tells of a difference where there must be none", async () => {
  await open(sampleComparison(), "#view=compare");
  expect(said(element.querySelector(".panel-said"))).toContain("more than rounding makes"); // the sample's two are made up
  await act(() => {
    const select = element.querySelector<HTMLSelectElement>('select[aria-label="second reading"]')!;
    select.value = "a";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await settled();
  expect(said(element.querySelector(".panel-said"))).toContain("Both are the same head of the same text: nothing can differ; the largest difference found there is 0.000");
});
