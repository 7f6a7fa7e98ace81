// The engine in a web worker: layers and questions come as messages, answers go back without being copied.
import { type Answer, Engine, type LayerGiven, type Question } from "./engine";

export type ToWorker =
  | { kind: "open"; given: LayerGiven }
  | { kind: "ask"; id: number; question: Question }
  | { kind: "cancel"; id: number };

export type FromWorker = { kind: "here" } | { kind: "answer"; id: number; answer: Answer } | { kind: "error"; id: number; name: string; message: string };

const engine = new Engine();
const send = (message: FromWorker, transfer: Transferable[] = []) => self.postMessage(message, { transfer });

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === "open") engine.open(message.given);
  else if (message.kind === "cancel") engine.cancel(message.id);
  else {
    const { id } = message;
    engine.ask(id, message.question).then(
      (answer) => send({ kind: "answer", id, answer }, buffers(answer)),
      (error: Error) => send({ kind: "error", id, name: error.name, message: error.message }),
    );
  }
};

function buffers(answer: Answer): Transferable[] {
  return Object.values(answer).flatMap((part) => (ArrayBuffer.isView(part) ? [part.buffer as ArrayBuffer] : []));
}

send({ kind: "here" });
