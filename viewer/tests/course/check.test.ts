// Answers are checked as Python checks them: the same verdict on each of the answers that Python wrote down.
import { describe, expect, it } from "vitest";
import { choose, readAnswer, Unreadable } from "../../src/course/answers";
import { checkStep } from "../../src/course/check";
import type { ProblemData, StepData } from "../../src/course/data";
import { followed } from "../../src/course/follow";
import content from "./verdicts.json";

interface Exercise {
  problem: ProblemData;
  said: [typed: string, outcome: string, says: string, mistake: string | null][][];
}
interface Slip {
  problem: ProblemData;
  said: [own: number[][], typed: string, outcome: string][];
}
const { exercises, slips } = content as unknown as { exercises: Exercise[]; slips: Slip[] };

describe("an answer", () => {
  for (const [index, { problem, said }] of exercises.entries()) {
    it(`gets Python's verdict in exercise ${index}`, () => {
      for (const [place, step] of problem.steps.entries()) {
        for (const [typed, outcome, says, mistake] of said[place]!) {
          const verdict = checkStep(step, typed);
          const where = `${index} ${step.name} ${JSON.stringify(typed)}`;
          expect([where, verdict.outcome, verdict.mistake]).toEqual([where, outcome, mistake]);
          if (outcome !== "unreadable") expect([where, verdict.says]).toEqual([where, says]);
        }
      }
    });
  }

  it("that follows from a slip is told so, by the shared arithmetic", () => {
    let steps = 0;
    for (const { problem, said } of slips) {
      for (const [index, [own, typed, outcome]] of said.entries()) {
        expect(checkStep(problem.steps[index + 1]!, typed, own).outcome).toBe(outcome);
        steps += Number(outcome === "follows");
      }
    }
    expect(steps).toBeGreaterThanOrEqual(9);
  });

  it("is read as people write numbers", () => {
    const two: Pick<StepData, "labels" | "options"> = { labels: ["cat", "sat"], options: [] };
    const one: Pick<StepData, "labels" | "options"> = { labels: [], options: [] };
    expect(readAnswer(two, "[0.5, .5]")).toEqual([0.5, 0.5]);
    expect(readAnswer(two, "cat 1/2; Sat: 25%")).toEqual([0.5, 0.25]);
    expect(readAnswer(two, "−1 +2")).toEqual([-1, 2]);
    expect(readAnswer(one, "0,38")).toEqual([0.38]);
    for (const wrong of ["", "0.5", "half half", "1/0 1", "NaN 1", "Infinity 1", "1e3 1"]) {
      expect(() => readAnswer(two, wrong), wrong).toThrow(Unreadable);
    }
  });

  it("may be a word, its number, its letter or its beginning", () => {
    const words = ["less than a half", "more than a half", "all"];
    expect(["All", "2", "a", "c", "more", '"all"'].map((typed) => choose(words, typed))).toEqual([2, 1, 0, 2, 1, 2]);
    expect(() => choose(words, "m o r e")).toThrow("expected one of");
  });
});

describe("what follows from one's own numbers", () => {
  it("is nothing where they cannot be worked with", () => {
    expect(followed({ how: "weights", from: 0 }, [[0, 0]])).toBeNull();
    expect(followed({ how: "exponentials", from: 0, allowed: [true] }, [[1e9]])).toBeNull();
    expect(followed({ how: "scale", from: 3, by: 2 }, [[1]])).toBeNull();
  });

  it("leaves out what may not be seen", () => {
    expect(followed({ how: "exponentials", from: 0, allowed: [true, false] }, [[0, 9]])).toEqual([1, 0]);
    expect(followed({ how: "weights", from: 0 }, [[3, 0, 1]])!.map((one) => Number(one.toFixed(9)))).toEqual([0.75, 0, 0.25]);
  });
});
