// Words and tokens, and the shares they get of a row.
import { describe, expect, it } from "vitest";
import { SampleSource, samplePicture, sampleTokens } from "../../src/data/sample";
import type { Row, TokenList } from "../../src/data/types";
import { seenRow } from "../../src/reader/seen-row";
import { askingTokens, firstSeen, largest, ordinaryShare, shareOf, tokensOfWord, unitAt, unitRow, unitsOf } from "../../src/reader/units";

const row = (weights: number[], allowed = weights.map(() => 1), sink: number | null = null): Row => ({
  weights: Float32Array.from(weights), allowed: Uint8Array.from(allowed), sink, sum: weights.reduce((sum, each) => sum + each, 0),
});

describe("units", () => {
  it("are words with all their tokens, or the tokens themselves", () => {
    const list = sampleTokens();
    const words = unitsOf(list, "words");
    expect(words.map((word) => word.text)).toEqual(list.text.replace(".", " .").split(" "));
    expect(words.find((word) => word.text === "suitcase")!.tokens).toEqual([7, 8]);
    const tokens = unitsOf(list, "tokens");
    expect(tokens.map((token) => token.tokens)).toEqual(list.tokens.map((token) => [token.index]));
    expect(tokens.map((token) => token.before + token.text).join("")).toBe(list.text);
    expect(words.map((word) => word.before + word.text).join("")).toBe(list.text);
  });

  it("keep tokens that belong to no word, and repeated words apart", () => {
    const list: TokenList = {
      text: "it it",
      tokens: [
        { index: 0, label: "[CLS]", special: true, word: null },
        { index: 1, label: "it", special: false, word: 0 },
        { index: 2, label: "it", special: false, word: 1 },
      ],
      words: [{ text: "it", tokens: [1], before: "" }, { text: "it", tokens: [2], before: " " }],
    };
    const units = unitsOf(list, "words");
    expect(units.map(({ text, tokens, special }) => [text, tokens, special])).toEqual([["[CLS]", [0], true], ["it", [1], false], ["it", [2], false]]);
    expect(unitAt(units, 2)).toBe(2);
  });

  it.each([
    ["“(big).”", ["“(", "big", ").", "”"], [["“(", [0]], ["big", [1]], [").", [2]], ["”", [3]]]],
    ["don't", ["don", "'t"], [["don't", [0, 1]]]],
    ["…", ["…"], [["…", [0]]]],
    ["?!", ["?", "!"], [["?", [0]], ["!", [1]]]],
    ["big.", ["big."], [["big.", [0]]]],
  ])("stand apart from the signs around them where these are tokens of their own: %s", (text, labels, expected) => {
    const tokens = labels.map((label, index) => ({ index, label, special: false, word: 0 }));
    const list = { text, tokens, words: [{ text, tokens: tokens.map((token) => token.index), before: " " }] };
    const units = unitsOf(list, "words");
    expect(units.map((unit) => [unit.text, unit.tokens])).toEqual(expected);
    for (const unit of units) for (const token of unit.tokens) expect(tokensOfWord(list, token)).toEqual(unit.tokens);
    expect(units.map((unit) => unit.before + unit.text).join("")).toBe(` ${text}`);
  });

  it("know patches of a picture", () => {
    const units = unitsOf(samplePicture().readings[0]!.keys, "words");
    expect(units.map((unit) => unit.patch)).toEqual([false, ...Array.from({ length: 16 }, () => true)]);
  });

  it("are no patches, and patches no words", () => {
    const tokens = ["cat", "r0c0", "r0c1"].map((label, index) => ({ index, label, special: false, word: 0, ...(index ? { row: 0, column: index - 1 } : {}) }));
    const units = unitsOf({ text: "cat", tokens, words: [{ text: "cat", tokens: [0, 1, 2], before: "" }] }, "words");
    expect(units.map(({ patch }) => patch)).toEqual([false, true, true]);
  });
});

describe("the share of a word", () => {
  it("is the sum over its tokens that may be seen", () => {
    const unit = { text: "suitcase", tokens: [1, 2], before: " ", special: false, patch: false };
    expect(shareOf(row([0.5, 0.25, 0.25]), unit)).toEqual({ weight: 0.5, allowed: true });
    expect(shareOf(row([0.5, 0.5, 0.9], [1, 1, 0]), unit)).toEqual({ weight: 0.5, allowed: true });
    expect(shareOf(row([1, 0, 0], [1, 0, 0]), unit).allowed).toBe(false);
    expect(shareOf(row([0.5, NaN, 0.25]), unit).weight).toBeNaN();
  });

  it("adds up to the row's sum over all words", async () => {
    const source = new SampleSource();
    const units = unitsOf(source.keys, "words");
    const seen = await seenRow(source, 2, 1, [10], units);
    expect(seen.shares.reduce((sum, share) => sum + share.weight, 0)).toBeCloseTo(seen.row.sum, 6);
    expect(seen.shares.filter((share) => share.allowed)).toHaveLength(10); // "it" is the tenth word
  });
});

describe("the ordinary share", () => {
  it("is what the first token leaves, divided by the other allowed tokens", () => {
    expect(ordinaryShare(row([0.5, 0.25, 0.25, 0], [1, 1, 1, 0]), [])).toBeCloseTo(0.25);
    expect(ordinaryShare(row([0, 0.75, 0.125, 0.125], [0, 1, 1, 1]), [])).toBeCloseTo(0.125); // the first that may be seen
  });

  it("leaves out what a learned sink took, and is undefined without others", () => {
    expect(ordinaryShare({ ...row([0.25, 0.25, 0.25]), sink: 0.25 }, [])).toBeCloseTo(0.25);
    expect(ordinaryShare(row([1, 0], [1, 0]), [])).toBeNull();
    const separator = { ...unitsOf(sampleTokens(), "tokens")[0]!, tokens: [3], special: true };
    expect(ordinaryShare(row([0.1, 0.2, 0.1, 0.6]), [separator])).toBeCloseTo(0.15); // an encoder rests on both its ends
    expect(ordinaryShare(row([0, 0], [0, 0]), [])).toBeNull();
    expect(firstSeen(row([0, 0], [0, 0]))).toBeNull();
  });
});

describe("the row of a word of several tokens", () => {
  const source = new SampleSource();
  const unit = unitsOf(source.queries, "words").find((each) => each.text === "suitcase")!;

  it("is the mean of its tokens' rows", async () => {
    const [first, second] = await Promise.all([source.row(2, 1, 7), source.row(2, 1, 8)]);
    const both = await unitRow(source, 2, 1, askingTokens(unit, "mean"));
    first.weights.forEach((weight, key) => expect(both.weights[key]).toBeCloseTo((weight + second.weights[key]!) / 2, 6));
    expect(both.sum).toBeCloseTo(1, 6);
    expect(Array.from(both.allowed)).toEqual(Array.from(second.allowed)); // the later token sees all the earlier one sees
  });

  it("is its last token's row", async () => {
    expect(await unitRow(source, 2, 1, askingTokens(unit, "last"))).toEqual(await source.row(2, 1, 8));
  });
});

it("puts what is not a number first among the largest, so that it cannot hide", () => {
  const shares = [0.1, NaN, 0.7, 0.9].map((weight, place) => ({ weight, allowed: place < 3 }));
  expect(largest(shares, 2)).toEqual([1, 2]);
});
