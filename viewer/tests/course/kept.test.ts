// @vitest-environment happy-dom
// What is kept by the browser, and the goals that it ticks.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { isReached, Kept, SOLVED_ENOUGH } from "../../src/course/kept";

const NAMES = { checkpoints: ["a", "b"], predictions: ["p"], quiz: ["q"], breaks: ["No softmax"] };

beforeEach(() => localStorage.clear());

describe("what was done", () => {
  it("is there again on the next visit, lesson by lesson", () => {
    new Kept("one").change((done) => (done.quiz.q = true));
    expect(new Kept("one").get().quiz).toEqual({ q: true });
    expect(new Kept("two").get().quiz).toEqual({});
  });

  it("lasts as long as the page where nothing can be kept", () => {
    const refused = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new Error("no room");
    });
    const kept = new Kept("one");
    kept.change((done) => (done.explain = "words"));
    expect(kept.get().explain).toBe("words");
    refused.mockRestore();
  });

  it("is begun anew where what was kept is damaged", () => {
    localStorage.setItem("heedmap-lesson-one", "{");
    expect(new Kept("one").get().breaks).toEqual([]);
  });

  it("tells its followers at once and after each change", () => {
    const kept = new Kept("one");
    const told: boolean[] = [];
    kept.follow((done) => told.push(isReached("quiz", done, NAMES)));
    kept.change((done) => (done.quiz.q = true));
    expect(told).toEqual([false, true]);
  });
});

describe("a goal", () => {
  it("is ticked by doing", () => {
    const { done } = { done: new Kept("one").get() };
    const goals = ["checkpoints", "predictions", "quiz", "breaks", "explain", "exercise attend 1", "code softmax"];
    expect(goals.map((goal) => isReached(goal, done, NAMES))).toEqual(goals.map(() => false));
    Object.assign(done, {
      checkpoints: { a: true, b: true },
      predictions: { p: { said: "x", right: false } },
      quiz: { q: true },
      breaks: ["No softmax"],
      explain: "words",
      exercises: { "attend 1": SOLVED_ENOUGH },
    });
    expect(goals.map((goal) => isReached(goal, done, NAMES))).toEqual([...goals.slice(1).map(() => true), false]);
  });
});
