// Hooks that several views use: the store, answers that arrive later, and what is on screen.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { State, Store } from "../state";

export function useStore(store: Store): State {
  const [, redraw] = useState(0);
  useLayoutEffect(() => store.listen(() => redraw((count) => count + 1)), [store]);
  return store.get();
}

export interface Answer<Value> {
  /** The newest answer there is; while another is awaited, the one before. */
  value: Value | null;
  error: string | null;
}

/** Asks again whenever `inputs` change; what was asked before and arrives late is dropped. */
export function useAnswer<Value>(ask: () => Promise<Value>, inputs: unknown[]): Answer<Value> {
  const [answer, setAnswer] = useState<Answer<Value>>({ value: null, error: null });
  useEffect(() => {
    let current = true;
    ask().then(
      (value) => current && setAnswer({ value, error: null }),
      (reason: unknown) =>
        current && setAnswer({ value: null, error: reason instanceof Error ? reason.message : String(reason) }),
    );
    return () => {
      current = false;
    };
  }, inputs);
  return answer;
}

/**
 * True from when the element is near the screen, so that a long page draws only what is looked at.
 *
 * Text can be drawn at once when the page is printed, and is; pictures that are computed elsewhere would come too late.
 */
export function useSeen<Kind extends Element>(kind: "text" | "picture", margin = "400px") {
  const place = useRef<Kind>(null);
  const [seen, setSeen] = useState(typeof IntersectionObserver === "undefined");
  useEffect(() => {
    const element = place.current;
    if (seen || !element) return;
    const show = () => setSeen(true);
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && show(), {
      rootMargin: margin,
    });
    observer.observe(element);
    if (kind === "text") window.addEventListener("beforeprint", show);
    return () => {
      observer.disconnect();
      window.removeEventListener("beforeprint", show);
    };
  }, [seen]);
  return [place, seen] as const;
}
