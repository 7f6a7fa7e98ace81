// A short queue for work that nobody waits for, so that hundreds of tiny maps leave room for what is looked at.

const AT_ONCE = 4;
const waiting: (() => Promise<void>)[] = [];
let running = 0;

/** Runs the task when its turn comes; a task whose signal was aborted before is passed over. */
export function inTurn<Value>(task: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    waiting.push(async () => {
      if (signal.aborted) return reject(new DOMException("no longer wanted", "AbortError"));
      await task().then(resolve, reject);
    });
    next();
  });
}

function next(): void {
  while (running < AT_ONCE && waiting.length) {
    running++;
    void waiting.shift()!().finally(() => {
      running--;
      next();
    });
  }
}
