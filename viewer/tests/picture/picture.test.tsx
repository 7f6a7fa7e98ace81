// @vitest-environment happy-dom
// A picture in patches: each says its weight, and is chosen by a click or the arrow keys.
import { afterEach, expect, it } from "vitest";
import { useFrame } from "../../src/app/frame";
import { samplePage, samplePicture } from "../../src/data/sample";
import { PicturePanel } from "../../src/picture/picture";
import { useReader } from "../../src/reader/seen-row";
import { said, show, type Shown } from "../frame";

function Part() {
  const { source, state } = useFrame();
  return <PicturePanel reader={useReader(source, state)} />;
}

let shown: Shown;
afterEach(() => shown.close());

const LOOKS = '[aria-label="The patches of the picture"]';
const LOOKED_AT = '[aria-label="Where it looks"]';

it("names the weight of every patch", async () => {
  shown = await show(Part, samplePicture(), { query: 6 });
  const row = await samplePicture().readings[0]!.row(2, 1, 6);
  const patches = [...shown.element.querySelectorAll<HTMLElement>(`${LOOKED_AT} button`)];
  expect(patches).toHaveLength(16);
  for (const patch of patches) expect(patch.getAttribute("aria-label")).toContain(row.weights[Number(patch.dataset.token)]!.toFixed(3));
});

it("lets a patch look that is clicked, or reached by an arrow key", async () => {
  shown = await show(Part, samplePicture());
  await shown.click(`${LOOKS} [data-token="6"]`);
  expect(shown.store.get().query).toBe(6);
  await shown.press(`${LOOKS} [aria-selected="true"]`, "ArrowDown");
  expect(shown.store.get().query).toBe(10);
  await shown.press(`${LOOKS} [aria-selected="true"]`, "ArrowRight");
  await shown.press(`${LOOKS} [aria-selected="true"]`, "ArrowRight");
  await shown.press(`${LOOKS} [aria-selected="true"]`, "ArrowRight");
  expect(shown.store.get().query).toBe(12); // the last of its line
});

it("marks the patch that is looked at", async () => {
  shown = await show(Part, samplePicture());
  await shown.click(`${LOOKED_AT} [data-token="3"]`);
  expect(shown.store.get()).toMatchObject({ query: 0, key: 3 });
  expect(said(shown.element.querySelector(".legend"))).toMatch(/patch 0,2: 0\.\d{3}/);
});

it("is not there for a text", async () => {
  shown = await show(Part, samplePage());
  expect(said(shown.element)).toBe("");
});
