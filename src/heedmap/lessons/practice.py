"""One exercise in the terminal, step by step, with hints; solved without help, it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from heedmap.drawing.labels import encodable
from heedmap.lessons.exercises.checking import check_step
from heedmap.lessons.exercises.problem import Answer, Problem, Step
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.progress import Progress

TRIES = 3
"""So often a step may be tried before its answer is shown."""


def practise(
    name: str,
    level: int,
    seed: int,
    console: Console,
    ask: Callable[[str], str],
    progress: Progress,
    lessons: Sequence[str],
) -> bool:
    """Work one exercise.

    Args:
        name: the generator.
        level: 1 to 3.
        seed: which of its exercises.
        console: where it is shown.
        ask: asks for a line.
        progress: where it is kept.
        lessons: the slugs of the lessons it counts for.

    Returns:
        Whether it was solved without an answer being shown.
    """
    problem = generator(name).problem(level, seed)
    key = f"{name} {level}"
    for slug in lessons:
        with progress.changing(slug) as kept:
            kept.setdefault("begun", {})[key] = max(seed, kept.get("begun", {}).get(key, 0))
    console.print(Text(f"exercise {name}, level {level}, number {seed}", style="dim"))
    show(problem.text, console)
    own: list[Answer] = []
    alone = True
    for index, step in enumerate(problem.steps):
        show(question(problem, index), console)
        answer = _one_step(problem, index, own, console, ask)
        if answer is None:
            alone = False
            console.print(f"It is: {problem.shown(index)}")
            answer = tuple(round(one, step.digits) for one in problem.exact()[index])
        own.append(answer)
    if alone:
        for slug in lessons:
            with progress.changing(slug) as kept:
                solved = kept.setdefault("exercises", {})
                solved[key] = solved.get(key, 0) + 1
    console.print("Solved." if alone else "Worked through; another one will go better.")
    return alone


def question(problem: Problem, index: int) -> str:
    """One step's question, with how its answer is to be written, in Markdown."""
    step = problem.steps[index]
    even = all(abs(one - round(one)) < 1e-9 for one in problem.exact()[index])
    return f"**{index + 1}. {step.name}**: {step.question}{how(step, even=even)}"


def how(step: Step, *, even: bool) -> str:
    """How the answer of a step is to be written.

    Args:
        step: which.
        even: whether only whole numbers are expected, so that there are no digits to speak of.

    Example:
        >>> how(Step("the scores", "", lambda done: (0.5, 0.0), "", labels=("The", "cat")), even=False)
        ' (2 numbers: The, cat; 2 digits after the point)'
    """
    if step.options:
        return f" ({' / '.join(step.options)})"
    several = [f"{len(step.labels)} numbers: {', '.join(step.labels)}"] if len(step.labels) > 1 else []
    digits = "to the nearest whole number" if step.digits == 0 else f"{step.digits} digits after the point"
    parts = [*several, *([] if even else [digits])]
    return f" ({'; '.join(parts)})" if parts else ""


def show(text: str, console: Console) -> None:
    """Markdown on a terminal, in characters it has."""
    console.print(Markdown(encodable(text, console.encoding), hyperlinks=False))


def _one_step(
    problem: Problem, index: int, own: Sequence[Answer], console: Console, ask: Callable[[str], str]
) -> Answer | None:
    """The learner's right answer to a step, or `None` when it has to be shown."""
    tries = 0
    while tries < TRIES:
        typed = ask("your answer (? for a hint, Enter to be shown): ")
        if not typed:
            return None
        if typed == "?":
            console.print(encodable(problem.steps[index].hint, console.encoding))
            continue
        verdict = check_step(problem, index, typed, own)
        console.print(encodable(verdict.says, console.encoding))
        if verdict.is_right:
            return verdict.answer
        tries += verdict.outcome != "unreadable"
    return None
