// Readings are told apart by a short name.
import { expect, it } from "vitest";
import { readingName } from "../../src/app/reading-names";
import { SampleSource, sampleComparison, samplePage, sampleTokens } from "../../src/data/sample";

it("calls two texts by what stands around their first difference", () => {
  const page = sampleComparison();
  expect(page.readings.map((source) => readingName(page, source))).toEqual(["… too big.", "… too small."]);
});

it("calls texts that differ at once by their beginnings", () => {
  const texts = [["Big", " words"], ["Small", " words"]];
  const readings = texts.map((pieces, place) => new SampleSource("ab"[place], "title", sampleTokens(pieces, pieces.join(""))));
  const page = { ...sampleComparison(), readings };
  expect(readings.map((source) => readingName(page, source))).toEqual(["Big words", "Small words"]);
});

it("calls the same text by its titles, shortened", () => {
  const long = new SampleSource("a", "x".repeat(60));
  const page = { ...sampleComparison(), readings: [long, new SampleSource("b", "other model")] };
  expect(page.readings.map((source) => readingName(page, source))).toEqual([`${"x".repeat(47)}…`, "other model"]);
  expect(readingName(samplePage(), new SampleSource())).toBe("Self-attention");
});
