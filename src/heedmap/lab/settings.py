"""Settings of an experiment: a frozen dataclass whose fields say what they are for, and so become options."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from heedmap.errors import NumbersError


def setting(default: Any, text: str, *, choices: Sequence[str] | None = None, least: float | None = None) -> Any:
    """A field of a `Settings` class.

    Args:
        default: what it is when nothing is given.
        text: the line in `--help`, and the label in a form.
        choices: the words it may be; any by default.
        least: the smallest number it may be.
    """
    return field(default=default, metadata={"help": text, "choices": choices, "least": least})


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as an option of the command line or a field of a form.

    Attributes:
        name: of the field, with underscores.
        kind: `bool`, `int`, `float` or `str`.
        many: whether it takes several values (a tuple).
        optional: whether it may be None.
        default: what it is when nothing is given.
        help: what it is for.
        choices: the words it may be.
        least: the smallest number it may be.
    """

    name: str
    kind: type
    many: bool
    optional: bool
    default: Any
    help: str
    choices: Sequence[str] | None
    least: float | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every experiment can be told; its own settings are a subclass, a frozen dataclass as well.

    Fields are bool, int, float or str, each of them or None, or a tuple of them.
    """

    seed: int = setting(0, "Where the random numbers of splits, bootstraps and permutations begin.", least=0)
    draws: int = setting(2000, "Draws of each bootstrap and permutation.", least=100)
    special_tokens: bool | None = setting(None, "Add begin-of-text and the like, or not; the tokenizer's own way.")

    def __post_init__(self) -> None:
        for option in self.options():
            _check(option, getattr(self, option.name))

    @classmethod
    def options(cls) -> list[Option]:
        """The settings as options.

        Example:
            >>> [option.name for option in Settings.options()]
            ['seed', 'draws', 'special_tokens']
        """
        return list(_options(cls))

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The settings that `to_json` wrote.

        Raises:
            NumbersError: a name that is no setting, or a value that is none.

        Example:
            >>> Settings.from_json({"seed": 7}).seed
            7
        """
        known = {option.name for option in cls.options()}
        unknown = sorted(set(given) - known)
        if unknown:
            raise NumbersError(f"no setting is called {unknown[0]!r}: there are {', '.join(sorted(known))}")
        values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in given.items()}
        return cls(**values)


def _options(settings: type[Settings]) -> Iterator[Option]:
    """Read the fields of a class, with their types taken apart."""
    hints = typing.get_type_hints(settings)
    for one in fields(settings):
        kind, optional, many = hints[one.name], False, False
        if isinstance(kind, types.UnionType):
            optional, kind = True, next(part for part in kind.__args__ if part is not type(None))
        if typing.get_origin(kind) is tuple:
            many, kind = True, typing.get_args(kind)[0]
        if kind not in (bool, int, float, str):
            raise TypeError(f"{settings.__name__}.{one.name}: a setting is bool, int, float, str or a tuple of them")
        about = one.metadata
        yield Option(
            one.name, kind, many, optional, one.default, about["help"], about.get("choices"), about.get("least")
        )


def _check(option: Option, value: Any) -> None:
    """Refuse a value that the option does not allow.

    Raises:
        NumbersError: naming the setting and what would have been right.
    """
    values = list(value) if option.many and isinstance(value, list | tuple) else [value]
    for one in values:
        if one is None and option.optional:
            continue
        right = isinstance(one, option.kind) or (option.kind is float and isinstance(one, int))
        if not right or (isinstance(one, bool) and option.kind is not bool):
            raise NumbersError(f"{option.name}: expected {_kind_words(option)}, found {one!r}")
        if option.choices is not None and one not in option.choices:
            raise NumbersError(f"{option.name}: expected one of {', '.join(option.choices)}, found {one!r}")
        if option.least is not None and one < option.least:
            raise NumbersError(f"{option.name}: expected at least {option.least:g}, found {one}")


def _kind_words(option: Option) -> str:
    """What a value of the option is, in words."""
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[option.kind]
    return f"a list of {words}" if option.many else words
