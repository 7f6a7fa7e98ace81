"""Writes docs/conformance.md from the tables of families that the tests compare with eager attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
import transformers
from tests.conformance import SIDES, agreement, own_code_agreement, watched_agreement
from tests.families import FAMILIES, OWN_CODE, REFUSED
from tests.watched_families import WATCHED

from heedmap.reading.generate import NOT_ONE_ROW
from heedmap.reading.own_code import NO_PLAIN_MAP
from heedmap.reading.picture_reading import LANGUAGE_MODELS

INTRODUCTION = """\
# Families that are read

Written by `make docs` from the tables that the tests use (`tests/families.py`, `tests/watched_families.py`): each
family is made small, with random weights large enough that attention is far from uniform, run in float32 with the
reading and without it, and every weight of every real token is compared with what eager attention reports
(`output_attentions=True`). “Differs by” is the next power of ten above the largest difference, over two texts without
padding and with padding on the left and on the right. Scores of a few units leave about 1e-6 of rounding in float32.

A model is checked again when it is first used: it must say the same with the reading as without, and the weights must
blend the values into each layer's own output. What is not known to be read rightly is refused by name.

## Versions

The whole suite (`make test`) passes with Python 3.11 and the oldest packages that are allowed (`make test-oldest`), and
with the newest Python and packages; between them as far as the table says. Run on 2026-11-30, Linux on x86_64:

| Python | torch | transformers | the rest | tests |
|---|---|---|---|---|
| 3.11.7 | 2.9.0 | 5.23.0 | the oldest that are allowed | all |
| 3.11.7 | 2.13.0 | 5.24.0 | the newest | all |
| 3.12.1 | 2.14.1 | 5.24.0 | the newest | arithmetic, text, models, reading |
| 3.13.0 | 2.15.0 | 5.24.0 | the newest | arithmetic, text, models, reading, drawing, commands |
| 3.14.10 | 2.15.0 | 5.24.0 | the newest | all but 15 |

The machine with 3.14 had no C compiler, few fonts and no terminals: the 15 tests that want one of them did not pass
there.

GPT-J and CodeGen have attention code of their own before transformers 5.24 and are refused there. Older transformers
make wrong tokenizers from GGUF files; before torch 2.9 its fused operator is wrong where heads share keys. What follows
was measured with transformers {transformers}, torch {torch}.
"""

TAPPED = """\
## During the plain forward pass

The model runs as always; its attention calls are heard, and each weight is computed from query, key and the row's
log-sum-exp when somebody looks. Memory grows with the length of the text.
"""

OWN = """\
## From the weights that the model makes anyway

These families have attention code of their own, which makes the whole map of a layer. They are run with eager
attention, a layer's map is taken as it passes, and only the maps of the layers asked for are kept: memory grows with
the square of the length. Scores and values are not heard, so that there is no explanation. One text at a time.
"""

WATCHING = """\
## Pictures and sound

`model.read_picture(picture)` and `model.read_picture(picture, text)` go through the model's own processor; patches are
named by row and column (`r0c0`), in the text of a vision-language model too, and the picture is kept to draw on. How a
picture's tokens lie in a text is known for {language}; others are refused by name. `model.read_sound(sound, target)`
reads Whisper, its frames named by their time. A text alone is refused by models that need more.

Any forward call of your own is read inside `with heedmap.watch(module) as watched:`. Pictures are
`watched.forwards[0].pictures`, a reading each; stacks of layers are kept apart by `stack=`.
"""

GENERATION = """\
## Generation

`model.generate(text)` and `heedmap read TEXT --generate 20` keep the row that chose each new token, with the model's
own caches and with fixed ones, greedy, sampled and by beams; a beam's rows follow the beam. At the first use of each
kind of cache, the model must write the same with the reading as without, and its rows must be those of one pass over
the same text. Families with attention code of their own are read whole afterwards (`model.read`). Several texts at
once, and ways of writing in which a token is not chosen by the one row before it, are refused by name:
"""

REFUSED_BY_NAME = """\
## Refused by name

These families are known not to be read rightly, or have no weight from every token to every token. Others that nobody
has tried are refused too, by the check at their first use, where they do not come out right.
"""


def page(measure: Callable[[str], str]) -> str:
    """The page, with each family's largest difference in words by `measure`."""
    versions = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    lines = [INTRODUCTION.format(**versions), TAPPED]
    lines += _table(((name, family.auto, family.special) for name, family in FAMILIES.items()), measure)
    lines += [OWN, *_table(((name, family.auto, family.special) for name, family in OWN_CODE.items()), measure)]
    kinds = {name: "vision" if "pixel_values" in one.inputs else "speech" for name, one in WATCHED.items()}
    lines += [
        WATCHING.format(language=", ".join(LANGUAGE_MODELS)),
        *_table(((name, kinds[name], one.special) for name, one in WATCHED.items()), measure),
    ]
    lines += [GENERATION, "| option of `generate` | why |", "|---|---|"]
    lines += [*(f"| {name} | {why} |" for name, why in NOT_ONE_ROW.items()), ""]
    lines += [REFUSED_BY_NAME, "| family | why |", "|---|---|"]
    reasons = {**NO_PLAIN_MAP, **{name: why for name, (_, why, _) in REFUSED.items()}}
    lines += [f"| {name} | {why} |" for name, why in sorted(reasons.items())]
    return "\n".join(lines) + "\n"


def _table(rows: Iterator[tuple[str, str, str]], measure: Callable[[str], str]) -> list[str]:
    """A table of families."""
    lines = ["| family | kind | differs by | what is special |", "|---|---|---|---|"]
    lines += [f"| {name} | {kind} | {measure(name)} | {special} |" for name, kind, special in rows]
    return [*lines, ""]


def measured(name: str) -> str:
    """The next power of ten above the largest difference of a family."""
    if name in FAMILIES:
        difference = max(agreement(name, side).weights for side in SIDES)
    else:
        difference = own_code_agreement(name) if name in OWN_CODE else watched_agreement(name)
    return f"≤ 1e{math.ceil(math.log10(max(difference, 1e-8)))}"
