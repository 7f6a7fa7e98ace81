// @vitest-environment happy-dom
// Tiny maps: few requests, in turn, and none for what has gone from the screen before its turn came.
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import { MadeUp } from "../../bench/made-up";
import type { ReadingSource } from "../../src/data/types";
import { inTurn } from "../../src/map/one-by-one";
import { TinyMap } from "../../src/map/tiny-map";

const drawImage = vi.fn();

beforeEach(() => {
  vi.stubGlobal("IntersectionObserver", undefined);
  vi.stubGlobal("ImageData", class {});
  drawImage.mockClear();
  // happy-dom has no canvas: what is drawn is counted.
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation((() => ({
    drawImage,
    putImageData: vi.fn(),
  })) as never);
});

async function asked(tokens: number): Promise<string[]> {
  const source = new MadeUp({ tokens });
  const found: string[] = [];
  const real = source.tile.bind(source);
  const tile: ReadingSource["tile"] = (layer, head, rows, columns, height, width, how) => {
    found.push(`${columns.start}-${columns.stop} in ${height}x${width} ${how}`);
    return real(layer, head, rows, columns, height, width);
  };
  const place = document.createElement("div");
  act(() => render(<TinyMap source={Object.assign(source, { tile })} layer={0} head={1} theme="light" />, place));
  await new Promise((resolve) => setTimeout(resolve, 120));
  act(() => render(null, place));
  return found;
}

test("of a short text are one exact tile", async () => {
  expect(await asked(15)).toEqual(["0-15 in 15x15 max"]);
  // The first token's column, and the others beside it.
  expect(drawImage.mock.calls.map(([, x, y]) => [x, y])).toEqual([
    [0, 0],
    [1, 0],
  ]);
});

test("of a long text are pooled, the first token by itself", async () => {
  expect(await asked(500)).toEqual(["0-1 in 64x1 max", "1-500 in 64x64 max"]);
});

test("wait in turn, and are passed over when nobody wants them any more", async () => {
  const running = { now: 0, most: 0 };
  const task = async () => {
    running.most = Math.max(running.most, ++running.now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running.now--;
    return "done";
  };
  const gone = new AbortController();
  const results = Array.from({ length: 20 }, (_, index) =>
    inTurn(task, index === 15 ? gone.signal : new AbortController().signal),
  );
  gone.abort();
  const settled = await Promise.allSettled(results);
  expect(settled.filter((one) => one.status === "fulfilled").length).toBe(19);
  expect(settled[15]).toMatchObject({ status: "rejected", reason: { name: "AbortError" } });
  expect(running.most).toBeLessThanOrEqual(4);
});

test("one that fails does not hold up the others", async () => {
  const signal = new AbortController().signal;
  const results = await Promise.allSettled([
    inTurn(() => Promise.reject(new Error("no")), signal),
    inTurn(async () => 2, signal),
  ]);
  expect(results.map((one) => one.status)).toEqual(["rejected", "fulfilled"]);
});
