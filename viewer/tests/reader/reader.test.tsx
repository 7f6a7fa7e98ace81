// @vitest-environment happy-dom
// The reader as it is drawn: the sentence, the words with their numbers, and the keys.
import { afterEach, describe, expect, it } from "vitest";
import { useFrame } from "../../src/app/frame";
import { longTokens, SampleSource, samplePage, sampleTokens, sampleTwoStacks } from "../../src/data/sample";
import type { PageData, Row } from "../../src/data/types";
import { Reader } from "../../src/reader/reader";
import { useReader } from "../../src/reader/seen-row";
import { said, show, type Shown } from "../frame";

function Part() {
  const { source, state } = useFrame();
  return <Reader reader={useReader(source, state)} />;
}

let shown: Shown;
afterEach(() => shown.close());

const words = () => [...shown.element.querySelectorAll(".word")];
const word = (text: string) => words().find((each) => said(each.querySelector(".word-text")) === text)!;

describe("a sentence", () => {
  it("shows each word with its exact share, and what may not be seen without one", async () => {
    shown = await show(Part, samplePage());
    const row = await new SampleSource().row(2, 1, 10);
    expect(said(word("trophy").querySelector(".word-number"))).toBe(row.weights[1]!.toFixed(3));
    expect(said(word("suitcase").querySelector(".word-number"))).toBe((row.weights[7]! + row.weights[8]!).toFixed(3));
    expect(said(word("suitcase"))).toContain("2 tokens");
    expect(word("big").querySelector(".word-number, .word-bar")).toBeNull();
    expect(said(word("big"))).toBe("big, cannot be seen");
    expect(said(shown.element.querySelector(".sentence"))).toMatch(/^Where “it” looks in .*The row adds up to 1\.000; an ordinary share of what “The” leaves is 0\.\d{3}\.$/);
  });

  it("changes colours, and no number or height, when the first token is set apart", async () => {
    shown = await show(Part, samplePage());
    const bars = () => [...shown.element.querySelectorAll<HTMLElement>(".word-bar > span")];
    const [numbers, heights, colours] = [said(shown.element.querySelector(".words")), bars().map((bar) => bar.style.height), bars().map((bar) => bar.style.background)];
    await shown.click('[role="switch"]');
    expect(shown.store.get().apart).toBe(false);
    expect(said(shown.element.querySelector(".words"))).toBe(numbers);
    expect(bars().map((bar) => bar.style.height)).toEqual(heights);
    expect(bars().map((bar) => bar.style.background)).not.toEqual(colours);
  });

  it("moves with the arrow keys, and keeps the focus on the word that looks", async () => {
    shown = await show(Part, samplePage());
    await shown.press('[aria-selected="true"]', "ArrowLeft");
    expect(said(shown.element.querySelector(".sentence b"))).toBe("“because”");
    expect(document.activeElement?.getAttribute("aria-selected")).toBe("true");
    await shown.press('[aria-selected="true"]', "Home");
    expect(said(shown.element.querySelector(".sentence b"))).toBe("“The”");
    expect(shown.element.querySelectorAll('[role="option"][tabindex="0"]')).toHaveLength(1);
  });

  it("says the rule where a word of several tokens looks, and follows it", async () => {
    shown = await show(Part, samplePage(), { query: 8 });
    expect(said(shown.element)).toContain("the mean over the rows of its 2 tokens");
    await shown.click('[aria-label="Row of a word of several tokens"] button:last-child');
    expect(said(shown.element)).toContain("that of the last of its 2 tokens");
    const last = await new SampleSource().row(2, 1, 8);
    expect(said(word("trophy").querySelector(".word-number"))).toBe(last.weights[1]!.toFixed(3));
  });

  it("says why a layer that was left out is not shown", async () => {
    shown = await show(Part, samplePage(), { layer: 5 });
    expect(said(shown.element.querySelector(".reason"))).toContain("layer 5 is not in this page");
    expect(said(shown.element.querySelector(".sentence"))).not.toContain("adds up");
  });
});

describe("what is not a number", () => {
  class Broken extends SampleSource {
    override async row(layer: number, head: number | null, query: number): Promise<Row> {
      const row = await super.row(layer, head, query);
      return { ...row, weights: row.weights.map((weight, key) => (key === 3 ? NaN : weight)), sum: NaN };
    }
  }
  it("is marked, has no bar, and takes the sum with it", async () => {
    const page: PageData = { ...samplePage(), readings: [new Broken()] };
    shown = await show(Part, page);
    expect(said(word("not"))).toBe("not, nan");
    expect(word("not").classList.contains("word-nan")).toBe(true);
    expect(word("not").querySelector(".word-bar > span")).toBeNull();
    expect(said(shown.element.querySelector(".sentence"))).toContain("1 of its 11 weights is not a number, so the row has no sum");
    expect(said(shown.element)).not.toContain("ordinary share");
  });
});

describe("two texts", () => {
  it("stand apart: one asks, the other is looked at", async () => {
    shown = await show(Part, sampleTwoStacks(), { reading: "cross" });
    const [asking, looked] = shown.element.querySelectorAll(".words");
    expect(asking!.getAttribute("role")).toBe("listbox");
    expect(said(asking!)).not.toMatch(/0\.\d/);
    expect(looked!.getAttribute("role")).toBe("list");
    expect(looked!.querySelectorAll(".word-number").length).toBeGreaterThan(10);
  });
});

describe("a text that runs from right to left", () => {
  const pieces = ["שלום", " עולם", " טוב"];
  it("is laid out that way, and its arrow keys follow the reading direction", async () => {
    shown = await show(Part, samplePage(sampleTokens(pieces, pieces.join(""))), { query: 0 });
    expect(shown.element.querySelector(".words")!.getAttribute("dir")).toBe("rtl");
    await shown.press('[aria-selected="true"]', "ArrowLeft");
    expect(said(shown.element.querySelector(".sentence b"))).toBe("“עולם”");
    await shown.press('[aria-selected="true"]', "ArrowRight");
    expect(said(shown.element.querySelector(".sentence b"))).toBe("“שלום”");
  });
});

describe("words that stand several times", () => {
  it("keep rows of their own, and are numbered", async () => {
    const pieces = ["it", " was", " it"];
    shown = await show(Part, samplePage(sampleTokens(pieces, pieces.join(""))), { query: 2 });
    const source = new SampleSource("self", "", sampleTokens(pieces, pieces.join("")));
    expect(said(shown.element.querySelector(".sentence"))).toContain("Where “it”#2 looks in");
    expect(words().map((each) => said(each.querySelector(".word-number")))).toEqual(Array.from((await source.row(2, 1, 2)).weights, (weight) => weight.toFixed(3)));
    await shown.press('[aria-selected="true"]', "Home");
    expect(said(shown.element.querySelector(".sentence"))).toContain("Where “it”#1 looks in");
    expect(said(words()[2]!)).toBe("it, cannot be seen");
  });
});

describe("hostile text", () => {
  const hostile = ["<img", " src=x", " onerror=window.__pwned=1>", "</script><script>window.__pwned=1</script>", " \u202Eevil", " ﷽"];
  it("is shown letter by letter, each word in isolation", async () => {
    shown = await show(Part, samplePage(sampleTokens(hostile, hostile.join(""))), { query: 5 });
    expect(shown.element.querySelector("img, script")).toBeNull();
    expect(said(shown.element)).toContain("</script><script>window.__pwned=1</script>");
    for (const each of words()) expect(each.querySelector("bdi.word-text")).not.toBeNull();
    expect((window as unknown as Record<string, unknown>).__pwned).toBeUndefined();
  });
});

describe("a long text", () => {
  it("is set as prose with shaded words, and its largest shares are listed", async () => {
    shown = await show(Part, samplePage(longTokens(600)), { query: 500 });
    expect(shown.element.querySelector(".words-long")).not.toBeNull();
    expect(shown.element.querySelectorAll(".largest li")).toHaveLength(12);
    expect(said(shown.element.querySelector(".largest"))).toMatch(/Together 0\.\d{3} of the row; the other \d+ share 0\.\d{3}/);
  });
});
