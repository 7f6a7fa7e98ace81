"""The small tools that attention rests on; each returns its result with the work shown by `print`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heedmap.arithmetic import checks
from heedmap.arithmetic.checks import Array, Mask
from heedmap.arithmetic.steps import softmax_rows
from heedmap.arithmetic.writing import (
    columns,
    fitting_digits,
    given,
    matrix,
    number,
    products_sum,
    terms_sum,
    vector,
)
from heedmap.errors import NumbersError

MOST_CELLS = 24
"""A matrix product with more cells than this prints its result only."""


@dataclass(frozen=True, eq=False)
class DotProduct:
    """The sum of two vectors' products, number by number.

    Attributes:
        left: shape (dim).
        right: shape (dim).
        products: left x right, shape (dim).
        result: their sum.
    """

    left: Array
    right: Array
    products: Array
    result: float

    def __str__(self) -> str:
        digits = fitting_digits(2, self.left, self.right)
        left, right = ([given(one, digits) for one in side] for side in (self.left, self.right))
        return f"{products_sum(left, right)} = {number(self.result, digits)}"


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """Two matrices multiplied: each cell is a row of the left one dotted with a column of the right one.

    Attributes:
        left: shape (row, inner).
        right: shape (inner, column).
        result: shape (row, column).
    """

    left: Array
    right: Array
    result: Array

    def cell(self, row: int, column: int) -> DotProduct:
        """The work of one cell.

        Example:
            >>> print(matrix_product([[1, 2], [3, 4]], [[5, 6], [7, 8]]).cell(1, 0))
            3·5 + 4·7 = 43
        """
        return dot_product(self.left[row], self.right[:, column])

    def __str__(self) -> str:
        lines = []
        if self.result.size <= MOST_CELLS:
            rows, across = self.result.shape
            lines = columns(
                [[f"row {i}, column {j}:", str(self.cell(i, j))] for i in range(rows) for j in range(across)],
                left=2,
            )
        digits = fitting_digits(2, self.left, self.right)
        return "\n".join([*lines, "result", *matrix(self.result, digits)])


@dataclass(frozen=True, eq=False)
class Transpose:
    """A matrix with its rows turned into columns.

    Attributes:
        original: shape (row, column).
        result: shape (column, row).
    """

    original: Array
    result: Array

    def __str__(self) -> str:
        digits = fitting_digits(2, self.original)
        lines = [
            f"row {index} {vector(row, digits)} becomes column {index}"
            for index, row in enumerate(self.original[:MOST_CELLS])
        ]
        if len(self.original) > MOST_CELLS:
            lines.append(f"… and so on for {len(self.original) - MOST_CELLS} more")
        return "\n".join([*lines, "result", *matrix(self.result, digits)])


@dataclass(frozen=True, eq=False)
class Softmax:
    """Scores turned into weights that sum to 1.

    Attributes:
        scores: shape (key).
        allowed: which of them count, shape (key).
        shift: what was taken off every score first: 0, or the largest where exp would overflow or vanish.
        exponentials: exp(score - shift), 0 where not allowed.
        total: their sum; NaN when nothing is allowed.
        weights: exponentials / total, 0 where not allowed; NaN when nothing is allowed.
    """

    scores: Array
    allowed: Mask
    shift: float
    exponentials: Array
    total: float
    weights: Array

    @property
    def result(self) -> Array:
        """The weights."""
        return self.weights

    def __str__(self) -> str:
        if not self.allowed.any():
            return "nothing may be looked at: there are no weights"
        shifted = f"score − {number(self.shift, 2)}" if self.shift > 0 else f"score + {number(-self.shift, 2)}"
        rows = [["score", f"e^({shifted})" if self.shift else "e^score", f"÷ {number(self.total, 2)}"]]
        for index in range(len(self.scores)):
            known = bool(self.allowed[index])
            steps = (self.exponentials[index], 2), (self.weights[index], 3)
            rows.append([given(self.scores[index], 2), *(number(x if known else np.nan, n) for x, n in steps)])
        terms = terms_sum([number(one, 2) for one in self.exponentials[self.allowed]])
        return "\n".join([*columns(rows, left=0), f"total {terms} = {number(self.total, 2)}"])


@dataclass(frozen=True, eq=False)
class WeightedAverage:
    """Values blended by weights.

    Attributes:
        values: shape (value) or (value, dim).
        weights: shape (value).
        result: sum of weight x value, shape () or (dim).
    """

    values: Array
    weights: Array
    result: Array

    def __str__(self) -> str:
        digits = fitting_digits(2, self.values, self.result)
        weights = [given(one, 2) for one in self.weights]
        lines = []
        for column in range(1 if self.values.ndim == 1 else self.values.shape[1]):
            values = self.values if self.values.ndim == 1 else self.values[:, column]
            result = self.result if self.values.ndim == 1 else self.result[column]
            texts = [given(one, digits) for one in values]
            lines.append(f"{products_sum(weights, texts)} = {number(float(result), digits)}")
        total = float(self.weights.sum())
        if abs(total - 1) > 1e-9:
            lines.append(f"the weights sum to {number(total, 2)}, not to 1, so this is not quite an average")
        return "\n".join(lines)


def dot_product(left: Any, right: Any) -> DotProduct:
    """The dot product of two vectors: how far they point the same way.

    Args:
        left: shape (dim).
        right: shape (dim).

    Raises:
        NumbersError: not numbers, or of different lengths.

    Example:
        >>> print(dot_product([2, 1, 0], [3, 1, 4]))
        2·3 + 1·1 + 0·4 = 7
    """
    one, other = checks.array("left", left, most=1), checks.array("right", right, most=1)
    if len(one) != len(other):
        raise NumbersError(f"right: expected {len(one)} numbers, as many as the left has, found {len(other)}")
    with np.errstate(over="ignore", invalid="ignore"):
        products = one * other
        result = products.sum()
    checks.finite_result("left · right", result)
    return DotProduct(one, other, products, float(result))


def matrix_product(left: Any, right: Any) -> MatrixProduct:
    """The product of two matrices, cell by cell.

    Args:
        left: shape (row, inner).
        right: shape (inner, column).

    Raises:
        NumbersError: not numbers, or the inner sizes differ.

    Example:
        >>> print(matrix_product([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
        row 0, column 0:  1·5 + 2·7 = 19
        row 0, column 1:  1·6 + 2·8 = 22
        row 1, column 0:  3·5 + 4·7 = 43
        row 1, column 1:  3·6 + 4·8 = 50
        result
        19  22
        43  50
    """
    one = checks.array("left", left, least=2, most=2)
    other = checks.array("right", right, least=2, most=2)
    if one.shape[1] != len(other):
        raise NumbersError(f"right: expected {one.shape[1]} rows, as many as the left has columns, found {len(other)}")
    with np.errstate(over="ignore", invalid="ignore"):
        result = one @ other
    checks.finite_result("left · right", result)
    return MatrixProduct(one, other, result)


def transpose(values: Any) -> Transpose:
    """A matrix with rows and columns exchanged.

    Args:
        values: shape (row, column).

    Raises:
        NumbersError: not a matrix of numbers.

    Example:
        >>> print(transpose([[1, 0], [0, 1], [2, 3]]))
        row 0 [1, 0] becomes column 0
        row 1 [0, 1] becomes column 1
        row 2 [2, 3] becomes column 2
        result
        1  0  2
        0  1  3
    """
    original = checks.array("values", values, least=2, most=2)
    return Transpose(original, original.T.copy())


def softmax(scores: Any, *, mask: Any = None) -> Softmax:
    """Scores turned into positive weights that sum to 1: exp(score) over the sum of exp(score).

    Args:
        scores: shape (key).
        mask: booleans, `True` = counts, shape (key).

    Raises:
        NumbersError: not numbers, or a mask that does not fit.

    Example:
        >>> print(softmax([2, 1, 0]))
        score  e^score  ÷ 11.11
          2.0     7.39    0.665
          1.0     2.72    0.245
          0.0     1.00    0.090
        total 7.39 + 2.72 + 1.00 = 11.11
    """
    row = checks.array("scores", scores, most=1)
    allowed = np.ones(len(row), dtype=np.bool_) if mask is None else checks.mask(mask, (1, 1, len(row)))[0, 0]
    step = softmax_rows(row, allowed)
    return Softmax(row, allowed, float(step.shift), step.exponentials, float(step.totals), step.weights)


def weighted_average(values: Any, weights: Any) -> WeightedAverage:
    """Values blended by weights: the sum of weight x value. The weights are used as they are.

    Args:
        values: numbers, shape (value), or vectors, shape (value, dim).
        weights: shape (value).

    Raises:
        NumbersError: not numbers, or not one weight for each value.

    Example:
        >>> print(weighted_average([10, 20, 40], [0.5, 0.25, 0.25]))
        0.5·10 + 0.25·20 + 0.25·40 = 20
    """
    blended = checks.array("values", values, most=2)
    by = checks.array("weights", weights, most=1)
    if len(by) != len(blended):
        raise NumbersError(f"weights: expected {len(blended)} numbers, one for each value, found {len(by)}")
    with np.errstate(over="ignore", invalid="ignore"):
        result = by @ blended
    checks.finite_result("the average", result)
    return WeightedAverage(blended, by, np.asarray(result))
