// Lab: start an experiment, watch it run, stop it and go on with it, open its report, delete it.
import { useEffect, useState } from "preact/hooks";
import { Reason } from "../app/parts";
import type { Api } from "./api";
import { ExperimentForm, type Experiment } from "./experiment-form";
import type { ServedModel } from "./read-room";
import { type Run, RunCard } from "./run-card";

export function LabRoom({ api, models }: { api: Api; models: ServedModel[] }) {
  const [experiments, setExperiments] = useState<Experiment[]>([]);
  const [runs, setRuns] = useState<Run[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const tried = (work: Promise<void>) => void work.then(() => setFault(null), (error: Error) => setFault(error.message));
  useEffect(() => {
    tried(api.json<{ experiments: Experiment[] }>("/api/lab").then((told) => setExperiments(told.experiments)));
    tried(api.json<{ runs: Run[] }>("/api/lab/runs").then((told) => setRuns(told.runs)));
  }, []);
  const begin = (asked: Record<string, unknown>) =>
    tried(api.json<Run>("/api/lab/runs", "POST", asked).then((run) => setRuns((others) => [run, ...others])));
  const remove = (gone: string) => setRuns((all) => all.filter((run) => run.run !== gone));
  return (
    <div class="columns columns-lab">
      <section class="panel" aria-labelledby="lab-start">
        <h2 id="lab-start">Start an experiment</h2>
        <p class="lead">A picture is a question; an experiment has a baseline, and a control that could have failed.</p>
        {fault ? <Reason>{fault}</Reason> : null}
        <ExperimentForm experiments={experiments} models={models.filter((model) => model.here)} begin={begin} />
      </section>
      <section class="panel" aria-labelledby="lab-runs">
        <h2 id="lab-runs">Runs</h2>
        <p class="lead">Each goes on when this page is closed. A stopped run keeps what it measured.</p>
        {runs.length === 0 ? <p class="note">No experiment was run here yet.</p> : null}
        <ul class="runs">
          {runs.map((run) => (
            <RunCard key={run.run} api={api} run={run} remove={remove} />
          ))}
        </ul>
      </section>
    </div>
  );
}
