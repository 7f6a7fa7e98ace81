// @vitest-environment happy-dom
// The questions of a page: what is told, what is kept, and that text stays text.
import { beforeEach, describe, expect, it } from "vitest";
import type { LessonData } from "../../src/course/data";
import { Kept } from "../../src/course/kept";
import { attachQuestions } from "../../src/course/questions";

const DATA: LessonData = {
  schema: "heedmap/lesson/1",
  slug: "one",
  checkpoints: {
    half: { name: "half", hint: "Divide <b>1</b>.", digits: 2, labels: [], options: [], chains: [[0.5], [0.5]], mistakes: [] },
  },
  predictions: { number: { options: [], was: "0.38", value: 0.38, within: 0.05 }, word: { options: ["less", "more"], was: "more", value: null, within: null } },
  quiz: { which: [{ right: false, reason: "No <em>way</em>." }, { right: true, reason: "Yes." }] },
  exercises: {},
};

const SAID = '<p class="said" role="status"></p>';
const OUTCOME = '<div class="outcome" hidden>It was.</div>';

function page(kind: string, name: string, fields: string, after = SAID): HTMLElement {
  document.body.innerHTML = `<section data-kind="${kind}" data-question="${name}"><form>${fields}<button>Go</button></form>${after}</section>`;
  return document.querySelector("section")!;
}

function submit(block: HTMLElement): void {
  block.querySelector("form")!.dispatchEvent(new Event("submit", { cancelable: true }));
}

const told = (block: HTMLElement) => block.querySelector(".said")!.textContent;

beforeEach(() => localStorage.clear());

describe("a checkpoint", () => {
  it("is told, kept when right, and stays right", () => {
    const kept = new Kept("one");
    const block = page("checkpoint", "half", '<input name="answer"><button type="button" class="hint">Hint</button>');
    attachQuestions(document, DATA, kept);
    const field = block.querySelector("input")!;
    field.value = "<img src=x>";
    submit(block);
    expect(told(block)).toContain("<img");
    expect(block.querySelector("img")).toBeNull();
    block.querySelector<HTMLButtonElement>(".hint")!.click();
    expect(block.querySelector(".said b")?.textContent).toBe("1");
    for (const [typed, right] of [["0,5", true], ["7", true]] as const) {
      field.value = typed;
      submit(block);
      expect(kept.get().checkpoints.half).toBe(right);
    }
    expect(told(block)).toBe("Not right.");
  });
});

describe("a prediction", () => {
  it("is made once, and only then is the outcome shown", () => {
    const kept = new Kept("one");
    const block = page("predict", "number", '<input name="answer">', SAID + OUTCOME);
    attachQuestions(document, DATA, kept);
    const outcome = block.querySelector(".outcome")!;
    const field = block.querySelector("input")!;
    for (const typed of ["", "much"]) {
      field.value = typed;
      submit(block);
      expect(outcome.hasAttribute("hidden")).toBe(true);
    }
    for (const typed of ["0,42", "0.9"]) {
      field.value = typed;
      submit(block);
      expect(told(block)).toBe("As you predicted: you said 0,42, it was 0.38.");
    }
    expect(outcome.hasAttribute("hidden")).toBe(false);
  });

  it("of a word is compared with what happened", () => {
    const kept = new Kept("one");
    const block = page("predict", "word", '<input type="radio" name="answer" value="0" checked>', SAID + OUTCOME);
    attachQuestions(document, DATA, kept);
    submit(block);
    expect(told(block)).toBe("Not what you predicted: you said less, it was more.");
    expect(kept.get().predictions.word).toEqual({ said: "less", right: false });
  });
});

describe("a quiz", () => {
  it("gives the reason of the answer that was chosen", () => {
    const block = page("quiz", "which", '<input type="radio" name="answer" value="0">');
    attachQuestions(document, DATA, new Kept("one"));
    submit(block);
    expect(told(block)).toBe("Choose one first.");
    block.querySelector("input")!.checked = true;
    submit(block);
    expect(told(block)).toBe("Not this one. No way.");
    expect(block.querySelector(".said em")?.textContent).toBe("way");
  });
});

describe("what was broken and explained", () => {
  it("is open and written again on the next visit", () => {
    const kept = new Kept("one");
    const broken = page("break", "No softmax", '<input name="answer">', OUTCOME);
    attachQuestions(document, DATA, kept);
    submit(broken);
    expect(kept.get().breaks).toEqual(["No softmax"]);
    const again = page("break", "No softmax", '<input name="answer">', OUTCOME);
    attachQuestions(document, DATA, new Kept("one"));
    expect(again.querySelector(".outcome")!.hasAttribute("hidden")).toBe(false);

    const explain = page("explain", "explain", '<textarea name="answer">words</textarea>', OUTCOME);
    attachQuestions(document, DATA, kept);
    submit(explain);
    page("explain", "explain", '<textarea name="answer"></textarea>', OUTCOME);
    attachQuestions(document, DATA, new Kept("one"));
    expect(document.querySelector("textarea")!.value).toBe("words");
  });
});
