// Names for elements that refer to each other: Preact's own repeat when a document holds several pages, as a notebook does.

import { useState } from "preact/hooks";

let made = 0;

export function useUniqueId(): string {
  return useState(() => `heedmap-${++made}`)[0];
}
