// The course's site: finds the questions, exercises and worked examples of a page and brings them to life.

import { render } from "preact";
import { useState } from "preact/hooks";
import { themeAround } from "../app/theme";
import { HandExample } from "../steps/hand-example";
import "../theme.css";
import "./course.css";
import { lessonData, type LessonData } from "./data";
import { Exercise } from "./exercise";
import { isReached, Kept } from "./kept";
import { attachQuestions } from "./questions";

function start(): void {
  const root = document.getElementById("heedmap");
  if (!root) return;
  root.dataset.theme = themeAround();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (root.dataset.theme = themeAround()));
  for (const place of root.querySelectorAll<HTMLElement>("[data-hand]")) openByHand(place);
  const data = lessonData(document);
  if (!data) return;
  const kept = new Kept(data.slug);
  attachQuestions(root, data, kept);
  for (const place of root.querySelectorAll<HTMLElement>("[data-exercise]")) {
    const kind = place.dataset.exercise!;
    const solved = () => kept.change((done) => (done.exercises[kind] = (done.exercises[kind] ?? 0) + 1));
    render(<Exercise problems={data.exercises[kind]!} onSolved={solved} />, place);
  }
  tickGoals(root, data, kept);
}

/** A worked example opens when somebody wants to change its numbers. */
function openByHand(place: HTMLElement): void {
  const name = place.dataset.hand!;
  place.querySelector("button")?.addEventListener("click", () => {
    place.replaceChildren();
    render(<ByHand name={name} />, place);
  });
}

function ByHand({ name }: { name: string }) {
  const [state, setState] = useState("");
  return <HandExample state={state} onState={setState} theme={themeAround()} only={name} />;
}

/** The goals follow what is done. */
function tickGoals(root: ParentNode, data: LessonData, kept: Kept): void {
  const breaks = Array.from(root.querySelectorAll<HTMLElement>("[data-kind=break]"), (one) => one.dataset.question!);
  const names = {
    checkpoints: Object.keys(data.checkpoints),
    predictions: Object.keys(data.predictions),
    quiz: Object.keys(data.quiz),
    breaks,
  };
  kept.follow((done) => {
    for (const goal of root.querySelectorAll<HTMLElement>('[data-goal]:not([data-goal^="code "])')) {
      const reached = isReached(goal.dataset.goal!, done, names);
      goal.querySelector(".tick")!.textContent = reached ? "☑" : "☐";
      goal.querySelector(".state")!.textContent = reached ? "done" : "not yet";
    }
  });
}

start();
