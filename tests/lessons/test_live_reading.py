"""Live numbers of real models: against transformers alone, against the lab's records, and against readings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from heedmap.errors import LessonError
from heedmap.lab.data import pairs
from heedmap.lab.expectations import shipped
from heedmap.lessons import live_asked, live_look, live_stream
from heedmap.lessons.live import compute
from heedmap.lessons.live_lab import recorded
from heedmap.reading.model import Model
from tests.conftest import ROUNDING

TROPHY = "The trophy did not fit in the suitcase because it was too big."
SMALL = TROPHY.replace("big", "small")
PARIS = "The capital of France is"

ROUNDED = 6e-4
"""Three digits after the point, and what float32 kernels differ by."""


pytestmark = pytest.mark.usefixtures("tiny_stands_in")


def numbers_in(text: str) -> list[float]:
    return [float(word) for word in text.split() if word.replace(".", "").isdecimal() and "." in word]


def hidden_states(model: Model, text: str) -> tuple[Any, Any]:
    """transformers' own states of the last token, and its logits, with nothing of ours in between."""
    ids = torch.tensor([list(model.tokenize(text).ids)])
    with torch.no_grad():
        result = model.module(input_ids=ids, output_hidden_states=True)
    return [state[0, -1].numpy() for state in result.hidden_states], result.logits[0, -1].double()


def label_of(model: Model, token: int) -> str:
    """A token as it is written in tables."""
    return str(model.tokenizer.decode([token])).replace(" ", "␣")


def test_what_is_added_leads_from_one_state_to_the_next(tiny_decoder: Model) -> None:
    found = live_stream.stream(PARIS)
    states, logits = hidden_states(tiny_decoder, PARIS)
    # transformers hands out the state before each layer; the last one it hands out has its norm already.
    for layer in range(len(found.before) - 1):
        after = found.before[layer] + found.attention[layer] + found.feed_forward[layer]
        np.testing.assert_allclose(found.before[layer], states[layer], atol=1e-4, rtol=1e-4)
        np.testing.assert_allclose(after, states[layer + 1], atol=1e-3, rtol=1e-4)  # sums of numbers near 100
    np.testing.assert_allclose(found.logits, logits.numpy(), atol=1e-3)
    odds = torch.softmax(logits, -1)
    token, probability = found.odds()[0]
    assert token == found.guesses[-1][0] == label_of(tiny_decoder, int(odds.argmax()))
    assert probability == pytest.approx(odds.max().item(), abs=1e-5)
    assert found.guesses[-1][1] == pytest.approx(probability, abs=1e-5)


def test_temperature_divides_the_scores(tiny_decoder: Model) -> None:
    _, logits = hidden_states(tiny_decoder, PARIS)
    for temperature in (0.5, 1.0, 2.0):
        wanted = torch.softmax(logits / temperature, -1).max().item()
        found = compute(f'next-odds "{PARIS}" temperature={temperature}').value
        assert found == pytest.approx(wanted, abs=1e-4)


def test_a_model_left_without_a_part_adds_nothing_from_there_and_is_whole_again(tiny_decoder: Model) -> None:
    def hooks() -> int:
        return sum(len(one._forward_hooks) + len(one._forward_pre_hooks) for one in tiny_decoder.module.modules())

    before, whole = hooks(), live_stream.stream(PARIS)
    for part, kept in (("attention", "feed_forward"), ("feed-forward", "attention")):
        found = live_stream.stream(PARIS, part)
        assert not getattr(found, part.replace("-", "_")).any()
        assert getattr(found, kept).any()
        assert found.odds()[0] != whole.odds()[0]
    assert hooks() == before
    # Without attention nothing but the last token itself has a say.
    other = live_stream.stream("My name is", "attention").odds()
    assert [token for token, _ in other[:5]] == [
        token for token, _ in live_stream.stream(PARIS, "attention").odds()[:5]
    ]
    live_stream.stream_of.cache_clear()
    assert live_stream.stream(PARIS).odds()[0] == whole.odds()[0]


def test_the_first_layer_that_is_right_is_right_to_the_end() -> None:
    end = compute(f'next-token "{PARIS}"').text
    first = int(compute(f'stream-first-right "{PARIS}" "{end.lstrip("␣")}"').value or 0)
    layers = range(int(compute("model-size layers").value or 0))
    says = [compute(f'stream-guess "{PARIS}" {layer}').text == end for layer in layers]
    assert says[first:] == [True] * (len(layers) - first)
    assert first == 0 or not says[first - 1]
    table = compute(f'stream "{PARIS}"').text.splitlines()
    assert len(table) == len(layers) + 1
    assert [line.split()[0] for line in table[1:]] == [str(layer) for layer in layers]


def test_a_text_is_written_as_generate_writes_it(tiny_decoder: Model) -> None:
    ids = torch.tensor([list(tiny_decoder.tokenize(PARIS).ids)])
    with torch.no_grad():
        wanted = tiny_decoder.module.generate(
            ids, max_new_tokens=6, do_sample=False, temperature=None, top_p=None, top_k=None, repetition_penalty=1.0
        )
    written = compute(f'written "{PARIS}" 6').text
    read = [int(line.split()[0]) for line in written.splitlines()[1:7]]
    assert read == list(range(ids.shape[1], ids.shape[1] + 6))
    assert written.split("\n\n", 1)[1].rstrip("\n") == tiny_decoder.tokenizer.decode(wanted[0]).rstrip("\n")
    second = compute(f'written "{PARIS}" 1 place=2').text
    assert compute(f'next-token "{PARIS}" 2').text in second


def test_what_nobody_looks_at_has_no_say(tiny_decoder: Model) -> None:
    plain = compute(f'next-table "{PARIS}"').text
    forbidden = compute(f'next-forbidden "{PARIS}" France').text
    assert plain != forbidden
    # The words before are the same, so only what the later words see of "France" can have changed.
    other = compute('next-forbidden "The capital of Poland is" Poland').text
    assert other.split()[::2] == forbidden.split()[::2]


def test_rows_read_wrongly_are_wrong_in_the_way_named(tiny_decoder: Model) -> None:
    weights = np.asarray(tiny_decoder.read(TROPHY, layers=1).map(1, 2))
    labels, right = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 1, 2, "row")
    np.testing.assert_allclose(right, weights[10, :11], atol=ROUNDING)
    assert labels[1] == "trophy"
    shifted_labels, shifted = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 1, 2, "shifted")
    assert shifted_labels == [*labels[1:], labels[0]]
    np.testing.assert_allclose(shifted, right, atol=ROUNDING)
    _, column = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 1, 2, "column")
    np.testing.assert_allclose(column, np.nan_to_num(weights[:, 10]), atol=ROUNDING)
    _, rest = live_look.numbers_of(live_look._reading("smollm2", TROPHY), "it", 1, 2, "without-first")
    np.testing.assert_allclose(rest, right[1:] / (1 - right[0]), atol=ROUNDING)
    place = "layer=1 head=2"
    assert compute(f'head-sum "{TROPHY}" it {place}').value == pytest.approx(1, abs=ROUNDING)
    most = int(right.argmax())
    assert compute(f'head-largest "{TROPHY}" it {place}').text == labels[most]
    assert compute(f'head-largest "{TROPHY}" it {place} read=shifted').text == labels[(most + 1) % len(labels)]
    row = tiny_decoder.read(TROPHY, layers=1).row("it", 1, 2)
    assert compute(f'ordinary "{TROPHY}" it {place}').value == pytest.approx(row.ordinary, abs=ROUNDING)


def test_rows_of_two_texts_differ_where_the_mask_lets_them(tiny_decoder: Model, tiny_encoder: Model) -> None:
    one, two = (np.asarray(tiny_encoder.read(text, layers=2).map(2, 3)) for text in (TROPHY, SMALL))
    found = live_look.largest_differences("minilm", TROPHY, SMALL)
    assert (found >= np.abs(one - two).max(axis=1) - 1e-6).all()
    assert (found > 0).all()
    causal = live_look.largest_differences("smollm2", TROPHY, SMALL)
    assert not causal[:13].any()
    assert (causal[13:] > 0).all()
    assert compute(f'rows-differ "{TROPHY}" "{SMALL}" it').text == "0"
    assert "big / small" in compute(f'rows-differ-table "{TROPHY}" "{SMALL}"').text
    beside = compute(f'rows-beside "{TROPHY}" "{SMALL}" it layer=1').text.splitlines()[1:]
    assert all(line.split()[-1] == line.split()[-2] for line in beside)


def test_what_is_said_is_what_the_odds_say(tiny_decoder: Model) -> None:
    prompt = f"{TROPHY} What does 'it' refer to? Answer: the"
    _, logits = hidden_states(tiny_decoder, prompt)
    trophy, suit = (tiny_decoder.tokenize(word, special_tokens=False).ids for word in (" trophy", " suitcase"))
    assert len(trophy) == 1
    # The second noun is two tokens: its log-probability is that of the first and of the second after it.
    more, after = hidden_states(tiny_decoder, f"{prompt} suit")
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
    assert compute("recorded causal causal.same_length").text == "45"
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
        (f'stream-guess "{PARIS}" 99', "expected a layer from 0 to 2"),
        (f'stream-first-right "{PARIS}" London', "not what the model says in the end"),
        (f'head-row "{TROPHY}" it layer=1 read=upwards', "expected one of row, column"),
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


def test_what_is_said_in_both_versions_is_told_in_words() -> None:
    for name in ("size-trophy", "matter-tea", "tools-knife"):
        for wording in (1, 2):
            pair = live_asked.pair_named(name)
            said = [pair.candidates[int(odds < 0)] for odds in live_asked.log_odds(name, wording - 1)]
            right = [pair.candidates[answer] for answer in pair.answers]
            words = (
                f"{said[0]} twice"
                if said[0] == said[1]
                else f"the {'right' if said == right else 'wrong'} one each time"
            )
            assert compute(f"asked-both {name} wording={wording}").text == words
