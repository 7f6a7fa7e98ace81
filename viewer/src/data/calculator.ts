// Who computes: a worker beside the page, or the page's own thread where no worker can be had.
import { type Answer, Engine, type LayerGiven, type Question } from "./engine";
import type { FromWorker, ToWorker } from "./worker";

export interface Calculator {
  open(given: LayerGiven): void;
  ask(question: Question, signal?: AbortSignal): Promise<Answer>;
}

/** The engine on the page's own thread, in slices. */
export class LocalCalculator implements Calculator {
  private readonly engine = new Engine();
  private next = 0;

  open(given: LayerGiven): void {
    this.engine.open(given);
  }

  ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    const id = this.next++;
    const answer = this.engine.ask(id, question);
    whenAborted(signal, () => this.engine.cancel(id));
    return answer;
  }
}

/** Milliseconds after which a worker that has not said that it is here is given up. */
const PATIENCE = 3000;

/** The engine in a worker; until it has said that it is here, everything waits, and goes elsewhere if it never does. */
export class WorkerCalculator implements Calculator {
  private readonly waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: unknown) => void }>();
  private readonly worker: Promise<Worker | Calculator>;
  private next = 0;

  constructor(make: () => Worker) {
    this.worker = start(make, (message) => this.receive(message)).catch(() => new LocalCalculator());
  }

  open(given: LayerGiven): void {
    void this.worker.then((worker) => {
      if (isCalculator(worker)) worker.open(given);
      else post(worker, { kind: "open", given });
    });
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    const worker = await this.worker;
    if (isCalculator(worker)) return worker.ask(question, signal);
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      post(worker, { kind: "ask", id, question });
      whenAborted(signal, () => post(worker, { kind: "cancel", id }));
    });
  }

  private receive(message: FromWorker): void {
    if (message.kind === "here") return;
    const asked = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.kind === "answer") asked?.resolve(message.answer);
    else if (message.name === "AbortError") asked?.reject(new DOMException(message.message, "AbortError"));
    else asked?.reject(new Error(message.message));
  }
}

function isCalculator(one: Worker | Calculator): one is Calculator {
  return "ask" in one;
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

function whenAborted(signal: AbortSignal | undefined, cancel: () => void): void {
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
}

/** A worker that has said that it is here. */
function start(make: () => Worker, receive: (message: FromWorker) => void): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const worker = make();
    const clock = setTimeout(() => reject(new Error("the worker did not start")), PATIENCE);
    worker.onerror = (event) => {
      clearTimeout(clock);
      reject(new Error(event.message));
    };
    worker.onmessage = (event: MessageEvent<FromWorker>) => {
      clearTimeout(clock);
      if (event.data.kind === "here") resolve(worker);
      receive(event.data);
    };
  });
}
