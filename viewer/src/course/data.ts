// What stands beside a lesson's page as JSON: the right and the wrong numbers of its questions (heedmap/lesson/1).

/** How a step follows from an earlier one of the learner's own, so that a slip is not punished twice. */
export type Follows =
  | { how: "scale"; from: number; by: number }
  | { how: "exponentials"; from: number; allowed: boolean[] }
  | { how: "weights"; from: number }
  | { how: "blend"; from: number; values: number[][] };

export interface StepData {
  name: string;
  hint: string;
  digits: number;
  /** What each number belongs to; empty where one number is asked for. */
  labels: string[];
  /** Words to choose from; then a chain holds the place of the right one. */
  options: string[];
  /** The right numbers: from exact steps before, and from steps that were rounded. */
  chains: number[][];
  mistakes: { name: string; says: string; chains: number[][] }[];
  follows?: Follows;
  /** The question as HTML; of exercises only. */
  asks?: string;
  /** How far a number may be off, where a checkpoint says so. */
  within?: number | null;
}

export interface ProblemData {
  seed: number;
  text: string;
  steps: StepData[];
}

export interface LessonData {
  schema: "heedmap/lesson/1";
  slug: string;
  checkpoints: Record<string, StepData>;
  predictions: Record<string, { options: string[]; was: string; value: number | null; within: number | null }>;
  quiz: Record<string, { right: boolean; reason: string }[]>;
  exercises: Record<string, ProblemData[]>;
}

/** The data of the page; null on a page without any (the list, the glossary). */
export function lessonData(document: Document): LessonData | null {
  const text = document.getElementById("heedmap-lesson")?.textContent;
  if (!text) return null;
  const data = JSON.parse(text) as LessonData;
  if (data.schema !== "heedmap/lesson/1") throw new Error(`this page's data is ${data.schema}, and not heedmap/lesson/1`);
  return data;
}
