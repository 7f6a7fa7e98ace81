// Read: a text and a model that is here; then the page's own viewer, its numbers asked for when they are looked at.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { App } from "../app/app";
import { Reason } from "../app/parts";
import type { PageData } from "../data/types";
import { type Api, ApiError } from "./api";
import { ProgressBar, type Progress } from "./progress";
import { type Served, ServedSource, type ServedStatistic } from "./served-source";

export interface ServedModel {
  name: string;
  title: string;
  here: boolean;
  get?: string;
}

interface Wanted {
  model: string;
  text: string;
  /** Cut a text that is longer than the model's positions. */
  truncate: boolean;
}

const KEPT_AS = "heedmap-read";
const TROPHY = "The trophy did not fit in the suitcase because it was too big.";

/** Up to this many tokens the statistics of all heads are asked for at once; above, they would keep the model busy. */
const MOST_WITH_STATISTICS = 4096;

export function ReadRoom({ api, models }: { api: Api; models: ServedModel[] }) {
  const here = models.filter((model) => model.here);
  const [wanted, setWanted] = useState<Wanted>(() => kept(here));
  const reader = useReader(api);
  useEffect(() => {
    if (here.length > 0 && sessionStorage.getItem(KEPT_AS)) void reader.read(wanted);
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    sessionStorage.setItem(KEPT_AS, JSON.stringify(wanted));
    void reader.read(wanted);
  };
  return (
    <>
      <form class="ask" onSubmit={submit}>
        <label class="ask-text">
          <span>Text</span>
          <textarea
            rows={3}
            value={wanted.text}
            onInput={(event) => setWanted({ ...wanted, text: event.currentTarget.value })}
            dir="auto"
            required
          />
        </label>
        <div class="tools">
          <label>
            Model{" "}
            <select value={wanted.model} onChange={(event) => setWanted({ ...wanted, model: event.currentTarget.value })}>
              {here.map((model) => (
                <option key={model.name} value={model.name}>
                  {model.name}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" class="leading" disabled={reader.progress !== null || here.length === 0}>
            Read
          </button>
          {reader.progress ? (
            <button type="button" onClick={reader.stop}>
              Stop
            </button>
          ) : null}
          <label>
            <input
              type="checkbox"
              checked={wanted.truncate}
              onChange={(event) => setWanted({ ...wanted, truncate: event.currentTarget.checked })}
            />{" "}
            cut what is too long
          </label>
          <span class="lead">{models.find((model) => model.name === wanted.model)?.title}</span>
        </div>
        {here.length === 0 ? (
          <Reason>
            No model is on this machine yet. In a terminal: <code>heedmap models get smollm2</code>
          </Reason>
        ) : null}
        {reader.progress ? <ProgressBar progress={reader.progress} /> : null}
        {reader.note ? <Reason>{reader.note}</Reason> : null}
      </form>
      {reader.page ? <App page={reader.page} host="application" /> : null}
    </>
  );
}

/** A reading that was asked for; it has its name once the server has read it. */
interface Held {
  controller: AbortController;
  id: string | null;
}

interface Reader {
  page: PageData | null;
  progress: Progress | null;
  note: string | null;
  read: (wanted: Wanted) => Promise<void>;
  stop: () => void;
}

/** Reads texts, one after the other, and once more when the server no longer holds what is shown. */
function useReader(api: Api): Reader {
  const [page, setPage] = useState<PageData | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [note, setNote] = useState<string | null>(null);
  /** What is being read, and what is shown: until the new reading is there, the one before can be looked at. */
  const current = useRef<Held>({ controller: new AbortController(), id: null });
  const shown = useRef<Held | null>(null);

  const read = async (wanted: Wanted, again = false): Promise<void> => {
    current.current.controller.abort();
    const mine: Held = { controller: new AbortController(), id: null };
    current.current = mine;
    const { signal } = mine.controller;
    setProgress({ done: 0, total: 0, what: "loading the model" });
    if (!again) setNote(null);
    const gone = (error: ApiError) => {
      if (current.current !== mine) return;
      setNote(`${error.message}. Reading the text again …`);
      void read(wanted, true);
    };
    try {
      const served = await answerOf<Served>(api, "/api/readings", "POST", wanted, setProgress, signal);
      mine.id = served.id;
      if (shown.current) void api.json(`/api/readings/${shown.current.id}`, "DELETE").catch(() => undefined);
      shown.current = mine;
      const show = (statistics: ServedStatistic[]) => setPage(pageOf(new ServedSource(served, statistics, api, gone), served));
      show([]);
      setNote(null);
      if (served.texts[served.reading.queries]!.labels.length <= MOST_WITH_STATISTICS) {
        const path = `/api/readings/${served.id}/statistics`;
        show((await answerOf<{ statistics: ServedStatistic[] }>(api, path, "GET", undefined, setProgress, signal)).statistics);
      }
    } catch (error) {
      if (signal.aborted) return;
      const failed = error instanceof ApiError ? error : new ApiError(0, "Fault", String(error));
      if (failed.isGone && !again) return void gone(failed);
      setNote(failed.message);
    } finally {
      if (current.current === mine) {
        setProgress(null);
        current.current = shown.current ?? mine; // what failed or was stopped leaves the page before as it was
      }
    }
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

function kept(here: ServedModel[]): Wanted {
  const otherwise = { model: here[0]?.name ?? "", text: TROPHY, truncate: false };
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "null") as Wanted | null;
    return found && here.some((model) => model.name === found.model) ? found : otherwise;
  } catch {
    return otherwise;
  }
}
