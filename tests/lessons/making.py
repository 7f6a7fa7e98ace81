"""Lessons made for tests."""

from __future__ import annotations

from pathlib import Path

from heedmap.lessons.blocks import Lesson
from heedmap.lessons.parse import parse

PATH = Path("01-a-lesson.md")


def lesson(body: str, path: Path = PATH) -> Lesson:
    """A lesson with this text below its title."""
    return parse(f"# A lesson\n\n{body}", path)


EVERYTHING = """\
::: time 10 minutes
:::

::: point
One line, with {{weight cat cat}}.
:::

::: opening
Why?
:::

::: comparison A meeting
Everybody speaks.
:::

::: words
key: what it is found by,
  told in two lines
value: what it carries
:::

::: numbers
w = weight cat cat
:::

::: diagram A box
[{{w}}]|
:::

::: live table cat
Look at it.
:::

::: view "The cat sat" word=sat layer=16
Look through it.
:::

## The idea

Text with {{w}} in it.

::: checkpoint first
How much?
answer: {{w}}
hint: Less than a half.
wrong {{product cat cat}}: That is the product.
:::

::: predict second
Which word?
- The
- cat
answer: {{largest cat}}
run: table cat
then: It was {{largest cat}}.
:::

::: break No softmax
Leave it out.
run: table cat softmax=no
wrong: The sum is {{weights-sum cat softmax=no}}.
:::

::: myth It is a reason.
It is a share.
:::

::: mistake The root
Forgotten.
:::

::: trade-off Sharp or soft
Both cost.
:::

::: exercise attend 1
Begin here.
:::

::: code softmax
Write it.
:::

::: languages softmax
Side by side.
:::

::: quiz third
Which?
- [ ] This.
  No.
- [x] That.
  Yes:
  it is.
:::

::: explain
Tell it.
- a point
- another,
  longer one
:::

::: deeper More
Text.
:::

::: stuck
- Breathe.
:::

::: reading
- [Paper](https://arxiv.org/abs/1706.03762)
:::

::: done
- checkpoints: answer
- predictions: predict
- breaks: break
- quiz: choose
- exercise attend 1: work it
- explain: tell it
- code softmax: write it
:::

::: recap
All of it.
:::
"""
"""A lesson with every kind of block."""
