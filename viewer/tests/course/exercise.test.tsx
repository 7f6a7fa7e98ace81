// @vitest-environment happy-dom
// An exercise on the page: step after step, shown after three tries, and another one after it.
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ProblemData } from "../../src/course/data";
import { Exercise } from "../../src/course/exercise";

const step = (name: string, right: number) => ({
  name,
  hint: `hint of ${name}`,
  digits: 2,
  labels: [],
  options: [],
  chains: [[right], [right]],
  mistakes: [{ name: "forgot-scale", says: "You forgot to divide by √d.", chains: [[9], [9]] }],
  asks: `<b>${name}</b>`,
});
const PROBLEMS: ProblemData[] = [
  { seed: 1, text: "<p>given <em>this</em></p>", steps: [step("first", 1), step("second", 2)] },
  { seed: 2, text: "<p>given that</p>", steps: [step("third", 3)] },
];

let root: HTMLElement;
let solved: ReturnType<typeof vi.fn<() => void>>;

beforeEach(() => {
  document.body.replaceChildren((root = document.createElement("div")));
  solved = vi.fn<() => void>();
  void act(() => render(<Exercise problems={PROBLEMS} onSolved={solved} />, root));
});

const fields = () => Array.from(root.querySelectorAll("input"));

function answer(text: string, place = fields().length - 1): void {
  const field = fields()[place]!;
  void act(() => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  void act(() => void field.form!.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true })));
}

function press(text: string): void {
  const button = Array.from(root.querySelectorAll("button")).find((one) => one.textContent === text)!;
  void act(() => button.click());
}

describe("an exercise", () => {
  it("goes on after a right step and counts when all were solved alone", () => {
    expect(root.textContent).toContain("given this");
    expect(fields()).toHaveLength(1);
    answer("9");
    expect(root.textContent).toContain("You forgot to divide by √d.");
    expect(fields()).toHaveLength(1);
    answer("1");
    expect(fields()).toHaveLength(2);
    answer("2");
    expect(root.textContent).toContain("Solved.");
    expect(solved).toHaveBeenCalledOnce();
    press("Another one");
    expect(root.textContent).toContain("given that");
  });

  it("does not count when an answer was shown", () => {
    press("Hint");
    expect(root.textContent).toContain("hint of first");
    for (let tries = 0; tries < 3; tries++) answer("5");
    press("Show me");
    expect(root.textContent).toContain("It is: 1.00");
    answer("2");
    expect(root.textContent).toContain("Worked through");
    expect(solved).not.toHaveBeenCalled();
  });

  it("does not count what cannot be read as a try", () => {
    for (let tries = 0; tries < 5; tries++) answer("many");
    expect(root.textContent).toContain("'many' is not a number.");
    expect(root.textContent).not.toContain("Show me");
  });
});
