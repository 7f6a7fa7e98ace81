// @vitest-environment happy-dom
// All heads: from a square to its layer, from a map to the head that is read.
import { afterEach, expect, it } from "vitest";
import { samplePage } from "../../src/data/sample";
import { HeadsView } from "../../src/heads/heads-view";
import { said, show, type Shown } from "../frame";

let shown: Shown;
afterEach(() => shown.close());

it("shows the layer of the square that is chosen, and leads on to reading its head", async () => {
  shown = await show(HeadsView, samplePage(), { view: "heads" });
  await shown.click('[data-layer="4"][data-head="3"]');
  expect(said(shown.element.querySelector(".panel-layer h2"))).toBe("The heads of layer 4");
  await shown.click("button.leading");
  expect(shown.store.get()).toMatchObject({ view: "read", layer: 4, head: 3 });
});

it("has a map for each head in brackets of the key-value head it reads, and one of the mean", async () => {
  shown = await show(HeadsView, samplePage(), { view: "heads" });
  const groups = [...shown.element.querySelectorAll(".panel-layer .head-group")];
  expect(groups.map((group) => said(group.querySelector(".bracket")))).toEqual(["kv 0", "kv 1", "all together"]);
  const value = samplePage().readings[0]!.statistics[0]!.values[2 * 4 + 3]!.toFixed(3);
  expect(said(groups[1]!)).toBe(`kv 1layer 2, head 2, share on the first token ${samplePage().readings[0]!.statistics[0]!.values[2 * 4 + 2]!.toFixed(3)}layer 2, head 3, share on the first token ${value}`);
});

it("reads the head of the map that is chosen, in any layer", async () => {
  shown = await show(HeadsView, samplePage(), { view: "heads" });
  await shown.click(".panel-layers > .layer-line:nth-of-type(3) .head-group:nth-of-type(2) button");
  expect(shown.store.get()).toMatchObject({ view: "read", layer: 1, head: 2 });
});

it("says why a layer has no maps", async () => {
  shown = await show(HeadsView, samplePage(), { view: "heads" });
  expect(said(shown.element.querySelector(".panel-layers .reason"))).toContain("Layer 5 is not in this page");
});

it("offers to compute the statistics that a long text did not get by itself", async () => {
  const page = samplePage();
  let asked = 0;
  Object.assign(page.readings[0]!, { statistics: [], measure: () => { asked += 1; } });
  shown = await show(HeadsView, page, { view: "heads" });
  await shown.click(".panel-grid .lead button");
  expect(asked).toBe(1);
});
