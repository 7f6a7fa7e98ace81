// The layers of a page and what is asked of them, in small steps: the same in a worker and on the main thread.
import { cut, inflate } from "./bytes";
import type { HeaderLayer, HeaderRule } from "./header";
import { KnownLayer, type Layer, makeLayer } from "./layer";
import { Pool, type TileAsked } from "./pool";
import { Rule } from "./rule";
import type { Row, Tile } from "./types";

/** The vectors of one row, flat: as they cross from a worker. */
export interface FlatVectors {
  query: Float32Array;
  keys: Float32Array;
  values: Float32Array | null;
  scale: number;
  softcap: number | null;
  bias: Float32Array | null;
  sink: number | null;
  allowed: Uint8Array;
}

export interface LayerGiven {
  key: string;
  info: HeaderLayer;
  rule: HeaderRule;
  block: Uint8Array<ArrayBuffer>;
  bits: Uint8Array<ArrayBuffer> | null;
}

export type Question =
  | { kind: "row"; key: string; head: number | null; query: number }
  | { kind: "vectors"; key: string; head: number; query: number }
  | { kind: "tile"; key: string; asked: TileAsked };

export type Answer = Row | Tile | FlatVectors;

/** Milliseconds of work between two looks at what else was asked. */
const SLICE = 8;

interface Task {
  id: number;
  question: Question;
  steps: Generator<void, Answer> | null;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

interface Opened {
  layer: Layer;
  pool: Pool;
}

export class Engine {
  private readonly layers = new Map<string, Promise<Opened>>();
  private readonly ready = new Map<string, Opened>();
  private readonly tasks = new Map<number, Task>();
  private running = false;

  /** Take in a layer; what is asked of it waits until it is decoded. */
  open(given: LayerGiven): void {
    this.layers.set(given.key, decode(given));
  }

  ask(id: number, question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.tasks.set(id, { id, question, steps: null, resolve, reject });
      const layer = this.layers.get(question.key);
      if (!layer) {
        this.end(id)?.reject(new Error(`the layer ${question.key} was never opened`));
        return;
      }
      layer.then(
        (opened) => {
          this.ready.set(question.key, opened);
          void this.run();
        },
        (error: unknown) => this.end(id)?.reject(error),
      );
    });
  }

  cancel(id: number): void {
    this.end(id)?.reject(new DOMException("no longer wanted", "AbortError"));
  }

  private end(id: number): Task | undefined {
    const task = this.tasks.get(id);
    this.tasks.delete(id);
    return task;
  }

  /** Work on whatever comes first, slice by slice, and let messages in between. */
  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (let task = this.first(); task; task = this.first()) {
      const stop = performance.now() + SLICE;
      this.work(task, stop);
      if (performance.now() >= stop) await pause();
    }
    this.running = false;
  }

  /** Rows and vectors before tiles; of tiles, the one asked for last, which is what is looked at now. */
  private first(): Task | undefined {
    let first: Task | undefined;
    for (const task of this.tasks.values()) {
      if (!this.ready.has(task.question.key)) continue;
      if (task.question.kind !== "tile") return task;
      if (!first || task.id > first.id) first = task;
    }
    return first;
  }

  private work(task: Task, stop: number): void {
    try {
      task.steps ??= answer(this.ready.get(task.question.key)!, task.question);
      do {
        const step = task.steps.next();
        if (step.done) {
          this.end(task.id);
          task.resolve(step.value);
          return;
        }
      } while (performance.now() < stop);
    } catch (error) {
      this.end(task.id);
      task.reject(error);
    }
  }
}

async function decode(given: LayerGiven): Promise<Opened> {
  const bits = given.bits && given.rule.bits ? cut(await inflate(given.bits), [given.rule.bits]).get("bits")! : null;
  const parts = cut(await inflate(given.block), given.info.parts ?? []);
  const layer = makeLayer(given.info, new Rule(given.rule, bits as Uint8Array | null), parts);
  return { layer, pool: new Pool(layer) };
}

function* answer(opened: Opened, question: Question): Generator<void, Answer> {
  if (question.kind === "row") return opened.layer.row(question.head, question.query);
  if (question.kind === "vectors") return vectorsOf(opened.layer, question.head, question.query);
  return yield* opened.pool.tile(question.asked);
}

function vectorsOf(layer: Layer, head: number, query: number): FlatVectors {
  const { info, rule } = layer;
  if (!(layer instanceof KnownLayer) || !info.hasSteps) {
    throw new Error(`layer ${info.number} carries no queries, keys and values, so that its steps do not unfold`);
  }
  const { keys } = rule;
  const start = (head * rule.queries + query) * layer.dim;
  const shared = layer.sharedStart(head, layer.dim);
  const all = layer.values();
  const size = all ? all.length / (info.keyValueHeads * keys) : 0;
  const sharedValues = layer.sharedStart(head, size);
  return {
    query: layer.query.slice(start, start + layer.dim),
    keys: layer.key.slice(shared, shared + keys * layer.dim),
    values: all && all.slice(sharedValues, sharedValues + keys * size),
    scale: info.scale ?? 1,
    softcap: info.softcap ?? null,
    bias: layer.bias && biasOf(layer, layer.bias, head, query),
    sink: layer.sinks && layer.sinks[head * rule.queries + query]!,
    allowed: rule.row(head, query),
  };
}

/** What is added to the scores of one row; 0 where it may not look. */
function biasOf(layer: Layer, bias: Float32Array, head: number, query: number): Float32Array {
  const row = new Float32Array(layer.rule.keys);
  let cell = layer.rule.cellsBeforeHead(head) + layer.rule.cellsBefore(head, query);
  const allowed = layer.rule.row(head, query);
  for (let key = 0; key < row.length; key++) if (allowed[key]) row[key] = bias[cell++]!;
  return row;
}

/** Let what waits have its turn: a message channel is not slowed down as timers are. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}
