// Reads texts, one after the other: what is shown stays until the next is there, and all of it can be stopped.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageData } from "../data/types";
import { type Api, ApiError } from "./api";
import type { Progress } from "./progress";
import { type Served, ServedSource, type ServedStatistic } from "./served-source";

export interface Wanted {
  model: string;
  text: string;
  /** Cut a text that is longer than the model's positions. */
  truncate: boolean;
}

/** Up to this many tokens the statistics of all heads are asked for at once; above, when somebody wants them. */
const MOST_WITH_STATISTICS = 4096;

/** A reading that was asked for; it has its name once the server has read it. */
interface Held {
  controller: AbortController;
  id: string | null;
}

export interface Reader {
  page: PageData | null;
  progress: Progress | null;
  note: string | null;
  read: (wanted: Wanted) => Promise<void>;
  stop: () => void;
}

/** Reads texts, one after the other, and once more when the server no longer holds what is shown. */
export function useReader(api: Api): Reader {
  const [page, setPage] = useState<PageData | null>(null);
  const [note, setNote] = useState<string | null>(null);
  /** Until the new reading is there, the one before can be looked at. */
  const shown = useRef<Held | null>(null);
  const { progress, setProgress, current, work } = useWork(shown);

  const read = async (wanted: Wanted, again = false): Promise<void> => {
    const mine: Held = { controller: new AbortController(), id: null };
    if (!again) setNote(null);
    const gone = (error: ApiError) => {
      if (current.current.id !== mine.id) return;
      setNote(`${error.message}. Reading the text again …`);
      void read(wanted, true);
    };
    const failed = (error: ApiError) => (error.isGone && !again ? gone(error) : setNote(error.message));
    await work(mine, "loading the model", async (signal) => {
      const served = await answerOf<Served>(api, "/api/readings", "POST", wanted, setProgress, signal);
      mine.id = served.id;
      if (shown.current) void api.json(`/api/readings/${shown.current.id}`, "DELETE").catch(() => undefined);
      shown.current = mine;
      setNote(null);
      const show = (statistics: ServedStatistic[], measure?: () => void) =>
        setPage(pageOf(new ServedSource(served, statistics, api, gone, measure), served));
      const measure = async (stopped: AbortSignal) => {
        const path = `/api/readings/${served.id}/statistics`;
        show((await answerOf<{ statistics: ServedStatistic[] }>(api, path, "GET", undefined, setProgress, stopped)).statistics);
      };
      const later = () => void work({ controller: new AbortController(), id: served.id }, "statistics", measure, failed);
      const few = served.texts[served.reading.queries]!.labels.length <= MOST_WITH_STATISTICS;
      show([], few ? undefined : later);
      if (few) await measure(signal);
    }, failed);
  };
  const stop = () => current.current.controller.abort();
  useEffect(() => {
    // A page that is closed gives its memory back; one that comes back from the browser's cache reads again when asked.
    const leave = () => shown.current && api.leave(`/api/readings/${shown.current.id}`);
    window.addEventListener("pagehide", leave);
    return () => window.removeEventListener("pagehide", leave);
  }, [api]);
  return useMemo(() => ({ page, progress, note, read: (wanted) => read(wanted), stop }), [page, progress, note]);
}

type Doing = (signal: AbortSignal) => Promise<void>;

/** Things that take a while, one instead of the other: each is told of, can be stopped, and may fail. */
function useWork(shown: { current: Held | null }) {
  const [progress, setProgress] = useState<Progress | null>(null);
  /** What is being read. */
  const current = useRef<Held>({ controller: new AbortController(), id: null });
  const work = async (mine: Held, says: string, doing: Doing, failed: (error: ApiError) => void) => {
    current.current.controller.abort();
    current.current = mine;
    const { signal } = mine.controller;
    setProgress({ done: 0, total: 0, what: says });
    try {
      await doing(signal);
    } catch (error) {
      if (!signal.aborted) failed(error instanceof ApiError ? error : new ApiError(0, "Fault", String(error)));
    } finally {
      if (current.current === mine) {
        setProgress(null);
        current.current = shown.current ?? mine; // what failed or was stopped leaves the page before as it was
      }
    }
  };
  return { progress, setProgress, current, work };
}

/** The last of an answer's lines; those before tell how far it is. */
async function answerOf<Value>(
  api: Api, path: string, method: string, body: unknown, tell: (progress: Progress) => void, signal: AbortSignal,
): Promise<Value> {
  let answer: Value | null = null;
  await api.lines(path, method, body, (line) => {
    if (line.progress) {
      const [done, total, what] = line.progress as [number, number, string];
      tell({ done, total, what });
    } else {
      answer = line.answer as Value;
    }
  }, signal);
  if (answer === null) throw new ApiError(503, "BrokenOff", "the answer broke off");
  return answer;
}

function pageOf(source: ServedSource, served: Served): PageData {
  return { schema: "heedmap/page/1", version: "", readings: [source], start: served.start };
}

