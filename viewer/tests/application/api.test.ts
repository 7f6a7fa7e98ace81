// @vitest-environment happy-dom
// Asking the server: lines that arrive in pieces, refusals with their reason, a server that is not there.
import { describe, expect, test } from "vitest";
import { Api, ApiError, type Line, tokenOf } from "../../src/application/api";

function answering(status: number, ...parts: string[]): { api: Api; asked: [string, RequestInit][] } {
  const asked: [string, RequestInit][] = [];
  const fetched = async (path: RequestInfo | URL, init?: RequestInit) => {
    asked.push([String(path), init ?? {}]);
    const encoder = new TextEncoder();
    const stream = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(encoder.encode(part));
        controller.close();
      },
    });
    return new Response(stream, { status, headers: { "x-heedmap-head": '{"keys": 2}' } });
  };
  return { api: new Api("secret", fetched as typeof fetch), asked };
}

async function failure(work: Promise<unknown>): Promise<ApiError> {
  return work.then(
    () => expect.fail("nothing was refused"),
    (error: unknown) => error as ApiError,
  );
}

describe("asking", () => {
  test("gives back what a closed page held, without waiting, whatever becomes of it", async () => {
    const { api, asked } = answering(200, "{}");
    api.leave("/x");
    expect(asked).toMatchObject([["/x", { method: "DELETE", keepalive: true, headers: { "x-heedmap-token": "secret" } }]]);
    new Api("secret", () => Promise.reject(new TypeError("gone"))).leave("/x");
    await Promise.resolve();
  });

  test("carries the token and the body", async () => {
    const { api, asked } = answering(200, '{"a": 1}');
    expect(await api.json("/x", "POST", { text: "<b>" })).toEqual({ a: 1 });
    const [path, init] = asked[0]!;
    expect(path).toBe("/x");
    expect(init).toMatchObject({ method: "POST", headers: { "x-heedmap-token": "secret" }, body: '{"text":"<b>"}' });
  });

  test.each([
    ['{"a":1}\n{"b":"é"}\n'],
    ['{"a"', ':1}\n{"b"', ':"é"}', "\n"],
    ['{"a":1}\n', '{"b":"é"}\n'],
  ])("lines may arrive in any pieces: %j", async (...parts: string[]) => {
    const lines: Line[] = [];
    await answering(200, ...parts).api.lines("/x", "GET", undefined, (line) => lines.push(line));
    expect(lines).toEqual([{ a: 1 }, { b: "é" }]);
  });

  test("an answer that breaks off is told", async () => {
    const error = await failure(answering(200, '{"a":1}\n{"b"').api.lines("/x", "GET", undefined, () => undefined));
    expect(error.kind).toBe("BrokenOff");
  });

  test("a refusal has its reason, and says whether reading again helps", async () => {
    const body = '{"error": {"kind": "ReadingGone", "message": "read the text again"}}';
    const error = await failure(answering(410, body).api.json("/x"));
    expect([error.message, error.kind, error.isGone]).toEqual(["read the text again", "ReadingGone", true]);
    expect((await failure(answering(422, body).api.json("/x"))).isGone).toBe(false);
  });

  test("a failure among the lines is one", async () => {
    const line = '{"progress":[1,2,"x"]}\n{"error":{"kind":"WorkerDied","message":"it ended"}}\n';
    const error = await failure(answering(200, line).api.lines("/x", "GET", undefined, () => undefined));
    expect([error.message, error.isGone]).toEqual(["it ended", true]);
  });

  test("a refusal without a reason is told by its number", async () => {
    expect((await failure(answering(500, "<html>").api.json("/x"))).message).toContain("500");
  });

  test("a server that is not there is told with the next step", async () => {
    const api = new Api("", (() => Promise.reject(new TypeError("failed"))) as typeof fetch);
    expect((await failure(api.json("/x"))).message).toContain("heedmap serve");
  });
});

test("the token stands in the page", () => {
  document.head.innerHTML = '<meta name="heedmap-token" content="secret">';
  expect(tokenOf(document)).toBe("secret");
});
