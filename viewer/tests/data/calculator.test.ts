// Who computes: the worker where it starts, the page's own thread where it does not, with the same answers.
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Calculator, LocalCalculator, WorkerCalculator } from "../../src/data/calculator";
import { Engine } from "../../src/data/engine";
import type { FromWorker, ToWorker } from "../../src/data/worker";
import { loadFixture, openFixture, sourceOf } from "./fixture";

const fixture = loadFixture();

/** A worker without a thread: the engine behind the messages that worker.ts exchanges. */
class FakeWorker {
  onmessage: ((event: { data: FromWorker }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;
  readonly seen: ToWorker[] = [];
  private readonly engine = new Engine();

  constructor(start: "starts" | "fails" | "is silent") {
    if (start === "starts") setTimeout(() => this.onmessage?.({ data: { kind: "here" } }));
    if (start === "fails") setTimeout(() => this.onerror?.({ message: "not allowed" }));
  }

  postMessage(message: ToWorker): void {
    this.seen.push(message);
    if (message.kind === "open") this.engine.open(message.given);
    else if (message.kind === "cancel") this.engine.cancel(message.id);
    else {
      const { id } = message;
      this.engine.ask(id, message.question).then(
        (answer) => this.onmessage?.({ data: { kind: "answer", id, answer } }),
        (error: Error) => this.onmessage?.({ data: { kind: "error", id, name: error.name, message: error.message } }),
      );
    }
  }
}

const row = async (calculator: Calculator) => sourceOf(openFixture(fixture, calculator), "self").row(1, 2, 10);

describe("whoever computes", () => {
  afterEach(() => vi.useRealTimers());

  it.each(["starts", "fails"] as const)("gives the same row when the worker %s", async (start) => {
    const worker = new FakeWorker(start);
    const found = await row(new WorkerCalculator(() => worker as unknown as Worker));
    expect(found).toEqual(await row(new LocalCalculator()));
    expect(worker.seen.map((message) => message.kind)).toEqual(start === "starts" ? ["open", "ask"] : []);
  });

  it("goes on without a worker that cannot be made", async () => {
    const calculator = new WorkerCalculator(() => {
      throw new Error("no workers here");
    });
    expect(await row(calculator)).toEqual(await row(new LocalCalculator()));
  });

  it("gives up a worker that never says that it is here", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const asked = row(new WorkerCalculator(() => new FakeWorker("is silent") as unknown as Worker));
    await vi.advanceTimersByTimeAsync(3000);
    vi.useRealTimers();
    expect((await asked).weights.length).toBe(19);
  });

  it.each([true, false])("cancels what is no longer wanted (with a worker: %s)", async (withWorker) => {
    const worker = new FakeWorker("starts");
    const calculator = withWorker ? new WorkerCalculator(() => worker as unknown as Worker) : new LocalCalculator();
    const source = sourceOf(openFixture(fixture, calculator), "self");
    await source.row(0, 0, 3); // the layer is there
    const whole = { start: 0, stop: 19 };
    const wanted = new AbortController();
    const tile = source.tile(0, 1, whole, whole, 19, 19, "mean", wanted.signal);
    wanted.abort();
    await expect(tile).rejects.toMatchObject({ name: "AbortError" });
    expect((await source.tile(0, 1, whole, whole, 19, 19, "mean")).height).toBe(19);
  });

  it("computes a tile once and keeps it", async () => {
    const worker = new FakeWorker("starts");
    const source = sourceOf(openFixture(fixture, new WorkerCalculator(() => worker as unknown as Worker)), "self");
    const whole = { start: 0, stop: 19 };
    const first = await source.tile(0, 1, whole, whole, 5, 5, "mean");
    expect(await source.tile(0, 1, whole, whole, 5, 5, "mean")).toBe(first);
    expect(await source.tile(0, 1, whole, whole, 5, 5, "max")).not.toBe(first);
    expect(worker.seen.filter((message) => message.kind === "ask").length).toBe(2);
  });
});
