// What readings are called where one is chosen: texts that differ late are told apart by the place where they differ.

import type { PageData, ReadingSource } from "../data/types";

const LONGEST = 48;

/** A short name for each reading; of two texts that are compared, what stands around their first difference. */
export function readingName(page: PageData, source: ReadingSource): string {
  const { comparison } = page;
  const other = comparison && { [comparison.a]: comparison.b, [comparison.b]: comparison.a }[source.id];
  const against = page.readings.find((each) => each.id === other);
  if (!against || against.queries.text === source.queries.text) return shortened(source.title);
  return around(source.queries.text, against.queries.text);
}

/** The text from the word before the first difference on. */
function around(text: string, other: string): string {
  let same = 0;
  while (same < text.length && text[same] === other[same]) same++;
  const word = text.lastIndexOf(" ", same - 1);
  const before = word > 0 ? text.lastIndexOf(" ", word - 1) : -1;
  const from = before + 1;
  return `${from > 0 ? "… " : ""}${shortened(text.slice(from).replace(/\s+/g, " "))}`;
}

function shortened(text: string): string {
  const letters = Array.from(text);
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : text;
}
