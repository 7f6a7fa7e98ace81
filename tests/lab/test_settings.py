"""Settings: fields that become options, and refuse what they cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from heedmap.errors import NumbersError
from heedmap.lab.registry import EXPERIMENTS, experiment
from heedmap.lab.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class Some(Settings):
    word: str = setting("it", "A word.")
    rule: str = setting("mean", "A rule.", choices=("mean", "last"))
    share: float = setting(0.5, "A share.", least=0)
    layer: int | None = setting(None, "A layer.")
    names: tuple[str, ...] = setting((), "Names.")
    deep: bool = setting(False, "Whether.")


def test_fields_become_options_in_order() -> None:
    options = {option.name: option for option in Some.options()}
    assert list(options) == ["seed", "draws", "special_tokens", "word", "rule", "share", "layer", "names", "deep"]
    assert (options["layer"].kind, options["layer"].optional, options["layer"].default) == (int, True, None)
    assert (options["names"].kind, options["names"].many) == (str, True)
    assert options["special_tokens"].optional
    assert options["rule"].choices == ("mean", "last")
    assert options["share"].least == 0


def test_settings_survive_json() -> None:
    settings = Some(seed=3, names=("a", "b"), layer=7, share=1)
    assert Some.from_json(settings.to_json()) == settings
    assert settings.to_json()["names"] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": -1}, "seed: expected at least 0, found -1"),
        ({"seed": 1.5}, "seed: expected a whole number, found 1.5"),
        ({"seed": True}, "seed: expected a whole number, found True"),
        ({"rule": "median"}, "rule: expected one of mean, last, found 'median'"),
        ({"share": "much"}, "share: expected a number, found 'much'"),
        ({"names": [1]}, "names: expected a list of text, found 1"),
        ({"deep": 1}, "deep: expected true or false, found 1"),
        ({"word": None}, "word: expected text, found None"),
        ({"speed": 1}, "no setting is called 'speed': there are deep, draws, layer, names, rule, seed, share"),
    ],
)
def test_what_a_setting_cannot_be_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(NumbersError) as error:
        Some.from_json(given)
    assert str(error.value).startswith(message)


def test_a_field_of_another_kind_is_a_mistake_of_whoever_wrote_it() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Wrong(Settings):
        table: bytes = setting(b"", "A table.")

    with pytest.raises(TypeError, match=r"Wrong\.table"):
        Wrong.options()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_what_it_is_for_and_what_its_settings_are(name: str) -> None:
    one = experiment(name)
    assert one.name == name
    assert len(set(one.verdicts)) == len(one.verdicts) >= 2
    assert len(set(one.figures)) == len(one.figures) >= 1, "the names of its figures"
    for option in one.Settings.options():
        assert option.help[0].isupper(), option.name
        assert option.help.endswith("."), option.name
    assert one.Settings.from_json(one.Settings().to_json()) == one.Settings()
