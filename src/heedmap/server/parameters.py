"""What an endpoint takes: each value's kind and bounds, told once for the check and for the OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class Refused(Exception):  # noqa: N818 - a request is refused; nothing failed
    """A request that is not answered.

    Attributes:
        status: the HTTP status.
        kind: one word for programs.
    """

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One named value.

    Attributes:
        name: what it is called.
        says: what it is, in words.
        optional: whether it may be left out, or null.
    """

    name: str
    says: str
    optional: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        raise NotImplementedError

    def check(self, value: Any) -> Any:
        """The value, when it is of this kind.

        Raises:
            ValueError: what would have been right.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Parameter):
    """A text of bounded length.

    Attributes:
        longest: the most characters it may have.
        choices: the only texts that are right, where there are few.
    """

    longest: int = 200
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        chosen: dict[str, Any] = {"enum": list(self.choices)} if self.choices else {}
        return {"type": "string", "minLength": 1, "maxLength": self.longest, **chosen}

    def check(self, value: Any) -> str:
        """The text, when it is one.

        Raises:
            ValueError: it is no text, too long, or none of the choices.
        """
        if not isinstance(value, str) or not value:
            raise ValueError("must be a text that is not empty")
        if len(value) > self.longest:
            raise ValueError(f"has {len(value):,} characters, at most {self.longest:,} are taken")
        if self.choices and value not in self.choices:
            raise ValueError(f"must be one of: {', '.join(self.choices)}")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(Parameter):
    """A whole number between bounds.

    Attributes:
        least: the smallest that is right.
        most: the largest that is right.
    """

    least: int = 0
    most: int = 1 << 20

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def check(self, value: Any) -> int:
        """The number, when it is one; "7" of an address is, and so is 7.0 of a JSON text.

        Raises:
            ValueError: it is no whole number, or outside the bounds.
        """
        if isinstance(value, str) and value.removeprefix("-").isascii() and value.removeprefix("-").isdigit():
            value = int(value) if len(value) < 20 else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise ValueError(f"must be a whole number from {self.least} to {self.most}")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Parameter):
    """Yes or no."""

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        return {"type": "boolean"}

    def check(self, value: Any) -> bool:
        """The flag, when it is one.

        Raises:
            ValueError: it is neither true nor false.
        """
        if not isinstance(value, bool):
            raise ValueError("must be true or false")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Parameter):
    """Named values whose names and kinds somebody else checks: the settings of an experiment.

    Attributes:
        most: how many there may be.
    """

    most: int = 50
    kinds: tuple[type, ...] = field(default=(str, int, float, bool), repr=False)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        return {
            "type": "object",
            "maxProperties": self.most,
            "additionalProperties": {"type": ["string", "number", "boolean"], "maxLength": 1000},
        }

    def check(self, value: Any) -> dict[str, Any]:
        """The values by name, when they are few and plain.

        Raises:
            ValueError: they are not.
        """
        if not isinstance(value, dict) or len(value) > self.most:
            raise ValueError(f"must be an object of at most {self.most} values")
        for name, one in value.items():
            if not isinstance(one, self.kinds) or (isinstance(one, str) and len(one) > 1000):
                raise ValueError(f"holds {name!r}, which is no plain text, number or flag")
        return value


def check_all(parameters: Sequence[Parameter], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """All values of a request, checked; what is left out and optional is None.

    Args:
        parameters: what is taken.
        given: what was given.
        where: "the address" or "the body", for the message.

    Raises:
        Refused: 400, naming the value and what would have been right.

    Example:
        >>> check_all([Integer(name="layer", says="from 0", most=29)], {"layer": "16"}, "the address")
        {'layer': 16}
    """
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            there = ", ".join(sorted(known)) or "nothing"
            raise Refused(
                400, "UnknownValue", f"{where} holds {str(name)[:50]!r}, which is not taken here; it takes {there}"
            )
    return {parameter.name: _checked(parameter, given.get(parameter.name), where) for parameter in parameters}


def _checked(parameter: Parameter, value: Any, where: str) -> Any:
    """One value, checked.

    Raises:
        Refused: 400.
    """
    if value is None:
        if parameter.optional:
            return None
        raise Refused(400, "ValueMissing", f"{where} lacks {parameter.name!r}: {parameter.says}")
    try:
        return parameter.check(value)
    except ValueError as error:
        raise Refused(400, "WrongValue", f"{parameter.name!r} in {where} {error}") from None
