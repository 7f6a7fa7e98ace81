// Learn: the lessons of the course, each a page of its own with its live pieces.
import { useEffect, useState } from "preact/hooks";
import { Reason } from "../app/parts";
import type { Api } from "./api";

interface Lesson {
  number: number;
  page: string;
  title: string;
  minutes: number | null;
}

export function LearnRoom({ api }: { api: Api }) {
  const [lessons, setLessons] = useState<Lesson[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    api.json<{ lessons: Lesson[] }>("/api/lessons").then((told) => setLessons(told.lessons), (error: Error) => setFault(error.message));
  }, []);
  return (
    <section class="panel lessons" aria-labelledby="learn-course">
      <h2 id="learn-course">The course</h2>
      <p class="lead">From four words worked by hand to a claim that was tested. Start at the first.</p>
      {fault ? <Reason>{fault}</Reason> : null}
      <ol>
        {lessons.map((lesson) => (
          <li key={lesson.page}>
            <a href={`/learn/${lesson.page}`}>
              {lesson.number} {lesson.title}
            </a>{" "}
            {lesson.minutes === null ? null : <small>{lesson.minutes} min</small>}
          </li>
        ))}
      </ol>
    </section>
  );
}
