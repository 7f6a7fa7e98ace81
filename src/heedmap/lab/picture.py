"""The experiment `picture`: the numbers of the lesson's own pictures of one pair, which are a question and no test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heedmap.lab.experiment import DataSource, Figure, Finding, Item, Table
from heedmap.lab.figure_names import spelled
from heedmap.lab.rows import Row, Rows
from heedmap.lab.settings import Settings, setting
from heedmap.lab.words import value_words

if TYPE_CHECKING:
    from heedmap.lab.data import Pair
    from heedmap.reading.call import AttentionCall
    from heedmap.reading.listening import AttentionLayer
    from heedmap.reading.model import Model
    from heedmap.text.tokens import Tokens

_WORD = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True, kw_only=True)
class PictureSettings(Settings):
    """What `picture` can be told."""

    layer: int | None = setting(None, "The layer that is drawn; the middle one by default.", least=0)


class Picture:
    """See the module."""

    name: ClassVar[str] = "picture"
    verdicts: ClassVar[tuple[str, ...]] = ("not tested", "cannot tell")
    figures: ClassVar[tuple[str, ...]] = spelled(
        "layer head heads head.{first,second} best.{layer,head} changed_at_{word,last} {row,diagonal}.*"
    )
    Settings: ClassVar[type[Settings]] = PictureSettings

    def items(self, settings: PictureSettings, data: DataSource) -> Sequence[Item]:
        """The first pair."""
        return [Item(pair.id, len(pair.texts[0]), pair) for pair in islice(data.pairs(), 1)]

    def measure(self, model: Model, items: Sequence[Item], settings: PictureSettings) -> Iterator[Row]:
        """Where the word looks in the drawn layer and in every head, and what the other version changes."""
        for item in items:
            yield _measure(model, item.content, settings)

    def conclude(self, rows: Rows, settings: PictureSettings) -> Finding:
        """The numbers of the picture, and what they do not show."""
        row = {name: rows.arrays(name)[0] for name in rows.names}
        names = token_names(row["labels"].tolist())
        figures = _figures(row, names)
        best, first, second = (figures[f"picture.{name}"] for name in ("head", "head.first", "head.second"))
        sentence = (
            f"In layer {row['layer']} “{row['word']}” looks most at “{names[int(np.argmax(row['row']))]}” (mean over "
            f"heads); of {row['of_first'].size} heads {best.value} looks most at one noun rather than the other."
        )
        table = Table(
            f"Layer {row['layer']}, mean over heads",
            ("token", f"“{row['word']}” looks at it", "it looks at itself"),
            [[str(label), float(one), float(own)] for label, one, own in zip(row["labels"], row["row"], row["diagonal"],
                                                                             strict=True)],
        )  # fmt: skip
        return Finding(
            figures,
            "not tested",
            sentence,
            [
                f"{best.value} gives {value_words(first.value)} to the first noun and {value_words(second.value)} to "
                "the second; it was chosen by searching.",
                f"At the word itself the other version changes {value_words(figures['picture.changed_at_word'].value)}"
                f", at the last token up to {value_words(figures['picture.changed_at_last'].value)}.",
            ],
            [
                "Anything about other sentences: one pair was looked at, and nothing was tested.",
                "That the head found follows the meaning: `heads` tests that, with both noun orders and other pairs.",
            ],
            {"layer": table},
        )


def _measure(model: Model, pair: Pair, settings: PictureSettings) -> Row:
    """The row of one pair."""
    from heedmap.lab.passes import listen_to_batch
    from heedmap.reading.kept_calls import check_layer
    from heedmap.reading.statistics_cells import share_at_distance

    texts = [model.tokenize(text, special_tokens=settings.special_tokens) for text in pair.texts]
    middle = model.layers[len(model.layers) // 2].number
    drawn = middle if settings.layer is None else check_layer(settings.layer, model.layers, model.describe())
    words = [list(tokens.find(word).tokens) for tokens, word in zip(texts, pair.words, strict=True)]
    nouns = [_noun(texts[0], candidate) for candidate in pair.candidates]
    looks: list[list[np.ndarray]] = [[], []]
    last: list[list[np.ndarray]] = [[], []]
    found: dict[str, Any] = {}

    def rows_of(call: AttentionCall, queries: list[int]) -> np.ndarray:
        """The mean row of some queries, [head, key]."""
        whole = [call.weights(slice(query, query + 1), slice(None))[0, :, 0] for query in queries]
        mean: np.ndarray = (sum(whole[1:], whole[0]) / len(whole)).float().cpu().numpy()
        return mean

    for version, tokens in enumerate(texts):

        def listen(layer: AttentionLayer, call: AttentionCall, _: range, version: int = version) -> None:
            exact = call.made_exact()
            looks[version].append(rows_of(exact, words[version]))
            last[version].append(rows_of(exact, [call.rule.queries - 1]))
            if version == 0 and layer.number == drawn:
                found["row"] = looks[0][-1].mean(0)
                found["diagonal"] = share_at_distance(exact, 0).mean(0).float().cpu().numpy()

        listen_to_batch(model, [tokens.ids], listen)
    common = min(map(len, texts))
    first, second = (np.stack([row[:, noun].sum(1) for row in looks[0]]) for noun in nouns)
    return {
        "layer": drawn,
        "word": pair.word,
        "labels": np.array(texts[0].labels),
        "layers": np.array([layer.number for layer in model.layers], np.int32),
        "of_first": first,
        "of_second": second,
        "changed_at_word": _apart(looks, common),
        "changed_at_last": _apart(last, common),
        **found,
    }


def _noun(tokens: Tokens, candidate: str) -> list[int]:
    """The tokens of a candidate's last word, where it stands first."""
    word = candidate.split()[-1]
    places = tokens.occurrences(word)
    return list((places[0] if places else tokens.find(word)).tokens)


def _apart(rows: list[list[np.ndarray]], common: int) -> np.ndarray:
    """The largest difference between the versions' rows, [layer, head]."""
    return np.stack([np.abs(one[:, :common] - other[:, :common]).max(1) for one, other in zip(*rows, strict=True)])


def token_names(labels: Sequence[str]) -> list[str]:
    """Names that figures can have: a token's own word where it is one and stands alone, else its place.

    Example:
        >>> token_names(["The", "cat", ".", "The"])
        ['token0', 'cat', 'token2', 'token3']
    """
    count = Counter(labels)
    return [
        label if _WORD.fullmatch(label) and count[label] == 1 else f"token{place}" for place, label in enumerate(labels)
    ]


def _figures(row: dict[str, Any], names: list[str]) -> dict[str, Figure]:
    """All figures of one pair."""
    margin = row["of_first"] - row["of_second"]
    layer, head = np.unravel_index(int(np.argmax(margin)), margin.shape)
    word, drawn = row["word"], row["layer"]
    figures = {"picture.layer": Figure(int(drawn), None, 1, "the layer that is drawn")}
    for name, label, weight, own in zip(names, row["labels"], row["row"], row["diagonal"], strict=True):
        says = f"layer {drawn}, mean over heads: share of “{word}” on “{label}”"
        figures[f"picture.row.{name}"] = Figure(float(weight), None, 1, says)
        says = f"layer {drawn}, mean over heads: share of “{label}” on itself"
        figures[f"picture.diagonal.{name}"] = Figure(float(own), None, 1, says)
    best = f"L{row['layers'][layer]}H{head}"
    figures |= {
        "picture.best.layer": Figure(int(row["layers"][layer]), None, 1, "layer of that head", True),
        "picture.best.head": Figure(int(head), None, 1, "number of that head", True),
        "picture.heads": Figure(int(margin.size), None, 1, "heads looked at"),
        "picture.head": Figure(
            best, None, 1, "the head that looks most at the first noun rather than the second", True
        ),
        "picture.head.first": Figure(float(row["of_first"][layer, head]), None, 1, "its share on noun A", True),
        "picture.head.second": Figure(float(row["of_second"][layer, head]), None, 1, "its share on noun B", True),
    }
    for where in ("word", "last"):
        changed = row[f"changed_at_{where}"]
        place = "the word" if where == "word" else "the last token"
        says = f"largest change of any weight of {place} between the versions, over all layers and heads"
        figures[f"picture.changed_at_{where}"] = Figure(float(changed.max()), None, 1, says)
    return figures
