"""The mistakes that are recognised, each with what to tell the learner."""

from __future__ import annotations

from heedmap.lessons.exercises.problem import Mistake, Work

SAYS = {
    # products
    "crossed-over": "You crossed over: the first number belongs to the first number, the second to the second.",
    "added-instead": "You added the numbers instead of multiplying them in pairs.",
    "sign-lost": "A minus got lost: minus times plus is minus, minus times minus is plus.",
    "value-for-key": "You compared with the value. Queries are compared with keys; values come in at the blend.",
    "first-only": "That is the first pair only: go on with the others and add them up.",
    # arrays
    "not-transposed": "You did not turn the second array: @ K.T compares rows with rows.",
    "transposed-result": "Right numbers in the wrong places: the rows are the ones that ask.",
    "cell-by-cell": "You multiplied cell by cell. @ takes a row of the left and a column of the right.",
    "table-turned": "You used a row of the table where a column belongs: the vector stands on the left.",
    # scale
    "forgot-scale": "You forgot to divide by √d: these are the products themselves.",
    "divided-by-d": "You divided by d; it is the square root of d.",
    "multiplied-by-root": "You multiplied by √d; divide by it.",
    # softmax
    "power-of-two": "You used 2 as the base; it is e (about 2.718).",
    "forgot-total": "These are the exponentials: each must still be divided by their total.",
    "no-softmax": "You divided by the sum of the scores. First take e to the power of each.",
    "even-average": "You gave every word the same share. The weights differ.",
    "wrong-axis": "Softmax over the wrong axis, down the column. It is the row of the one who asks that adds up to 1.",
    "whole-table": "You divided by the total of the whole table. Each row has a total of its own.",
    "looked-ahead": "You looked ahead: a later word may not be seen, and counts nothing, not even in the total.",
    "masked-as-zero": "You set the forbidden score to 0, and e^0 is 1. A forbidden word has the exponential 0.",
    "upside-down-mask": "The mask is upside down: a word may look at earlier ones and itself, not at later ones.",
    "masked-after": "You masked after softmax: forbidden words were still in the total, so the row falls short of 1.",
    "not-itself": "You left out the word itself: a word may look at itself.",
    # blend
    "summed-values": "You summed instead of averaging: each value counts only as much as its weight says.",
    "key-for-value": "You blended the keys. Keys are for comparing; values are what is handed over.",
    "largest-only": "You took the largest one alone. The blend takes a share of every word.",
    "not-normalised": "The weights do not add up to 1 yet: divide by their sum first.",
    # slope
    "squared": "You squared the weight: it is w times (1 − w).",
    "no-minus": "The sign: when another score rises, this weight falls.",
    "delta-everywhere": "That is how a weight moves with its own score. With another's it is −w_i·w_j.",
    # heads
    "modulo": "You counted round and round. Neighbouring query heads share one: 0, 0, 1, 1 and not 0, 1, 0, 1.",
    "from-one": "Heads are counted from 0.",
    "upside-down": "The other way round: divide the larger number by the smaller one.",
    "key-heads-joined": "You joined the key heads. What is joined are the outputs of all query heads.",
    # reading a map
    "row-for-column": "Row and column exchanged: the word that looks is the row, the one looked at the column.",
    "largest-overall": "That is the largest of the whole map; only the row of the word that looks counts here.",
    "forgot-sink": "You left the first word in. An ordinary share is what the first word leaves to the others.",
    "counted-hidden": "You counted words it cannot see: later ones do not take part.",
    "even-share": "That is an even share of all words. Take away what the first word has first.",
    "difference-for-ratio": "You took the difference. How many times means dividing.",
    # length and cost
    "forgot-one": "You forgot the word itself in the total: it is one of those that share.",
    "linear": "The map has a row and a column for every word: twice as long is four times as many cells.",
    "half-map": "You counted only the cells that may be looked at; here the whole square is stored.",
    "forgot-bytes": "You forgot that each number takes several bytes.",
    "forgot-layers": "You forgot the layers: each has its own.",
    "forgot-heads": "You forgot the heads: each has its own.",
    "forgot-two": "You forgot that keys and values are both kept.",
    # claims
    "one-look": "That would be one head. You looked at all of them.",
    "added-chances": "Chances do not add up that way (they could pass 1). Take the chance that none does, away from 1.",
    "against-half": "You compared with a coin. Compare with what the simple rule gets.",
    "counted": "That is the count. A share is the count divided by how many there are.",
    "no-control": "That is the effect alone. Take away what removing any other head does.",
    "ratio-for-difference": "You divided. The effect asked for is a difference.",
    "odds-not-multiplied": "You added. The chance of one and then the other is their product.",
    "no-temperature": "You forgot to divide by the temperature first.",
    "multiplied-temperature": "You multiplied by the temperature; divide by it.",
}
"""Name and sentence of every mistake that some exercise recognises, beside the general ones of `checking`."""


def wrong(name: str, work: Work) -> Mistake:
    """A mistake of this name with the numbers it leads to here.

    Example:
        >>> wrong("forgot-scale", lambda done: done[0]).name
        'forgot-scale'
    """
    return Mistake(name, SAYS[name], work)
