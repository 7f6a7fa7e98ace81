// @vitest-environment happy-dom
// The grid of heads as it is drawn: it leads to the head that is clicked, or reached by keys.
import { afterEach, expect, it } from "vitest";
import { useFrame } from "../../src/app/frame";
import { samplePage } from "../../src/data/sample";
import { StatisticGrid } from "../../src/heads/statistic-grid";
import { said, show, type Shown } from "../frame";

function Part() {
  return <StatisticGrid onHead={useFrame().set} />;
}

let shown: Shown;
afterEach(() => shown.close());

it("has a cell for every head, named with its value, and one stop for the keyboard", async () => {
  shown = await show(Part, samplePage());
  const value = samplePage().readings[0]!.statistics[0]!.values[2 * 4 + 1]!;
  expect(shown.element.querySelectorAll("button[role=gridcell]")).toHaveLength(24);
  expect(shown.element.querySelector('[data-layer="2"][data-head="1"]')!.getAttribute("aria-label")).toBe(`layer 2, head 1: ${value.toFixed(3)}`);
  expect(shown.element.querySelectorAll('button[tabindex="0"]')).toHaveLength(1);
  expect(said(shown.element.querySelector(".readout"))).toBe(`layer 2, head 1: ${value.toFixed(3)}`);
  expect(said(shown.element.querySelector(".brackets"))).toBe("kv 0kv 1");
});

it("leads to the head that is clicked", async () => {
  shown = await show(Part, samplePage());
  await shown.click('[data-layer="4"][data-head="3"]');
  expect(shown.store.get()).toMatchObject({ layer: 4, head: 3 });
  expect(shown.element.querySelectorAll('[aria-selected="true"]')).toHaveLength(1);
});

it("is walked with the arrow keys", async () => {
  shown = await show(Part, samplePage());
  await shown.press('[tabindex="0"]', "ArrowDown");
  await shown.press('[tabindex="0"]', "ArrowRight");
  expect(shown.store.get()).toMatchObject({ layer: 3, head: 2 });
  expect((document.activeElement as HTMLElement).dataset).toMatchObject({ layer: "3", head: "2" });
});

it("marks what is absent, and never as 0", async () => {
  shown = await show(Part, samplePage(), { statistic: "distance" });
  const cell = shown.element.querySelector<HTMLElement>('[data-layer="2"][data-head="1"]')!;
  expect(cell.className).toContain("cell-absent");
  expect(cell.getAttribute("aria-label")).toBe("layer 2, head 1: absent");
});

it("says so when the page has no statistics", async () => {
  const page = samplePage();
  const [source] = page.readings;
  shown = await show(Part, { ...page, readings: [Object.assign(Object.create(source!), { statistics: [] })] });
  expect(said(shown.element)).toContain("carries no statistics");
  await shown.click('[data-layer="4"][data-head="3"]');
  expect(said(shown.element.querySelector(".readout"))).toBe("layer 4, head 3");
});
