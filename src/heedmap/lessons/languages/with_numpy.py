"""Attention with NumPy: the same four steps, all queries at once.

python with_numpy.py        works "The cat sat it" and prints the weights and the blend
python with_numpy.py -      reads calculations from standard input (see `main`) and prints the same for each
"""

import math
import sys

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


# Every query with every key: a row for each that asks.
def dot_product(a: Array, b: Array) -> Array:
    products: Array = a @ b.T
    return products


# Along the last axis: the row of the one who asks.
def softmax(xs: Array, allowed: Mask | bool = True) -> Array:
    xs = np.where(allowed, xs, -np.inf)
    largest = xs.max(axis=-1, keepdims=True)
    exponentials = np.exp(xs - largest)
    shares: Array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return shares


# Each value counts as much as its weight says.
def weighted_average(weights: Array, values: Array) -> Array:
    blend: Array = weights @ values
    return blend


# The four steps: compare, scale, softmax, blend.
def attend(
    queries: Array, keys: Array, values: Array, allowed: Mask | bool = True, scale: float | None = None
) -> tuple[Array, Array]:
    scale = 1 / math.sqrt(queries.shape[-1]) if scale is None else scale
    products = dot_product(queries, keys)
    scores = products * scale
    weights = softmax(scores, allowed)
    return weights, weighted_average(weights, values)


# ---- running it ----


def main() -> None:
    if sys.argv[1:] != ["-"]:
        keys = np.array([[0.1, 0.0], [1.0, 0.8], [0.2, 0.9], [0.6, 0.5]])
        values = np.array([[0.1, 0.1], [1.0, 0.2], [0.3, 0.9], [0.2, 0.3]])
        weights, output = attend(np.array([[1.0, 0.6]]), keys, values)
        print("weights", *(f"{w:.2f}" for w in weights[0]))
        print("output ", *(f"{x:.2f}" for x in output[0]))
        return
    # How many queries and keys, how long a key and a value is, what products are multiplied by; then all numbers:
    # queries, keys, values, and for each query and key 1 if it may look there. As many calculations as there are.
    numbers = np.array(sys.stdin.read().split(), dtype=float)
    while len(numbers):
        queries, count, dim, width = (int(size) for size in numbers[:4])
        scale, numbers = float(numbers[4]), numbers[5:]
        shapes = [(queries, dim), (count, dim), (count, width), (queries, count)]
        *parts, numbers = np.split(numbers, np.cumsum([rows * columns for rows, columns in shapes]))
        q, k, v, allowed = (part.reshape(shape) for part, shape in zip(parts, shapes))
        with np.errstate(invalid="ignore"):  # a query that may look at nothing has no weights: nan
            weights, output = attend(q, k, v, allowed == 1, scale)
        for row, blend in zip(weights.tolist(), output.tolist()):
            print(*map(repr, row))
            print(*map(repr, blend))


if __name__ == "__main__":
    main()
