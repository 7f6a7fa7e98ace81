"""What `dilution` measures: the share on a fact from where the answer is given, and the log-odds of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from heedmap.lab.dilution import NAMES, WORDS, DilutionSettings, Hidden
from heedmap.lab.likelihood import Choice, log_probabilities, text_ids
from heedmap.lab.rows import Row
from heedmap.reading.forward import predicts_next_token
from heedmap.reading.rule import MaskRule
from heedmap.reading.tap import Heard

if TYPE_CHECKING:
    from heedmap.reading.model import Model


def measure(model: Model, hidden: Hidden, settings: DilutionSettings) -> Row:
    """One row a fact and amount.

    Returns:
        "share" [layer, head] on the fact from the last token; "even", what a look would give that is even over
        all that a layer's mask allows, mean over layers; "odds", the
        log-odds of the right word against another, and "odds_without" where the fact is left out (NaN for a model that
        predicts no next token); "tokens" and "amount".
    """
    fact, question = fact_and_question(hidden.fact)
    before, after = _filler(model, hidden, settings)
    head = f"{before}{fact}"
    text = f"{head}{after}{question}"
    tokens = model.tokenize(text, special_tokens=settings.special_tokens)
    last = max(token.index for token in tokens if token.start is not None)
    span = list(tokens.covering(len(before), len(head)))
    shares: list[np.ndarray] = []
    even: list[float] = []

    def receive(_: int, heard: Heard) -> None:
        call = heard.call.made_exact()
        weights = call.weights(slice(last, last + 1), slice(span[0], span[-1] + 1))[0, :, 0]
        shares.append(weights.sum(-1).double().cpu().numpy())
        even.append(_even_share(call.rule, last, span, call.query.device))

    model.listen(tokens, receive)
    odds, without = np.nan, np.nan
    if predicts_next_token(model.module):
        odds, without = (
            _odds(model, one, hidden.fact, settings) for one in (text, f"{before.rstrip()}{after}{question}".lstrip())
        )
    return {
        "fact": hidden.fact,
        "amount": hidden.amount,
        "tokens": len(tokens),
        "share": np.stack(shares),
        "layers": np.array([layer.number for layer in model.layers], np.int32),
        "even": float(np.mean(even)),
        "odds": odds,
        "odds_without": without,
    }


def _even_share(rule: MaskRule, query: int, keys: list[int], device: torch.device) -> float:
    """What a query would give some keys if it looked at all it may evenly: a sliding window may leave them out."""
    rows, columns = torch.tensor([query], device=device), torch.arange(rule.keys, device=device)
    may = rule.allowed(rows, columns).double().mean((0, 1, 2))
    return float(may[keys].sum() / may.sum())


def fact_and_question(number: int) -> tuple[str, str]:
    """A fact, and the sentence that asks for it.

    Example:
        >>> fact_and_question(0)
        ('The password of Maria is tiger.', ' The password of Maria is')
    """
    begin = f"The password of {NAMES[number]} is"
    return f"{begin} {WORDS[number]}.", f" {begin}"


def _filler(model: Model, hidden: Hidden, settings: DilutionSettings) -> tuple[str, str]:
    """The irrelevant text before and after the fact: whole sentences, about as many tokens as asked for."""
    sizes = [len(model.tokenize(f" {one}", special_tokens=False)) for one in hidden.filler]
    chosen: list[str] = []
    count = 0
    while count < hidden.amount:
        place = len(chosen) % len(sizes)
        chosen.append(hidden.filler[place])
        count += sizes[place]
    first = {"begin": 0, "middle": len(chosen) // 2, "end": len(chosen)}[settings.place]
    before, after = " ".join(chosen[:first]), " ".join(chosen[first:])
    return (f"{before} " if before else ""), (f" {after}" if after else "")


def _odds(model: Model, text: str, fact: int, settings: DilutionSettings) -> float:
    """The log-odds of the fact's word against the next fact's."""
    right, wrong = WORDS[fact], WORDS[(fact + 1) % len(WORDS)]
    prefix = text_ids(model.tokenize(text, special_tokens=settings.special_tokens))
    both = [
        text_ids(model.tokenize(f"{text} {word}", special_tokens=settings.special_tokens)) for word in (right, wrong)
    ]
    shared = len(prefix) if all(one[: len(prefix)] == prefix for one in both) else len(prefix) - 1
    choice = Choice(tuple(both[0][:shared]), (tuple(both[0][shared:]), tuple(both[1][shared:])))
    first, second = log_probabilities(model, [choice])[0]
    return float(first.sum() - second.sum())
