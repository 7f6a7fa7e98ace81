"""Live numbers of two texts, of length, of what is carried and of mixing, against NumPy, SciPy and transformers."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import logit, softmax

from heedmap.errors import LessonError
from heedmap.lessons.live import compute
from heedmap.lessons.live_across import ASKS, KEYS, VALUES
from heedmap.reading.model import Model
from tests.lessons.eager import eager_maps, ids_of, tokens_of

CAT, DOG = "The cat sat on the mat", "The dog sat on the mat"
TIRED, SOFT = "The cat sat on the mat because it was tired", "The cat sat on the mat because it was soft"

FLOAT = 1e-5
"""Weights are float32; the project's tolerance for them."""


def test_across_is_softmax_of_the_one_text_over_the_other() -> None:
    query, key = (np.array(list(one.values())) for one in (ASKS, KEYS))
    scores = query @ key.T / np.sqrt(2)
    right, turned, columns = softmax(scores, axis=1), softmax(scores.T, axis=1), softmax(scores, axis=0)
    for row, asks in enumerate(ASKS):
        for column, answers in enumerate(KEYS):
            call = f"{asks} {answers}"
            assert compute(f"across-product {call}").value == pytest.approx(np.dot(query[row], key[column]))
            assert compute(f"across-weight {call}").value == pytest.approx(right[row, column])
            assert compute(f"across-weight {call} broken=columns").value == pytest.approx(columns[row, column])
            swapped = compute(f"across-weight {answers} {asks} broken=turned").value
            assert swapped == pytest.approx(turned[column, row])
    for broken, weights in (("none", right), ("turned", turned), ("columns", columns)):
        lines = [line.split() for line in compute(f"across-table broken={broken}").text.splitlines()[1:]]
        assert [line[1:] for line in lines] == [[f"{one:.2f}" for one in (*row, row.sum())] for row in weights]
    assert compute("across-vector value black").text == "[0.0, 1.0]"
    assert set(VALUES) == set(KEYS)


def test_a_band_is_that_of_the_largest_difference_of_eager_maps(tiny_stands_in: Model, tiny_encoder: Model) -> None:
    one, two = (eager_maps(tiny_encoder, text) for text in (TIRED, SOFT))
    token = tokens_of(tiny_encoder, TIRED, "it")[-1]
    most = np.abs(one - two)[:, :, token].max()
    call = f'"{TIRED}" "{SOFT}" it'
    assert compute(f"rows-differ {call} model=minilm").value == pytest.approx(most, abs=FLOAT)
    assert most > 0.1
    assert compute(f"differs-band {call} model=minilm").text == "by more than a tenth"
    assert compute(f"differs-band {call}").text == "not at all", "a decoder has not seen the later word"
    assert compute(f'differs-band "{TIRED}" "{TIRED}" it model=minilm').text == "not at all"


SMOLLM2 = {"layers": 30, "heads": 9, "key_value_heads": 3, "dim": 64, "width": 576, "inner": 1536, "words": 49152}
"""Its published sizes."""


def test_what_a_prompt_costs_is_counted_from_the_models_sizes() -> None:
    size = SMOLLM2
    for tokens in (1, 1000, 4096):
        # Every pair that is not hidden: a product and a blend of `dim` numbers, each a multiplication and an addition.
        attention = size["layers"] * size["heads"] * (tokens * (tokens + 1) // 2) * 4 * size["dim"]
        projections = 2 * size["width"] * size["dim"] * 2 * (size["heads"] + size["key_value_heads"])
        forward = 3 * 2 * size["width"] * size["inner"]
        rest = size["layers"] * tokens * (projections + forward) + 2 * size["width"] * size["words"]
        assert compute(f"costs {tokens} attention").value == attention
        assert compute(f"costs {tokens} rest").value == rest
        assert compute(f"costs {tokens} attention-share").value == pytest.approx(attention / (attention + rest))
        cache = 2 * size["layers"] * size["key_value_heads"] * size["dim"] * tokens * 4
        assert compute(f"costs {tokens} cache").value == cache
        assert compute(f"costs {tokens} maps").value == size["layers"] * size["heads"] * tokens**2 * 4
    assert compute("costs 1000 maps times=1e-6").text == "1,080"
    assert compute("costs-grow 1000 10000 attention").value == pytest.approx(10_000 * 10_001 / (1_000 * 1_001))
    assert compute("costs-grow 1000 10000 cache").value == pytest.approx(10)


def test_the_crossing_is_the_first_length_at_which_attention_outweighs() -> None:
    length = int(compute("costs-crossing").value or 0)
    before, there = (compute(f"costs {tokens} attention-share").value or 0 for tokens in (length - 1, length))
    assert before <= 0.5 < there
    assert compute("costs-crossing").text == f"{length:,}"


def test_more_others_dilute_and_a_score_makes_up_for_it() -> None:
    for score, others in ((0, 10), (2, 10), (5, 1000), (-1, 3)):
        wanted = softmax([score, *[0.0] * others])[0]
        assert compute(f"diluted {score} {others}").value == pytest.approx(wanted)
    table = compute("diluted-table 0,5 10,1000").text.splitlines()
    rows = [[f"{softmax([score, *[0.0] * others])[0]:.3f}" for score in (0, 5)] for others in (10, 1000)]
    assert [line.split()[1:] for line in table[1:]] == rows
    for share, others in ((0.5, 10), (0.5, 10000), (0.9, 100)):
        needed = compute(f"needed {share} {others} digits=9").value
        assert needed == pytest.approx(logit(share) + np.log(others))
        assert compute(f"diluted {needed} {others}").value == pytest.approx(share)


def recorded_by_hand(model: str, experiment: str) -> dict[str, Any]:
    """The figures as they stand in the file of the lab."""
    file = resources.files("heedmap.lab") / "expectations" / f"{model}.json"
    parts = json.loads(file.read_text(encoding="utf-8"))["parts"]
    return {
        name: one["value"]
        for part in parts
        if part["experiment"] == experiment
        for name, one in part["figures"].items()
    }


def test_one_recorded_figure_minus_another_and_how_they_were_measured() -> None:
    for model, names in (
        ("smollm2", ("heads.held_out.chosen_effect", "heads.held_out.effect")),
        ("minilm", ("heads.clue.at_word.held_out.chosen_effect", "heads.clue.at_word.held_out.effect")),
    ):
        first, second = (recorded_by_hand(model, "heads")[name] for name in names)
        found = compute(f"recorded-minus heads {' '.join(names)} model={model}")
        assert found.value == pytest.approx(first - second)
        assert found.text == f"{first - second:.3f}"
    assert "first 12 of the built-in pairs" in compute("recorded-how matters").text
    assert compute("recorded-setting dilution facts").value == 12
    for what in ("sentences", "pairs"):
        lines = (resources.files("heedmap.lab.data") / f"{what}.jsonl").read_text(encoding="utf-8").splitlines()
        assert compute(f"built-in {what}").value == sum(bool(line.strip()) for line in lines)


def test_what_is_carried_is_the_weight_times_the_value_through_the_output_table(tiny_stands_in: Model) -> None:
    layer, head = 1, 2
    decoder = tiny_stands_in.module.model.layers[layer]
    with torch.no_grad():
        states = tiny_stands_in.module(input_ids=ids_of(tiny_stands_in, CAT), output_hidden_states=True).hidden_states
        values = decoder.self_attn.v_proj(decoder.input_layernorm(states[layer]))[0].double().numpy()
    table = decoder.self_attn.o_proj.weight.detach().double().numpy()
    width = table.shape[1] // 4
    shared = values[:, (head // 2) * width : (head // 2 + 1) * width]  # two heads read one key-value head
    lengths = np.linalg.norm(shared @ table[:, head * width : (head + 1) * width].T, axis=1)
    token = tokens_of(tiny_stands_in, CAT, "mat")[-1]
    carried = eager_maps(tiny_stands_in, CAT)[layer, head, token] * lengths
    place = f"layer={layer} head={head}"
    for word in ("cat", "sat", "mat"):
        on = tokens_of(tiny_stands_in, CAT, word)[-1]
        call = f'"{CAT}" mat {word} {place}'
        assert compute(f"carries {call}").value == pytest.approx(carried[on], rel=1e-4)
        assert compute(f"carries-length {call}").value == pytest.approx(lengths[on], rel=1e-4)
        assert compute(f"carries-share {call}").value == pytest.approx(carried[on] / carried.sum(), rel=1e-4)
    labels = list(tiny_stands_in.tokenize(CAT).labels)
    assert compute(f'carries-most "{CAT}" mat {place}').text == labels[int(carried.argmax())]
    table_rows = [line.split() for line in compute(f'carries-table "{CAT}" mat {place}').text.splitlines()[1:]]
    assert [row[0] for row in table_rows] == labels
    np.testing.assert_allclose([float(row[3]) for row in table_rows], carried, atol=0.0051)  # two digits are shown


def test_what_moves_is_the_difference_of_the_states_that_transformers_hands_out(tiny_stands_in: Model) -> None:
    def states(text: str) -> np.ndarray:
        with torch.no_grad():
            found = tiny_stands_in.module(input_ids=ids_of(tiny_stands_in, text), output_hidden_states=True)
        return np.stack([one[0].double().numpy() for one in found.hidden_states])

    one, two = states(CAT), states(DOG)
    wanted = np.linalg.norm(one - two, axis=2) / np.linalg.norm(one, axis=2)
    places = range(one.shape[1])
    for layer in range(3):
        for place in places:
            found = compute(f'moved "{CAT}" "{DOG}" {place} {layer}').value
            assert found == pytest.approx(wanted[layer, place], abs=FLOAT)
        most = compute(f'moved-most "{CAT}" "{DOG}" {layer}').text
        assert (
            most == compute(f'moved-table "{CAT}" "{DOG}" 0').text.splitlines()[1:][wanted[layer].argmax()][:9].strip()
        )
    # Into layer 0 come the words themselves: only the exchanged one differs. The first word sees none of it, but the
    # two texts run as one batch, whose rows a matrix product may add up in another order.
    assert [compute(f'moved "{CAT}" "{DOG}" {place} 0').value == 0 for place in places] == [
        place != 1 for place in places
    ]
    assert compute(f'moved "{CAT}" "{DOG}" 0 2').value == pytest.approx(0, abs=FLOAT)
    assert compute(f'moved "{CAT}" "{DOG}" 2 1').value > FLOAT  # type: ignore[operator]


def test_where_the_numbers_are_is_counted(tiny_stands_in: Model) -> None:
    counted = {"attention": 0, "feed-forward": 0, "words": 0, "all": 0}
    for name, numbers in tiny_stands_in.module.named_parameters():
        where = {"self_attn": "attention", "mlp": "feed-forward", "embed_tokens": "words"}
        counted["all"] += numbers.numel()
        for part, holder in where.items():
            counted[holder] += numbers.numel() if part in name.split(".") else 0
    for holder, count in counted.items():
        assert compute(f"holds {holder} digits=6").value == pytest.approx(count / 1e6)
    shares = [line.split()[-1] for line in compute("holds-table").text.splitlines()[1:]]
    assert shares == [f"{count / counted['all']:.2f}" for count in counted.values()]
    assert compute("holds-band all").text == "nearly all"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("across-weight cat chat", "expected one of chat, noir and one of a, black, cat"),
        ("across-product chat dog", "expected one of chat, noir"),
        ("across-table broken=sideways", "option broken: expected one of none, turned, columns"),
        ("across-vector key chat", "expected query, key or value and a word that has one"),
        ("costs 100 money", "expected one of attention, rest, cache"),
        ("needed 1.5 10", "expected a share between 0 and 1"),
        ("recorded-minus heads heads.best heads.p", "expected two figures that are numbers"),
        ("recorded-setting dilution fcats", "no setting 'fcats'.*did you mean"),
        ("built-in lessons", "expected sentences or pairs"),
        (f'moved "{CAT}" "The cat" 0 0', "equally many tokens"),
        (f'moved "{CAT}" "{DOG}" 0 3', "a layer from 0 to 2"),
        (f'moved-most "{CAT}" "{DOG}" 7', "expected a layer from 0 to 2"),
        (f'moved-table "{CAT}" "{DOG}" 0,9', "expected layers from 0 to 2"),
        (f'carries "{CAT}" sat mat layer=1 head=0', "that 'sat' may look at, found 'mat'"),
        ("holds elsewhere", "expected one of attention, feed-forward, words, all"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(tiny_stands_in: Model, call: str, says: str) -> None:
    with pytest.raises(LessonError, match=says):
        compute(call)
