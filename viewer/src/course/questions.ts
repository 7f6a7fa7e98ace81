// The questions that stand in the page: a form is found by its block, and answers are told below it.

import { readAnswer, Unreadable } from "./answers";
import { checkStep, isRight } from "./check";
import type { LessonData } from "./data";
import type { Kept } from "./kept";

/** Attach every question of the page. */
export function attachQuestions(root: ParentNode, data: LessonData, kept: Kept): void {
  for (const block of root.querySelectorAll<HTMLElement>("[data-question]")) {
    const name = block.dataset.question!;
    const form = block.querySelector("form");
    if (!form) continue;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answered(block, form, name, data, kept);
    });
    if (block.dataset.kind === "checkpoint") {
      form.querySelector(".hint")?.addEventListener("click", () => say(block, data.checkpoints[name]!.hint, "hint", true));
    }
  }
  showWhatWasDone(root, kept);
}

function answered(block: HTMLElement, form: HTMLFormElement, name: string, data: LessonData, kept: Kept): void {
  const typed = String(new FormData(form).get("answer") ?? "");
  switch (block.dataset.kind) {
    case "checkpoint": {
      const verdict = checkStep(data.checkpoints[name]!, typed);
      say(block, verdict.says, isRight(verdict) ? "right" : "wrong");
      kept.change((done) => (done.checkpoints[name] ||= isRight(verdict)));
      break;
    }
    case "quiz": {
      const option = data.quiz[name]![Number(typed)];
      if (typed === "" || !option) return say(block, "Choose one first.", "wrong");
      say(block, `${option.right ? "Right." : "Not this one."} ${option.reason}`, option.right ? "right" : "wrong", true);
      kept.change((done) => (done.quiz[name] ||= option.right));
      break;
    }
    case "predict":
      return predicted(block, typed, name, data, kept);
    case "break":
      reveal(block);
      kept.change((done) => {
        if (!done.breaks.includes(name)) done.breaks.push(name);
      });
      break;
    case "explain":
      reveal(block);
      kept.change((done) => (done.explain = typed || done.explain));
  }
}

/** A prediction is made once: it is kept, and told beside what happened. */
function predicted(block: HTMLElement, typed: string, name: string, data: LessonData, kept: Kept): void {
  const known = data.predictions[name]!;
  if (!kept.get().predictions[name]) {
    if (typed === "") return say(block, "Predict first: a guess is enough.", "wrong");
    const said = known.options.length ? known.options[Number(typed)]! : typed;
    const number = known.options.length ? null : numberIn(typed);
    if (number === undefined) return say(block, "Expected a number.", "wrong");
    const near = known.within ?? 10 ** -(known.was.split(".")[1]?.length ?? 0);
    const right = number === null ? said === known.was : Math.abs(number - known.value!) <= near * 1.001;
    kept.change((done) => (done.predictions[name] = { said, right }));
  }
  const { said, right } = kept.get().predictions[name]!;
  reveal(block);
  say(block, `${right ? "As you predicted" : "Not what you predicted"}: you said ${said}, it was ${known.was}.`, right ? "right" : "wrong");
}

/** One number, as people write it; undefined when it is none. */
function numberIn(typed: string): number | undefined {
  try {
    return readAnswer({ labels: [], options: [] }, typed)[0];
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/** What was run before stays open, and an explanation that was written stays written. */
function showWhatWasDone(root: ParentNode, kept: Kept): void {
  const done = kept.get();
  for (const block of root.querySelectorAll<HTMLElement>("[data-kind=break]")) {
    if (done.breaks.includes(block.dataset.question!)) reveal(block);
  }
  const explanation = root.querySelector<HTMLTextAreaElement>("[data-kind=explain] textarea");
  if (explanation && done.explain) explanation.value = done.explain;
}

function reveal(block: HTMLElement): void {
  block.querySelector(".outcome")?.removeAttribute("hidden");
}

/** Tell something below the form. `trusted` is HTML that Heedmap wrote when the page was made; all else is text. */
function say(block: HTMLElement, text: string, tone: "right" | "wrong" | "hint", trusted = false): void {
  const said = block.querySelector<HTMLElement>(".said");
  if (!said) return;
  said.dataset.tone = tone;
  said.replaceChildren(...(trusted ? parsed(text) : [text]));
}

/** HTML of the page's own data as nodes, without anything in it that could run. */
export function parsed(text: string): Node[] {
  return Array.from(new DOMParser().parseFromString(text, "text/html").body.childNodes);
}
