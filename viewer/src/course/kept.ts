// What a learner has done, kept by the browser; where it keeps nothing, it lasts as long as the page.

/** So many exercises of a kind, solved without help, tick a goal. */
export const SOLVED_ENOUGH = 3;

export interface Done {
  checkpoints: Record<string, boolean>;
  predictions: Record<string, { said: string; right: boolean }>;
  quiz: Record<string, boolean>;
  breaks: string[];
  explain: string;
  exercises: Record<string, number>;
}

const EMPTY: Done = { checkpoints: {}, predictions: {}, quiz: {}, breaks: [], explain: "", exercises: {} };

export class Kept {
  private done: Done;
  private listeners: ((done: Done) => void)[] = [];

  constructor(private readonly slug: string) {
    this.done = { ...structuredClone(EMPTY), ...this.load() };
  }

  get(): Done {
    return this.done;
  }

  /** Change something and keep it. */
  change(how: (done: Done) => void): void {
    how(this.done);
    try {
      localStorage.setItem(this.key, JSON.stringify(this.done));
    } catch {
      // A private window, or no room: it lasts as long as the page.
    }
    for (const listener of this.listeners) listener(this.done);
  }

  /** Told at once, and after every change. */
  follow(listener: (done: Done) => void): void {
    this.listeners.push(listener);
    listener(this.done);
  }

  private get key(): string {
    return `heedmap-lesson-${this.slug}`;
  }

  private load(): Partial<Done> {
    try {
      const value: unknown = JSON.parse(localStorage.getItem(this.key) ?? "{}");
      return value && typeof value === "object" ? (value as Partial<Done>) : {};
    } catch {
      return {};
    }
  }
}

/** Whether a goal is reached, by its deed: "quiz", "exercise attend 2" ... */
export function isReached(deed: string, done: Done, names: { checkpoints: string[]; predictions: string[]; quiz: string[]; breaks: string[] }): boolean {
  const [kind, ...rest] = deed.split(" ");
  switch (kind) {
    case "quiz":
      return names.quiz.every((name) => done.quiz[name]);
    case "checkpoints":
      return names.checkpoints.every((name) => done.checkpoints[name]);
    case "predictions":
      return names.predictions.every((name) => done.predictions[name]);
    case "breaks":
      return names.breaks.every((name) => done.breaks.includes(name));
    case "explain":
      return done.explain.trim() !== "";
    case "exercise":
      return (done.exercises[rest.join(" ")] ?? 0) >= SOLVED_ENOUGH;
    default:
      return false; // code is checked by `heedmap learn check`, not here
  }
}
