"""Live numbers of real models: against transformers alone, against the lab's records, and against readings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import heedmap.lessons.computations  # noqa: F401 - brings every computation into the registry
from heedmap.errors import LessonError
from heedmap.lab.data import pairs
from heedmap.lab.expectations import shipped
from heedmap.lessons import live_asked, live_look, live_stream
from heedmap.lessons.course import FOLDER
from heedmap.lessons.live import compute
from heedmap.lessons.live_lab import recorded
from heedmap.lessons.live_script import output, source
from heedmap.reading.model import Model

TROPHY = "The trophy did not fit in the suitcase because it was too big."
SMALL = TROPHY.replace("big", "small")
PARIS = "The capital of France is"

ROUNDED = 6e-4
"""Three digits after the point, and what float32 kernels differ by."""


@pytest.fixture(autouse=True)
def models_stay_loaded(smollm2: Model, minilm: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    here = {"smollm2": smollm2, "minilm": minilm}
    monkeypatch.setattr("heedmap.lessons.live_model.load_once", lambda name, **options: here[name])
    yield
    for cached in (live_stream.stream_of, live_look._reading, live_look.largest_differences, live_asked.log_odds):
        cached.cache_clear()


def numbers_in(text: str) -> list[float]:
    return [float(word) for word in text.split() if word.replace(".", "").isdecimal() and "." in word]


def hidden_states(model: Model, text: str) -> tuple[Any, Any]:
    """transformers' own states of the last token, and its logits, with nothing of ours in between."""
    ids = torch.tensor([list(model.tokenize(text).ids)])
    with torch.no_grad():
        result = model.module(input_ids=ids, output_hidden_states=True)
    return [state[0, -1].numpy() for state in result.hidden_states], result.logits[0, -1].double()


def test_what_is_added_leads_from_one_state_to_the_next(smollm2: Model) -> None:
    found = live_stream.stream(PARIS)
    states, logits = hidden_states(smollm2, PARIS)
    # transformers hands out the state before each layer; the last one it hands out has its norm already.
    for layer in range(len(found.before) - 1):
        after = found.before[layer] + found.attention[layer] + found.feed_forward[layer]
        np.testing.assert_allclose(found.before[layer], states[layer], atol=1e-4, rtol=1e-4)
        np.testing.assert_allclose(after, states[layer + 1], atol=1e-3, rtol=1e-4)  # sums of numbers near 100
    np.testing.assert_allclose(found.logits, logits.numpy(), atol=1e-3)
    odds = torch.softmax(logits, -1)
    token, probability = found.odds()[0]
    assert token == found.guesses[-1][0] == "␣Paris"
    assert probability == pytest.approx(odds.max().item(), abs=1e-5)
    assert found.guesses[-1][1] == pytest.approx(probability, abs=1e-5)


def test_temperature_divides_the_scores(smollm2: Model) -> None:
    _, logits = hidden_states(smollm2, PARIS)
    for temperature in (0.5, 1.0, 2.0):
        wanted = torch.softmax(logits / temperature, -1).max().item()
        found = compute(f'next-odds "{PARIS}" temperature={temperature}').value
        assert found == pytest.approx(wanted, abs=1e-4)


def test_a_model_left_without_a_part_adds_nothing_from_there_and_is_whole_again(smollm2: Model) -> None:
    def hooks() -> int:
        return sum(len(one._forward_hooks) + len(one._forward_pre_hooks) for one in smollm2.module.modules())

    before = hooks()
    for part, kept in (("attention", "feed_forward"), ("feed-forward", "attention")):
        found = live_stream.stream(PARIS, part)
        assert not getattr(found, part.replace("-", "_")).any()
        assert getattr(found, kept).any()
        assert found.odds()[0][0] != "␣Paris"
    assert hooks() == before
    # Without attention nothing but the last token itself has a say.
    other = live_stream.stream("My name is", "attention").odds()
    assert [token for token, _ in other[:5]] == [
        token for token, _ in live_stream.stream(PARIS, "attention").odds()[:5]
    ]
    live_stream.stream_of.cache_clear()
    assert compute(f'next-token "{PARIS}"').text == "␣Paris"


def test_the_first_layer_that_is_right_is_right_to_the_end() -> None:
    first = int(compute(f'stream-first-right "{PARIS}" Paris').value or 0)
    layers = range(int(compute("model-size layers").value or 0))
    says = [compute(f'stream-guess "{PARIS}" {layer}').text == "␣Paris" for layer in layers]
    assert says[first:] == [True] * (len(layers) - first)
    assert first == 0 or not says[first - 1]
    table = compute(f'stream "{PARIS}"').text.splitlines()
    assert len(table) == len(layers) + 1
    assert [line.split()[0] for line in table[1:]] == [str(layer) for layer in layers]


def test_a_text_is_written_as_generate_writes_it(smollm2: Model) -> None:
    ids = torch.tensor([list(smollm2.tokenize(PARIS).ids)])
    with torch.no_grad():
        wanted = smollm2.module.generate(
            ids, max_new_tokens=6, do_sample=False, temperature=None, top_p=None, top_k=None, repetition_penalty=1.0
        )
    written = compute(f'written "{PARIS}" 6').text
    read = [int(line.split()[0]) for line in written.splitlines()[1:7]]
    assert read == list(range(ids.shape[1], ids.shape[1] + 6))
    assert written.split("\n\n", 1)[1].rstrip("\n") == smollm2.tokenizer.decode(wanted[0]).rstrip("\n")
    second = compute(f'written "{PARIS}" 1 place=2').text
    assert compute(f'next-token "{PARIS}" 2').text in second


def test_what_nobody_looks_at_has_no_say(smollm2: Model) -> None:
    plain = compute(f'next-table "{PARIS}"').text
    forbidden = compute(f'next-forbidden "{PARIS}" France').text
    assert "Paris" in plain
    assert "Paris" not in forbidden
    # The words before are the same, so only what the later words see of "France" can have changed.
    other = compute('next-forbidden "The capital of Poland is" Poland').text
    assert other.split()[::2] == forbidden.split()[::2]


def test_a_row_is_that_of_transformers_eager(smollm2: Model) -> None:
    weights = compute(f'head-row "{TROPHY}" it').text.splitlines()
    by_hand = [line.rstrip() for line in output("twenty_lines").splitlines()]
    seen, later = by_hand[:11], by_hand[11:]
    assert [line.split() for line in later] == [[word, "0.000"] for word in ("was", "too", "big", ".")]
    assert [line.split()[0] for line in seen] == [line.split()[0] for line in weights[:-1]]
    np.testing.assert_allclose(
        [float(line.split()[1]) for line in seen], [float(line.split()[1]) for line in weights[:-1]], atol=0.0011
    )
    row = smollm2.read(TROPHY, layers=16).row("it", 16, 3)
    np.testing.assert_allclose([float(line.split()[1]) for line in seen], row.weights[row.allowed], atol=ROUNDED)


def test_the_twenty_lines_are_twenty() -> None:
    assert len(source("twenty_lines")) == 20
    assert compute("script-lines twenty_lines").value == 20
    assert compute("script twenty_lines").text.splitlines()[-1].startswith("20  ")
    lesson = (FOLDER / "08-read-a-real-model.md").read_text(encoding="utf-8")
    assert "::: live script twenty_lines" in lesson


def test_rows_read_wrongly_are_wrong_in_the_way_named(smollm2: Model) -> None:
    weights = np.asarray(smollm2.read(TROPHY, layers=16).map(16, 3))
    labels, right = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 16, 3, "row")
    np.testing.assert_allclose(right, weights[10, :11], atol=1e-6)
    assert labels[1] == "trophy"
    shifted_labels, shifted = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 16, 3, "shifted")
    assert shifted_labels == [*labels[1:], labels[0]]
    assert np.array_equal(shifted, right)
    _, column = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 16, 3, "column")
    np.testing.assert_allclose(column, np.nan_to_num(weights[:, 10]), atol=1e-6)
    _, rest = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 16, 3, "without-first")
    np.testing.assert_allclose(rest, right[1:] / (1 - right[0]), atol=1e-6)
    assert compute(f'head-sum "{TROPHY}" it').value == pytest.approx(1, abs=1e-6)
    assert compute(f'head-largest "{TROPHY}" it').text == "trophy"
    assert compute(f'head-largest "{TROPHY}" it read=shifted').text == "did"
    row = smollm2.read(TROPHY, layers=16).row("it", 16, 3)
    assert compute(f'ordinary "{TROPHY}" it').value == pytest.approx(row.ordinary, abs=1e-6)


def test_rows_of_two_texts_differ_where_the_mask_lets_them(smollm2: Model, minilm: Model) -> None:
    one, two = (np.asarray(minilm.read(text, layers=2).map(2, 5)) for text in (TROPHY, SMALL))
    found = live_look.largest_differences("minilm", TROPHY, SMALL)
    assert (found >= np.abs(one - two).max(axis=1) - 1e-6).all()
    assert (found > 0).all()
    causal = live_look.largest_differences("smollm2", TROPHY, SMALL)
    assert not causal[:13].any()
    assert (causal[13:] > 0).all()
    assert compute(f'rows-differ "{TROPHY}" "{SMALL}" it').text == "0"
    assert "big / small" in compute(f'rows-differ-table "{TROPHY}" "{SMALL}"').text
    beside = compute(f'rows-beside "{TROPHY}" "{SMALL}" it').text.splitlines()[1:]
    assert all(line.split()[-1] == line.split()[-2] for line in beside)


def test_what_is_said_is_what_the_odds_say(smollm2: Model) -> None:
    prompt = f"{TROPHY} What does 'it' refer to? Answer: the"
    _, logits = hidden_states(smollm2, prompt)
    trophy, suit = (smollm2.tokenize(word, special_tokens=False).ids for word in (" trophy", " suitcase"))
    assert len(trophy) == 1
    # The second noun is two tokens: its log-probability is that of the first and of the second after it.
    more, after = hidden_states(smollm2, f"{prompt} suit")
    del more
    log = torch.log_softmax(logits, -1)
    wanted = log[trophy[0]] - log[suit[0]] - torch.log_softmax(after, -1)[suit[1]]
    assert compute("asked-odds size-trophy 1 digits=4").value == pytest.approx(wanted.item(), abs=1e-3)
    assert compute("asked size-trophy 1").text == ("the trophy" if wanted > 0 else "the suitcase")


def test_tables_of_answers_count_what_is_right() -> None:
    names = [one.id for one in pairs(None)][:2]
    right = 0
    for name in names:
        question_pair = live_asked.pair_named(name)
        for version, question in enumerate(question_pair.questions, 1):
            right += compute(f"asked {name} {version}").text == question.candidates[question.answer]
    both = ",".join(names)
    assert compute(f"asked-right {both}").value == right
    assert compute(f"asked-table {both}").text.endswith(f"right: {right} of 4")
    same = sum(compute(f"asked {name} 1").text == compute(f"asked {name} 2").text for name in names)
    assert compute(f"asked-same {both}").value == same
    assert compute(f"pair-text {names[0]} 2").text == SMALL


def test_recorded_figures_are_those_that_the_lab_checks() -> None:
    assert compute("recorded sink sink.median digits=6").value == recorded("sink", "smollm2")["sink.median"]
    assert compute("recorded causal causal.leaking").text == "0"
    assert compute("recorded causal causal.bit_equal").text == "yes"
    assert compute("recorded sink sink.follows").text == "place"
    percent = compute("recorded reference reference.ask.accuracy times=100 digits=0")
    assert percent.text == f"{100 * recorded('reference', 'smollm2')['reference.ask.accuracy']:.0f}"
    layers = compute("recorded-layers sink sink.layerN.median").text.splitlines()[1:]
    values = [recorded("sink", "smollm2")[f"sink.layer{layer}.median"] for layer in range(len(layers))]
    np.testing.assert_allclose(numbers_in("\n".join(layers)), values, atol=ROUNDED)
    most = compute("recorded-extreme sink sink.layerN.median largest").value
    assert most == float(np.argmax(values))
    assert set(shipped()) >= {"smollm2", "minilm"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("recorded sink sink.medain", "no figure 'sink.medain' is recorded.*did you mean"),
        ("recorded sunk sink.median", "nothing is recorded of 'sunk' on smollm2"),
        ("recorded sink sink.median model=gpt2", "nothing is recorded for 'gpt2'"),
        ("recorded-layers sink sink.median", "expected a name such as sink.layerN.median"),
        ("recorded-extreme sink sink.layerN.median most", "largest or smallest"),
        (f'stream "{PARIS}" without=thinking', "expected one of none, attention, feed-forward"),
        (f'next-table "{PARIS}" temperature=0', "expected more than 0"),
        (f'stream-guess "{PARIS}" 99', "expected a layer from 0 to 29"),
        (f'stream-first-right "{PARIS}" London', "not what the model says in the end"),
        (f'head-row "{TROPHY}" it read=upwards', "expected one of row, column"),
        (f'rows-differ "{TROPHY}" "The trophy" it', "equally many tokens"),
        ("asked size-torphy 1", "no built-in pair 'size-torphy'"),
        ("asked size-trophy 3", "expected version 1 or 2"),
        ("asked-table size-trophy versions=3", "expected both, 1 or 2"),
        ("asked-table size-trophy wording=9", "expected 1 to 3"),
        ("script twenty_one_lines", "no script 'twenty_one_lines'"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(call: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        compute(call)
