// @vitest-environment happy-dom
// The odds after the last token: shares with bars, and what is not a number by name.
import { afterEach, expect, it } from "vitest";
import { samplePage } from "../../src/data/sample";
import { Odds } from "../../src/reader/odds";
import { said, show, type Shown } from "../frame";

let shown: Shown;
afterEach(() => shown.close());

function Part() {
  return <Odds />;
}

async function lines(probabilities: (number | null)[]) {
  const page = samplePage();
  Object.assign(page.readings[0]!, { nextToken: probabilities.map((probability) => ({ text: " it", probability })) });
  shown = await show(Part, page);
  return [...shown.element.querySelectorAll("li")];
}

it("shows shares, the largest as the longest bar", async () => {
  const found = await lines([0.5, 0.25]);
  expect(found.map((each) => said(each.querySelector(".figures")))).toEqual(["50.0 %", "25.0 %"]);
  expect(found.map((each) => each.querySelector<HTMLElement>(".odds-bar span")!.style.width)).toEqual(["100%", "50%"]);
});

it("says what is not a number, and draws no bar for it", async () => {
  const found = await lines([null, null]);
  expect(found.map((each) => said(each.querySelector(".figures")))).toEqual(["not a number", "not a number"]);
  expect(found.map((each) => each.querySelector<HTMLElement>(".odds-bar span")!.style.width)).toEqual(["0%", "0%"]);
});
