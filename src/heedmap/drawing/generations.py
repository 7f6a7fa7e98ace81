"""What a model wrote, with where it looked for each token: one line a token."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from heedmap.drawing.labels import isolate, pad, printable, shorten
from heedmap.drawing.terminal import glyphs_for, line, to_text
from heedmap.reading.generation import Generation, StepRow

LONGEST_LABEL = 16
LARGEST = 3
"""How many of a row's largest weights a line names."""


def generation_lines(generation: Generation, layer: int | None = None, head: int | None = None) -> RenderableType:
    """The text, and one line for each new token: which row chose it, and its largest weights.

    Args:
        generation: what was written.
        layer: the layer whose rows are shown; None is the middle one.
        head: the head; None is the mean over heads.
    """
    return _GenerationLines(generation, [generation.row(step, layer, head) for step in range(len(generation.new))])


def generation_text(generation: Generation) -> str:
    """The same as plain text; see `Generation.__str__`."""
    return to_text(generation_lines(generation))


@dataclass(frozen=True)
class _GenerationLines:
    """The picture, drawn when the width is known."""

    generation: Generation
    rows: list[StepRow]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        encoding, first = options.encoding, self.rows[0]
        heads = "mean over heads" if first.head is None else f"head {first.head}"
        yield line(
            f"where {self.generation.model['name']} looked for each new token: layer {first.layer}, {heads}",
            encoding,
            "bold",
        )
        yield line(f"{len(self.rows)} new tokens; row i chooses token i + 1", encoding, "dim")
        yield Text("")
        labels, keys = (
            [shorten(printable(label, encoding), LONGEST_LABEL, glyphs_for(encoding).ellipsis) for label in of.labels]
            for of in (first.tokens, first.key_tokens)
        )
        places = len(str(len(labels)))
        widest = max(cell_len(labels[row.chooses]) for row in self.rows)
        for row in self.rows:
            largest = ", ".join(f"{isolate(keys[index])} {row.weights[index]:.3f}" for index in row.largest(LARGEST))
            chosen = pad(isolate(labels[row.chooses]), widest)
            text = f"row {row.query[0]:>{places}} chooses {row.chooses:>{places}} {chosen}  looks at {largest}"
            yield Text(text, overflow="fold")
