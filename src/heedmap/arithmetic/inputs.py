"""What a calculation starts from: named vectors, some of which can be changed before it is worked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from heedmap.arithmetic import checks
from heedmap.arithmetic.attention import Settings, attend
from heedmap.arithmetic.checks import Array
from heedmap.arithmetic.layer import attend_layer
from heedmap.arithmetic.names import find_token, label, listed
from heedmap.arithmetic.trace import Trace
from heedmap.errors import NumbersError


@dataclass(frozen=True, eq=False)
class Inputs:
    """Tokens with their queries, keys and values.

    Attributes:
        tokens: the tokens' names, one for each key.
        query: the queries of the tokens that ask, shape (query, dim) or (head, query, dim).
        key: shape (key, dim) or (key-value head, key, dim).
        value: shape (key, value dim) or (key-value head, key, value dim).
        asking: which token each query belongs to, from 0.
        mask: booleans, `True` = may look, or `None`.

    Example:
        >>> import numpy as np
        >>> start = Inputs(("a", "b"), np.ones((1, 1)), np.ones((2, 1)), np.eye(2), (1,))
        >>> start.with_key("A", [3.0]).attend().weights.round(2)
        array([[0.88, 0.12]])
    """

    tokens: tuple[str, ...]
    query: Array
    key: Array
    value: Array
    asking: tuple[int, ...]
    mask: Any = None

    def attend(self, **settings: Unpack[Settings]) -> Trace:
        """Work it, with the settings of `heedmap.arithmetic.attend`.

        Raises:
            NumbersError: shapes that do not fit.
        """
        return attend(
            self.query,
            self.key,
            self.value,
            mask=self.mask,
            key_tokens=self.tokens,
            query_positions=self.asking,
            **settings,
        )

    def with_query(self, token: str | None, vector: Sequence[float]) -> Inputs:
        """The same with another query for one token that asks; `None` stands for the only one that does.

        Raises:
            NumbersError: no such token, it does not ask, several ask, or the wrong count of numbers.
        """
        names = [self.tokens[index] for index in self.asking]
        if token is None and len(names) != 1:
            raise NumbersError(
                f"query: several words ask ({listed(names)}); expected the name of one of them, "
                f"such as {label(names[0])}=1,0"
            )
        row = 0 if token is None else find_token(names, token, "word that asks")
        return replace(self, query=_changed("query", self.query, row, names[row], vector))

    def with_key(self, token: str, vector: Sequence[float]) -> Inputs:
        """The same with another key for one token.

        Raises:
            NumbersError: no such token, or the wrong count of numbers.
        """
        row = find_token(self.tokens, token)
        return replace(self, key=_changed("key", self.key, row, self.tokens[row], vector))

    def with_value(self, token: str, vector: Sequence[float]) -> Inputs:
        """The same with another value for one token.

        Raises:
            NumbersError: no such token, or the wrong count of numbers.
        """
        row = find_token(self.tokens, token)
        return replace(self, value=_changed("value", self.value, row, self.tokens[row], vector))

    def with_vector(self, token: str, vector: Sequence[float]) -> Inputs:
        """The same with another key and value for one token, and another query if it asks.

        Raises:
            NumbersError: no such token, or the wrong count of numbers.
        """
        row = find_token(self.tokens, token)
        name = self.tokens[row]
        changed = replace(
            self,
            key=_changed("key", self.key, row, name, vector),
            value=_changed("value", self.value, row, name, vector),
        )
        if row in self.asking:
            query = _changed("query", self.query, self.asking.index(row), name, vector)
            changed = replace(changed, query=query)
        return changed


@dataclass(frozen=True, eq=False)
class LayerInputs:
    """Tokens with their vectors, and the learned tables of a layer.

    Attributes:
        tokens: the tokens' names.
        x: their vectors, shape (token, width).
        tables: the tables, biases and head counts by the names that `attend_layer` gives them.
        mask: booleans, `True` = may look, or `None`.

    Example:
        >>> import numpy as np
        >>> tables = {"query_table": [[1.0]], "key_table": [[1.0]], "value_table": [[1.0]]}
        >>> LayerInputs(("a",), np.array([[2.0]]), tables).with_vector("a", [5.0]).attend().final
        array([[5.]])
    """

    tokens: tuple[str, ...]
    x: Array
    tables: Mapping[str, Any]
    mask: Any = None

    def attend(self, **settings: Unpack[Settings]) -> Trace:
        """Work the layer, with the settings of `heedmap.arithmetic.attend_layer`.

        Raises:
            NumbersError: shapes that do not fit.
        """
        return attend_layer(self.x, **self.tables, mask=self.mask, tokens=self.tokens, **settings)

    def with_vector(self, token: str, vector: Sequence[float]) -> LayerInputs:
        """The same with another vector for one token.

        Raises:
            NumbersError: no such token, or the wrong count of numbers.
        """
        row = find_token(self.tokens, token)
        return replace(self, x=_changed("x", self.x, row, self.tokens[row], vector))


def _changed(role: str, vectors: Array, row: int, token: str, vector: Sequence[float]) -> Array:
    """A copy with one row exchanged."""
    if vectors.ndim != 2:
        raise NumbersError(f"{role}: expected one head, so that a row can be changed, found {len(vectors)} heads")
    name = f'{role} of "{label(token)}"'
    new = checks.array(name, vector, most=1)
    if len(new) != vectors.shape[1]:
        raise NumbersError(f"{name}: expected {vectors.shape[1]} numbers, found {len(new)}")
    result = vectors.copy()
    result[row] = new
    return result
