// One run of the lab: how far it is, and what can be done with it.
import { useEffect, useState } from "preact/hooks";
import { Reason } from "../app/parts";
import type { Api } from "./api";
import { ProgressBar } from "./progress";

export interface Run {
  run: string;
  experiment: string;
  model: string;
  state: "running" | "stopped" | "failed" | "finished";
  done: number;
  total: number;
  what: string;
  says: string;
  report: boolean;
}

export function RunCard({ api, run: first, remove }: { api: Api; run: Run; remove: (run: string) => void }) {
  const [run, setRun] = useState(first);
  const [doubted, setDoubted] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    if (run.state !== "running") return;
    const controller = new AbortController();
    const told = api.lines(`/api/lab/runs/${run.run}/events`, "GET", undefined, (line) => setRun(line as unknown as Run), controller.signal);
    told.catch((error: Error) => controller.signal.aborted || setFault(error.message));
    return () => controller.abort();
  }, [run.state]);
  const ask = (what: "stop" | "resume") =>
    void api.json<Run>(`/api/lab/runs/${run.run}/${what}`, "POST").then(setRun, (error: Error) => setFault(error.message));
  const drop = () =>
    void api.json(`/api/lab/runs/${run.run}`, "DELETE").then(() => remove(run.run), (error: Error) => setFault(error.message));
  return (
    <li class="run" aria-label={`${run.experiment} on ${run.model}`}>
      <p>
        <strong>{run.experiment}</strong> on <bdi>{run.model}</bdi> <span class={`state state-${run.state}`}>{run.state}</span>
      </p>
      {run.state === "running" ? <ProgressBar progress={run} /> : null}
      {run.says ? <p class="lead">{run.says}</p> : null}
      {fault ? <Reason>{fault}</Reason> : null}
      <div class="tools">
        {run.state === "running" ? <button type="button" onClick={() => ask("stop")}>Stop</button> : null}
        {run.state === "stopped" || run.state === "failed" ? (
          <button type="button" class="leading" onClick={() => ask("resume")}>
            Go on
          </button>
        ) : null}
        {run.report ? (
          <a href={`/api/lab/runs/${run.run}/report`} target="_blank" rel="noreferrer">
            Open the report
          </a>
        ) : null}
        {run.state !== "running" && !doubted ? <button type="button" onClick={() => setDoubted(true)}>Delete</button> : null}
        {doubted ? <DeleteForGood drop={drop} keep={() => setDoubted(false)} /> : null}
        <small class="figures">{run.run}</small>
      </div>
    </li>
  );
}

/** Rows may have taken hours: they are deleted by a second press, on a button that says so. */
function DeleteForGood({ drop, keep }: { drop: () => void; keep: () => void }) {
  return (
    <>
      <button type="button" onClick={drop}>Delete all it measured</button>
      <button type="button" onClick={keep}>Keep it</button>
    </>
  );
}
