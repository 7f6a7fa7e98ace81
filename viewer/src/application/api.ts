// Asking the application's own server: with its token, in JSON, JSON lines or raw numbers; failures carry their reason.

/** What the server refused or could not do. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }

  /** The reading is no longer in the server's memory, or the process that held it ended: it can be read again. */
  get isGone(): boolean {
    return this.status === 410 || this.status === 503;
  }
}

export interface Numbers {
  head: Record<string, number | null>;
  bytes: ArrayBuffer;
}

export type Line = Record<string, unknown>;

export class Api {
  constructor(
    private readonly token: string,
    private readonly fetched: typeof fetch = (input, init) => fetch(input, init),
  ) {}

  /** One JSON answer. */
  async json<Value>(path: string, method = "GET", body?: unknown): Promise<Value> {
    return (await (await this.ask(path, method, body)).json()) as Value;
  }

  /** Give something back while the page is being closed: the request outlives it, and nobody waits for the answer. */
  leave(path: string): void {
    const init = { method: "DELETE", headers: { "x-heedmap-token": this.token }, keepalive: true };
    void this.fetched(path, init).catch(() => undefined);
  }

  /** Raw numbers, and the head that says how they lie. */
  async numbers(path: string, signal?: AbortSignal): Promise<Numbers> {
    const answer = await this.ask(path, "GET", undefined, signal);
    return { head: JSON.parse(answer.headers.get("x-heedmap-head") ?? "{}"), bytes: await answer.arrayBuffer() };
  }

  /** Each line of an answer as it comes. */
  async lines(path: string, method: string, body: unknown, each: (line: Line) => void, signal?: AbortSignal): Promise<void> {
    const answer = await this.ask(path, method, body, signal);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop()!;
      for (const line of lines) each(checked(JSON.parse(line) as Line));
    }
    if (rest) throw new ApiError(502, "BrokenOff", "the answer broke off: is the application still running?");
  }

  private async ask(path: string, method: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const init: RequestInit = { method, headers: { "x-heedmap-token": this.token }, ...(signal ? { signal } : {}) };
    if (body !== undefined) init.body = JSON.stringify(body);
    const answer = await this.reach(path, init);
    if (answer.ok) return answer;
    const told = (await answer.json().catch(() => null)) as Line | null;
    checked(told ?? {}, answer.status);
    throw new ApiError(answer.status, "Unknown", `the application answered ${answer.status}`);
  }

  private async reach(path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.fetched(path, init);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiError(0, "NotReached", "the application does not answer: start it again with `heedmap serve`");
    }
  }
}

/** A line, when it tells of no failure. */
function checked(line: Line, status = 422): Line {
  const error = line.error as { kind: string; message: string } | undefined;
  if (error) throw new ApiError(error.kind === "WorkerDied" ? 503 : status, error.kind, error.message);
  return line;
}

/** The token that the server wrote into its page. */
export function tokenOf(document: Document): string {
  return document.querySelector<HTMLMetaElement>('meta[name="heedmap-token"]')?.content ?? "";
}
