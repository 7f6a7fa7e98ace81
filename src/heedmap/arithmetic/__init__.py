"""Attention by hand, with NumPy alone: compare, scale, softmax, blend, and every number kept.

`attend` works one attention calculation, `attend_layer` a whole small layer; both return a `Trace` that
prints itself as a worked table. The small tools they rest on show their work too. `heedmap.arithmetic.vectors`
holds the steps' numbers that every other implementation must meet.
"""

from heedmap.arithmetic.attention import attend
from heedmap.arithmetic.examples import EXAMPLES, Example, example
from heedmap.arithmetic.formats import inputs_from_csv, inputs_from_json, read_inputs
from heedmap.arithmetic.inputs import Inputs, LayerInputs
from heedmap.arithmetic.layer import attend_layer
from heedmap.arithmetic.tools import (
    DotProduct,
    MatrixProduct,
    Softmax,
    Transpose,
    WeightedAverage,
    dot_product,
    matrix_product,
    softmax,
    transpose,
    weighted_average,
)
from heedmap.arithmetic.trace import LayerSteps, Projection, Trace

__all__ = [
    "EXAMPLES",
    "DotProduct",
    "Example",
    "Inputs",
    "LayerInputs",
    "LayerSteps",
    "MatrixProduct",
    "Projection",
    "Softmax",
    "Trace",
    "Transpose",
    "WeightedAverage",
    "attend",
    "attend_layer",
    "dot_product",
    "example",
    "inputs_from_csv",
    "inputs_from_json",
    "matrix_product",
    "read_inputs",
    "softmax",
    "transpose",
    "weighted_average",
]
