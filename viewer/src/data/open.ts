// From a page's header and blocks to what the views are given.
import type { Calculator } from "./calculator";
import type { Header, HeaderText } from "./header";
import { EmbeddedSource, type ReadBlock } from "./source";
import type { PageData, Token, TokenList } from "./types";

export const SCHEMA = "heedmap/page/1";

/** What a page shows; numbers are read from its blocks when they are asked for. */
export function openPage(header: Header, readBlock: ReadBlock, calculator: Calculator): PageData {
  if (header.schema !== SCHEMA) throw new Error(`this program reads ${SCHEMA}, and the page holds ${header.schema}`);
  checkLengths(header);
  const texts = header.texts.map(tokenList);
  const readings = header.readings.map(
    (one) => new EmbeddedSource(one, texts[one.queries]!, texts[one.keys]!, header.rules, readBlock, calculator),
  );
  return {
    schema: SCHEMA,
    version: header.version,
    readings,
    start: header.start,
    ...(header.comparison ? { comparison: header.comparison } : {}),
    ...(header.generation ? { generation: header.generation } : {}),
  };
}

/** A map and its tokens must be of one length: with others, every label would name another token's numbers. */
function checkLengths(header: Header): void {
  for (const reading of header.readings) {
    const [queries, keys] = [reading.queries, reading.keys].map((text) => header.texts[text]!.labels.length);
    for (const { number, rule: place } of reading.layers) {
      const rule = place === undefined ? undefined : header.rules[place];
      if (rule && (rule.queries !== queries || rule.keys !== keys)) {
        throw new Error(`layer ${number} has ${rule.queries} x ${rule.keys} weights for ${queries} and ${keys} tokens`);
      }
    }
  }
}

/** Tokens and words from their columns. */
export function tokenList(given: HeaderText): TokenList {
  const special = new Set(given.special);
  const tokens: Token[] = given.labels.map((label, index) => {
    const place = given.patches?.[index];
    return { index, label, special: special.has(index), word: null, ...(place ? { row: place[0], column: place[1] } : {}) };
  });
  const words = given.words.map(([text, before, members], word) => {
    for (const index of members) tokens[index]!.word = word;
    return { text, before, tokens: members };
  });
  return { text: given.text, tokens, words, ...(given.picture ? { picture: given.picture } : {}) };
}
