"""Each piece of a lesson as HTML; what is to be answered is found by the site's program by its `data-` attributes."""

from __future__ import annotations

from collections.abc import Sequence

from heedmap.lessons import blocks
from heedmap.lessons.exercises.registry import generator
from heedmap.lessons.figures import Calculator
from heedmap.lessons.languages import LANGUAGES
from heedmap.lessons.live import split_call
from heedmap.lessons.questions import filled_options, shown_checkpoint
from heedmap.lessons.site.maps import map_name
from heedmap.lessons.site.text import escaped, inline, lines, paragraphs


class PieceWriter:
    """Writes the pieces of one lesson.

    Args:
        lesson: whose pieces they are.
        calculator: computes the live numbers.
        answers: whether questions come with their answers.
        maps: whether the pages of its real models stand beside it.
    """

    def __init__(
        self, lesson: blocks.Lesson, calculator: Calculator, *, answers: bool = False, maps: bool = False
    ) -> None:
        self.lesson, self.calculator, self.answers, self.maps = lesson, calculator, answers, maps

    def html(self, piece: blocks.Piece) -> str:
        """One piece as HTML."""
        if isinstance(piece, blocks.Markdown):
            return paragraphs(self.fill(piece.text, piece.line))
        if isinstance(piece, blocks.Prose):
            title = f"{blocks.PROSE[piece.kind]}: {piece.title}" if piece.title else blocks.PROSE[piece.kind]
            return self._block(piece.kind, title, paragraphs(self.fill(piece.text, piece.line)))
        if isinstance(piece, blocks.Words):
            return self._words(piece)
        if isinstance(piece, blocks.Diagram):
            drawn = self.calculator.fill_diagram(piece.text, self.lesson, piece.line)
            caption = f"<figcaption>{escaped(piece.title)}</figcaption>"
            return f'<figure class="diagram">{lines(drawn, piece.title)}{caption}</figure>'
        if isinstance(piece, blocks.Live):
            text = paragraphs(self.fill(piece.text, piece.line)) if piece.text else ""
            return f'<div class="live">{self.run(piece.call, piece.line)}{text}</div>'
        if isinstance(piece, blocks.View):
            return self._view(piece)
        if isinstance(piece, blocks.Time):
            return f'<p class="time">about {piece.minutes} minutes</p>'
        if isinstance(piece, blocks.Numbers):
            return ""
        if isinstance(piece, blocks.Done):
            return self._done(piece)
        if isinstance(piece, blocks.Languages):
            return self._languages(piece)
        return self._question(piece)

    def fill(self, text: str, line: int) -> str:
        """Markdown with its figures."""
        return self.calculator.fill(text, self.lesson, line)

    def run(self, call: str, line: int) -> str:
        """What a computation gives; a worked example can be changed by hand."""
        full = self.lesson.numbers.get(call.strip(), call)
        figure = self.calculator.figure(full, self.lesson, line)
        computation, arguments = split_call(full)
        hand = ""
        if computation.name == "table" and not arguments.options:
            name = escaped(arguments.words[0])
            hand = f'<div data-hand="{name}"><button type="button">Change the numbers</button></div>'
        return lines(figure.text, "What comes out") + hand

    def _view(self, piece: blocks.View) -> str:
        """A text read by a real model: its page, where that stands beside this one, and the command."""
        text = paragraphs(self.fill(piece.text, piece.line)) if piece.text else ""
        command = f'<p class="aside">The same on your machine: <code>{escaped(piece.command)}</code></p>'
        if not self.maps:
            return f'<div class="view">{text}{command}</div>'
        name, title = escaped(map_name(self.lesson, piece)), escaped(f"Where a model looks in: {piece.words}")
        frame = f'<iframe class="map" src="{name}" title="{title}" loading="lazy"></iframe>'
        return f'<div class="view">{text}{frame}<p><a href="{name}">The map as a page of its own</a></p>{command}</div>'

    def _question(self, piece: blocks.Piece) -> str:
        """A block that asks for something to be done."""
        if isinstance(piece, blocks.Checkpoint):
            answer = shown_checkpoint(piece, self.lesson, self.calculator)
            body = (
                paragraphs(self.fill(piece.question, piece.line)) + _answer_form(bool(piece.hint)) + self._told(answer)
            )
            return self._block("checkpoint", "Checkpoint", body, piece.name)
        if isinstance(piece, blocks.Predict):
            return self._predict(piece)
        if isinstance(piece, blocks.Break):
            outcome = self.run(piece.run, piece.line) + paragraphs(self.fill(piece.wrong, piece.line))
            form = (
                '<form><label>What will go wrong? <input name="answer" autocomplete="off"></label> '
                '<button type="submit">Run it</button></form>'
            )
            body = paragraphs(self.fill(piece.text, piece.line)) + form + self._outcome(outcome)
            return self._block("break", f"Break it: {piece.title}", body, piece.title)
        if isinstance(piece, blocks.Quiz):
            return self._quiz(piece)
        if isinstance(piece, blocks.Explain):
            return self._explain(piece)
        if isinstance(piece, blocks.Exercise):
            kind = generator(piece.generator)
            title = f"Exercise: {kind.says}, level {piece.level} ({kind.levels[piece.level - 1]})"
            command = f"heedmap learn exercise {piece.generator} {piece.level}"
            body = (
                paragraphs(self.fill(piece.text, piece.line))
                + f'<div data-exercise="{piece.generator} {piece.level}"></div>'
            )
            return self._block("exercise", title, body + f'<p class="aside">Without end: <code>{command}</code></p>')
        assert isinstance(piece, blocks.Code)
        body = (
            paragraphs(self.fill(piece.text, piece.line)) + "<p>Then: <code>heedmap learn check YOUR-FILE.py</code></p>"
        )
        return self._block("code", f"Write {piece.function}", body)

    def _predict(self, piece: blocks.Predict) -> str:
        """A prediction to be made before what happens is shown."""
        options = filled_options(piece, self.lesson, self.calculator)
        field = _radios(piece.name, [escaped(one) for one in options]) if options else _NUMBER
        form = f'<form>{field}<button type="submit">Predict, then run</button></form>'
        outcome = self.run(piece.run, piece.line) + paragraphs(self.fill(piece.then, piece.line))
        body = paragraphs(self.fill(piece.question, piece.line)) + form + _SAID + self._outcome(outcome)
        return self._block("predict", "Predict, then run", body, piece.name)

    def _quiz(self, piece: blocks.Quiz) -> str:
        """A question with answers to choose from."""
        texts = [inline(self.fill(one.text, piece.line)) for one in piece.options]
        form = f'<form>{_radios(piece.name, texts)}<button type="submit">Check</button></form>{_SAID}'
        told = ""
        if self.answers:
            marks = ("wrong", "right")
            reasons = "".join(
                f"<li><b>{marks[one.right]}</b> {inline(self.fill(one.reason, piece.line))}</li>"
                for one in piece.options
            )
            told = f"<details><summary>The answers</summary><ol>{reasons}</ol></details>"
        return self._block("quiz", "Quiz", paragraphs(self.fill(piece.question, piece.line)) + form + told, piece.name)

    def _explain(self, piece: blocks.Explain) -> str:
        """Room for an explanation, and what a good one holds."""
        holds = "".join(f"<li>{inline(self.fill(one, piece.line))}</li>" for one in piece.holds)
        outcome = f"<p>A good answer holds:</p><ul>{holds}</ul>"
        field = '<label>In your words<textarea name="answer" rows="6"></textarea></label>'
        form = f'<form>{field}<button type="submit">Compare</button></form>'
        body = paragraphs(self.fill(piece.prompt, piece.line)) + form + self._outcome(outcome)
        return self._block("explain", "Explain it without notes", body, "explain")

    def _words(self, piece: blocks.Words) -> str:
        """The words a lesson adds."""
        terms = "".join(
            f"<div><dt>{escaped(term)}</dt><dd>{inline(self.fill(says, piece.line))}</dd></div>"
            for term, says in piece.terms.items()
        )
        return self._block("words", "New words", f"<dl>{terms}</dl>")

    def _done(self, piece: blocks.Done) -> str:
        """The goals; the program ticks those that are reached."""
        goals = "".join(
            f'<li data-goal="{escaped(" ".join(goal.deed))}"><span class="tick" aria-hidden="true">☐</span> '
            f"{inline(self.fill(goal.text, piece.line))} "
            f'<span class="state">{"by heedmap learn check" if goal.deed[0] == "code" else "not yet"}</span></li>'
            for goal in piece.goals
        )
        return self._block("done", "You are done when you can …", f"<ul>{goals}</ul>")

    def _languages(self, piece: blocks.Languages) -> str:
        """One function in every language, side by side where there is room."""
        parts = "".join(
            f"<section><h3>{one.name}</h3>{lines(one.function(piece.function), one.name)}</section>"
            for one in LANGUAGES
        )
        return f'{paragraphs(self.fill(piece.text, piece.line))}<div class="languages">{parts}</div>'

    def _block(self, kind: str, title: str, body: str, name: str = "") -> str:
        """A block with its heading."""
        question = f' data-question="{escaped(name)}"' if name else ""
        return f'<section class="block {kind}" data-kind="{kind}"{question}><h3>{inline(title)}</h3>{body}</section>'

    def _told(self, answer: str) -> str:
        """The answer, for a teacher."""
        return f"<details><summary>The answer</summary><p>{escaped(answer)}</p></details>" if self.answers else ""

    def _outcome(self, html: str) -> str:
        """What is shown once it was run."""
        return f'<div class="outcome"{"" if self.answers else " hidden"}>{html}</div>'


_SAID = '<p class="said" role="status"></p>'
_NUMBER = '<label>Your prediction <input name="answer" autocomplete="off" inputmode="decimal"></label> '


def _answer_form(hint: bool) -> str:
    """A field for an answer."""
    button = ' <button type="button" class="hint">Hint</button>' if hint else ""
    return (
        '<form><label>Your answer <input name="answer" autocomplete="off"></label> '
        f'<button type="submit">Check</button>{button}</form>{_SAID}'
    )


def _radios(name: str, texts: Sequence[str]) -> str:
    """Things to choose from."""
    choices = "".join(
        f'<label><input type="radio" name="answer" value="{index}"> <span>{text}</span></label>'
        for index, text in enumerate(texts)
    )
    return f'<fieldset><legend class="spoken">Answers ({escaped(name)})</legend>{choices}</fieldset>'
