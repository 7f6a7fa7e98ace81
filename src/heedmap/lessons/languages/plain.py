"""Attention in Python with no library.

python plain.py        works "The cat sat it" and prints the weights and the blend
python plain.py -      reads calculations from standard input (see `main`) and prints the same for each
"""

import math
import sys


# Multiply number by number, and add up.
def dot_product(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b))


# Scores into weights that add up to 1. A word that may not be looked at gets 0.
def softmax(xs: list[float], allowed: list[bool] | None = None) -> list[float]:
    allowed = allowed or [True] * len(xs)
    seen = [x for x, ok in zip(xs, allowed) if ok]
    if not seen:
        return [math.nan] * len(xs)  # it may look at nothing: there are no weights
    largest = max(seen)  # taken off every score, so that e^score cannot overflow; the weights stay the same
    exponentials = [math.exp(x - largest) if ok else 0.0 for x, ok in zip(xs, allowed)]
    total = sum(exponentials)
    return [e / total for e in exponentials]


# Each value counts as much as its weight says.
def weighted_average(weights: list[float], values: list[list[float]]) -> list[float]:
    return [dot_product(weights, list(column)) for column in zip(*values)]


# The four steps for one query: compare, scale, softmax, blend.
def attend(
    query: list[float],
    keys: list[list[float]],
    values: list[list[float]],
    allowed: list[bool] | None = None,
    scale: float | None = None,
) -> tuple[list[float], list[float]]:
    scale = 1 / math.sqrt(len(query)) if scale is None else scale
    products = [dot_product(query, key) for key in keys]
    scores = [product * scale for product in products]
    weights = softmax(scores, allowed)
    return weights, weighted_average(weights, values)


# ---- running it ----


def main() -> None:
    if sys.argv[1:] != ["-"]:
        keys = [[0.1, 0.0], [1.0, 0.8], [0.2, 0.9], [0.6, 0.5]]
        values = [[0.1, 0.1], [1.0, 0.2], [0.3, 0.9], [0.2, 0.3]]
        weights, output = attend([1.0, 0.6], keys, values)
        print("weights", *(f"{w:.2f}" for w in weights))
        print("output ", *(f"{x:.2f}" for x in output))
        return
    # How many queries and keys, how long a key and a value is, what products are multiplied by; then all numbers:
    # queries, keys, values, and for each query and key 1 if it may look there. As many calculations as there are.
    numbers = sys.stdin.read().split()

    def rows(how_many: int, long: int) -> list[list[float]]:
        return [[float(numbers.pop()) for _ in range(long)] for _ in range(how_many)]

    numbers.reverse()  # the next one is the last
    while numbers:
        queries, count, dim, width = (int(numbers.pop()) for _ in range(4))
        scale = float(numbers.pop())
        asking, keys, values = rows(queries, dim), rows(count, dim), rows(count, width)
        for query, allowed in zip(asking, rows(queries, count)):
            weights, output = attend(query, keys, values, [one == 1 for one in allowed], scale)
            print(*map(repr, weights))
            print(*map(repr, output))


if __name__ == "__main__":
    main()
