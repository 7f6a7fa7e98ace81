// Tokens and words from the header: every token is in its word, hostile text is only text.
import { describe, expect, it } from "vitest";
import { tokenList } from "../../src/data/open";

describe("a text", () => {
  it("knows the word of each token, and what is special", () => {
    const list = tokenList({
      text: "The suitcase", labels: ["[CLS]", "The", "suit", "case"], special: [0],
      words: [["[CLS]", "", [0]], ["The", "", [1]], ["suitcase", " ", [2, 3]]],
    });
    expect(list.tokens.map((token) => token.word)).toEqual([0, 1, 2, 2]);
    expect(list.tokens.map((token) => token.special)).toEqual([true, false, false, false]);
    expect(list.words[2]).toEqual({ text: "suitcase", before: " ", tokens: [2, 3] });
  });

  it("knows where a patch lies", () => {
    const list = tokenList({
      text: "class r0c1", labels: ["class", "r0c1"], special: [0], words: [["class", "", [0]], ["r0c1", " ", [1]]],
      patches: [null, [0, 1]], picture: { url: "data:image/png;base64,", rows: 1, columns: 2 },
    });
    expect(list.tokens[0]!.row).toBeUndefined();
    expect([list.tokens[1]!.row, list.tokens[1]!.column]).toEqual([0, 1]);
    expect(list.picture!.columns).toBe(2);
  });
});
