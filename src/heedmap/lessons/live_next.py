"""Live numbers of what a real model would write next: the odds, the pick, one token after another."""

from __future__ import annotations

from heedmap.arithmetic.writing import columns, number
from heedmap.errors import LessonError
from heedmap.lessons.live import REGISTRY, Arguments, Figure, rounded
from heedmap.lessons.live_model import DEFAULT_MODEL, model_named
from heedmap.lessons.live_stream import WITHOUT, asked_stream, stream_of


@REGISTRY.add(
    "next-token", f"TEXT [PLACE] {WITHOUT}", "the likeliest next token, or that of a place from 1", model=True
)
def _next_token(arguments: Arguments) -> Figure:
    return Figure(asked_stream(arguments).odds()[_place(arguments)][0])


@REGISTRY.add("next-odds", f"TEXT [PLACE] {WITHOUT} [temperature=1] [digits=3]", "the odds of that token", model=True)
def _next_odds(arguments: Arguments) -> Figure:
    found = asked_stream(arguments).odds(_temperature(arguments))
    return rounded(found[_place(arguments)][1], arguments.digits(3))


@REGISTRY.add("next-table", f"TEXT {WITHOUT} [temperature=1]", "the five likeliest next tokens", block=True, model=True)
def _next_table(arguments: Arguments) -> Figure:
    found = asked_stream(arguments).odds(_temperature(arguments))
    return Figure("\n".join(columns([[token, number(odds, 3)] for token, odds in found[:5]])))


@REGISTRY.add("written", "TEXT COUNT [place=1]", "a model writing, each token by its place", block=True, model=True)
def _written(arguments: Arguments) -> Figure:
    text, count = arguments.word("a text"), arguments.whole("how many tokens")
    place = arguments.whole_option("place", 1) - 1
    model = model_named(DEFAULT_MODEL)
    ids = list(model.tokenize(text).ids)
    rows = [["reads", "picks", "odds"]]
    for _ in range(count):
        found = stream_of(tuple(ids))
        token, odds = found.odds()[place]
        rows.append([f"{len(ids)} tokens", token, number(odds, 3)])
        ids.append(int(found.logits.argsort()[-1 - place]))
    text = str(model.tokenizer.decode(ids))
    return Figure("\n".join([*columns(rows, left=2), "", text]))


@REGISTRY.add(
    "next-forbidden",
    "TEXT WORD",
    "the likeliest next tokens when no later token may look at WORD",
    block=True,
    model=True,
)
def _next_forbidden(arguments: Arguments) -> Figure:
    from heedmap.reading.edits import forbid

    text, word = arguments.word("a text"), arguments.word("a word")
    model = model_named(DEFAULT_MODEL)
    tokens = model.tokenize(text)
    keys = list(tokens.find(word).tokens)
    found = model.read(text, layers=0, edit=forbid(list(range(keys[-1] + 1, len(tokens))), keys)).next(top=5).candidates
    return Figure("\n".join(columns([[one.text, number(one.probability, 3)] for one in found])))


def _place(arguments: Arguments) -> int:
    """A place in the list of odds, from 0."""
    return arguments.whole("a place") - 1 if arguments.words_left() else 0


def _temperature(arguments: Arguments) -> float:
    """The option `temperature`, taken."""
    temperature = Arguments([arguments.option("temperature", "1") or ""], {}).numbers("temperature")[0]
    if temperature <= 0:
        raise LessonError(f"option temperature: expected more than 0, found {temperature:g}")
    return temperature
