// Read: a text and a model that is here; then the page's own viewer, its numbers asked for when they are looked at.
import { useEffect, useState } from "preact/hooks";
import { App } from "../app/app";
import { Reason } from "../app/parts";
import type { Api } from "./api";
import { ProgressBar } from "./progress";
import { type Reader, useReader, type Wanted } from "./use-reader";

export interface ServedModel {
  name: string;
  title: string;
  here: boolean;
  get?: string;
}

const KEPT_AS = "heedmap-read";
const TROPHY = "The trophy did not fit in the suitcase because it was too big.";

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
        <Tools {...{ models, here, wanted, setWanted, reader }} />
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

/** Which model reads, and how; the buttons that begin and end it. */
function Tools(props: {
  models: ServedModel[];
  here: ServedModel[];
  wanted: Wanted;
  setWanted: (wanted: Wanted) => void;
  reader: Reader;
}) {
  const { models, here, wanted, setWanted, reader } = props;
  return (
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
  );
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
