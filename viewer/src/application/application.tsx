// The application: four rooms with an address each. Reading goes on in its room while another is looked at.
import { useEffect, useState } from "preact/hooks";
import { Guarded, Reason } from "../app/parts";
import { useTheme } from "../app/theme";
import "../app/app.css";
import "../theme.css";
import type { Api } from "./api";
import "./application.css";
import { HandRoom } from "./hand-room";
import { LabRoom } from "./lab-room";
import { LearnRoom } from "./learn-room";
import { ReadRoom, type ServedModel } from "./read-room";
import { ROOMS, type Room, useRoom } from "./rooms";

export function Application({ api }: { api: Api }) {
  const [room, go] = useRoom();
  const [models, setModels] = useState<ServedModel[] | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const { theme } = useTheme();
  useEffect(() => {
    api.json<{ models: ServedModel[] }>("/api/models").then((told) => setModels(told.models), (error: Error) => setFault(error.message));
  }, []);
  useEffect(() => {
    document.title = `${ROOMS[room]} · Heedmap`;
  }, [room]);
  return (
    <div class="heedmap application" data-theme={theme} data-host="file">
      <header class="header">
        <h1 class="brand">Heedmap</h1>
        <nav class="rooms" aria-label="Rooms">
          {(Object.keys(ROOMS) as Room[]).map((one) => (
            <a key={one} href={`/${one}`} aria-current={one === room ? "page" : undefined} onClick={(event) => follow(event, () => go(one))}>
              {ROOMS[one]}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {fault ? <Reason>{fault}</Reason> : null}
        {models ? (
          <Guarded what="This room" key={room}>
            {room === "read" ? <ReadRoom api={api} models={models} /> : null}
            {room === "lab" ? <LabRoom api={api} models={models} /> : null}
            {room === "hand" ? <HandRoom /> : null}
            {room === "learn" ? <LearnRoom api={api} /> : null}
          </Guarded>
        ) : null}
      </main>
    </div>
  );
}

/** A plain click changes the room; a click that wants a new tab is left to the browser. */
function follow(event: MouseEvent, go: () => void): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go();
}
