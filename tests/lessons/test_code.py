"""A learner's code: right code is right, each planted mistake is named with the step, and nothing runs for ever."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from heedmap.errors import FileError, LessonError
from heedmap.lessons.code.cases import SIGNATURES, cases_of
from heedmap.lessons.code.judge import Judgement, Report, check_code
from heedmap.lessons.code.sandbox import run_calls
from tests.faults.processes import all_end

GOOD = """\
import math


def dot_product(a, b):
    return sum(x * y for x, y in zip(a, b))


def softmax(xs):
    top = max(xs)
    e = [math.exp(x - top) for x in xs]
    return [x / sum(e) for x in e]


def weighted_average(weights, values):
    if isinstance(values[0], list):
        return [dot_product(weights, column) for column in zip(*values)]
    return dot_product(weights, values)


def products(query, keys):
    return [dot_product(query, key) for key in keys]


def scores(query, keys):
    return [p / math.sqrt(len(query)) for p in products(query, keys)]


def attend(query, keys, values):
    weights = softmax(scores(query, keys))
    return weighted_average(weights, values)


def attend_all(queries, keys, values):
    return [attend(q, keys[: i + 1], values[: i + 1]) for i, q in enumerate(queries)]
"""

WITH_NUMPY = """\
import numpy as np


def softmax(xs):
    e = np.exp(np.array(xs) - np.max(xs))
    return e / e.sum()


def attend(query, keys, values):
    query, keys, values = np.array(query), np.array(keys), np.array(values)
    products = keys @ query
    scores = products / np.sqrt(len(query))
    weights = softmax(scores)
    return {"products": products, "scores": scores, "weights": weights, "output": weights @ values}


def attend_all(queries, keys, values):
    q, k, v = np.array(queries), np.array(keys), np.array(values)
    s = q @ k.T / np.sqrt(q.shape[1])
    s[np.triu(np.ones_like(s), 1) == 1] = -np.inf
    e = np.exp(s - s.max(axis=1, keepdims=True))
    w = e / e.sum(axis=1, keepdims=True)
    return w, w @ v
"""


def checked(tmp_path: Path, source: str, **limits: Any) -> Report:
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    return check_code(path, **limits)


def judged(tmp_path: Path, source: str, function: str) -> Judgement:
    report = checked(tmp_path, source)
    assert report.problem == ""
    return next(one for one in report.judgements if one.function == function)


def test_right_code_is_right(tmp_path: Path) -> None:
    report = checked(tmp_path, GOOD)
    assert [(one.function, one.outcome) for one in report.judgements] == [(name, "right") for name in SIGNATURES]
    assert report.all_right


def test_right_code_with_numpy_and_with_its_steps_is_right(tmp_path: Path) -> None:
    report = checked(tmp_path, WITH_NUMPY)
    assert {one.function: one.outcome for one in report.judgements} == {
        "dot_product": "missing",
        "softmax": "right",
        "weighted_average": "missing",
        "attend": "right",
        "attend_all": "right",
    }
    assert report.all_right


SLIPS = [
    ("dot_product", "return sum(x * y for x, y in zip(a, b))", "return sum(a) + sum(b)", "added-instead", "result"),
    ("dot_product", "zip(a, b)", "zip(a, b[::-1])", "crossed-over", "result"),
    ("softmax", "[x / sum(e) for x in e]", "[math.exp(x) for x in xs] if top < 9 else e", "forgot-total", "result"),
    ("softmax", "return [x / sum(e) for x in e]", "return [x / sum(xs) for x in xs]", "no-softmax", "result"),
    ("softmax", "math.exp(x - top)", "2 ** (x - top)", "power-of-two", "result"),
    ("weighted_average", "dot_product(weights, values)", "sum(values)", "summed-values", "result"),
    ("weighted_average", "dot_product(weights, values)", "sum(values) / len(values)", "even-average", "result"),
    ("attend", "p / math.sqrt(len(query))", "p", "forgot-scale", "scores"),
    ("attend", "p / math.sqrt(len(query))", "p / len(query)", "divided-by-d", "scores"),
    ("attend", "p / math.sqrt(len(query))", "p * math.sqrt(len(query))", "multiplied-by-root", "scores"),
    (
        "attend",
        "[dot_product(query, key) for key",
        "[dot_product(query[::-1], key) for key",
        "crossed-over",
        "products",
    ),
    ("attend", "softmax(scores(query, keys))", "softmax(scores(query, values))", "value-for-key", "products"),
    (
        "attend",
        "scores(query, keys))\n",
        "scores(query, keys)); weights = [1 / len(keys)] * len(keys)\n",
        "even-average",
        "weights",
    ),
    (
        "attend",
        "return weighted_average(weights, values)",
        "return [sum(c) for c in zip(*values)]",
        "summed-values",
        "output",
    ),
    (
        "attend",
        "return weighted_average(weights, values)",
        "return weighted_average(weights, keys)",
        "key-for-value",
        "output",
    ),
    ("attend_all", "keys[: i + 1], values[: i + 1]", "keys, values", "looked-ahead", "weights"),
    ("attend_all", "keys[: i + 1], values[: i + 1]", "keys[i:], values[i:]", "upside-down-mask", "weights"),
]


@pytest.mark.parametrize(
    ("function", "right", "wrong", "mistake", "step"), SLIPS, ids=[f"{s[0]}-{s[3]}" for s in SLIPS]
)
def test_each_planted_mistake_is_named_with_its_step(
    tmp_path: Path, function: str, right: str, wrong: str, mistake: str | None, step: str
) -> None:
    assert right in GOOD
    found = judged(tmp_path, GOOD.replace(right, wrong, 1), function)
    assert (found.outcome, found.mistake, found.step) == ("wrong", mistake, step), found.says


ALL_SLIPS = [
    ("e = e / e.sum(axis=1, keepdims=True)", "e / e.sum(axis=0, keepdims=True)", "wrong-axis"),
    ("masked", "np.where(back, np.exp(s) / np.exp(s).sum(axis=1, keepdims=True), 0)", "masked-after"),
    (
        "zeroed",
        "np.exp(np.where(back, s, 0)) / np.exp(np.where(back, s, 0)).sum(axis=1, keepdims=True)",
        "masked-as-zero",
    ),
]


@pytest.mark.parametrize(("about", "weights", "mistake"), ALL_SLIPS, ids=[slip[2] for slip in ALL_SLIPS])
def test_mistakes_of_whole_sentences_are_named(tmp_path: Path, about: str, weights: str, mistake: str) -> None:
    source = f"""\
import numpy as np


def attend_all(queries, keys, values):
    q, k, v = np.array(queries), np.array(keys), np.array(values)
    s = q @ k.T / np.sqrt(q.shape[1])
    back = np.tri(len(q)) == 1
    e = np.where(back, np.exp(s), 0)
    w = {weights}
    return w, w @ v
"""
    found = judged(tmp_path, source, "attend_all")
    assert (found.mistake, found.step) == (mistake, "weights"), about
    assert "first goes wrong at softmax" in found.says


def test_the_first_wrong_step_of_several_is_named(tmp_path: Path) -> None:
    source = """\
def attend(query, keys, values):
    products = [sum(a * b for a, b in zip(query, key)) for key in keys]
    return {"products": products, "scores": [p + 1 for p in products], "weights": products, "output": query}
"""
    found = judged(tmp_path, source, "attend")
    assert found.step == "scores"
    assert "first goes wrong at scale (the scores): expected [0.07071" in found.says


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return None", r"expected numbers, found None \(is there a `return`\?\)"),
        ("return 'a'", "expected numbers, found str"),
        ("return [1, [2, 3]]", "lists of numbers of the same length"),
        ("return [y for y in xs if y > 99]", r"expected \[0.6652, 0.2447, 0.09003\], found \[\]"),
        ("return 1 / 0", "broke off: line 5: ZeroDivisionError: division by zero"),
        (
            "return [math.exp(x) / sum(math.exp(y) for y in xs) for x in xs]",
            "take the largest score off every score first",
        ),
        ("w = GOOD(xs); xs.clear(); return w", "is right but changes its arguments"),
        ("raise SystemExit(0)", "broke off: line 5: SystemExit: 0"),
        ("return softmax(xs)", "broke off: line 5: RecursionError"),
    ],
)
def test_what_else_can_go_wrong_is_told(tmp_path: Path, body: str, says: str) -> None:
    good = "GOOD = lambda xs: (lambda e: [x / sum(e) for x in e])([math.exp(x - max(xs)) for x in xs])"
    source = f"import math\n{good}\n\ndef softmax(xs):\n    {body}\n"
    found = judged(tmp_path, source, "softmax")
    assert found.outcome == "wrong"
    assert re.search(says, found.says), found.says


def test_a_loop_without_end_is_ended(tmp_path: Path) -> None:
    report = checked(tmp_path, "def softmax(xs):\n    while True: pass\n", seconds=0.7)
    assert report.problem == "it did not end within 0.7 seconds: is there a loop without end?"
    assert not report.all_right


def test_memory_without_end_is_ended(tmp_path: Path) -> None:
    report = checked(tmp_path, "def softmax(xs):\n    return [0] * 10**10\n")
    (found,) = [one for one in report.judgements if one.function == "softmax"]
    assert "broke off: line 2: MemoryError" in found.says


def test_children_of_the_learners_code_are_ended_too(tmp_path: Path) -> None:
    source = f"""\
import os, time
if os.fork() == 0:
    time.sleep(1.5)
    open({str(tmp_path / "late")!r}, "w").write("still here")
    os._exit(0)
time.sleep(60)
"""
    assert "did not end" in checked(tmp_path, source, seconds=0.5).problem
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_a_learners_code_that_sleeps_does_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    file = tmp_path / "sleeps.py"
    file.write_text(
        f"import os, time\nprint(os.getpid(), file=open({str(tmp_path / 'child')!r}, 'w'))\ntime.sleep(600)\n"
    )
    code = "import sys; from pathlib import Path; from heedmap.lessons.code.sandbox import run_calls; "
    code += "run_calls(Path(sys.argv[1]), [], seconds=3)"
    parent = subprocess.Popen([sys.executable, "-c", code, str(file)])
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        assert parent.poll() is None
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    child = psutil.Process(int((tmp_path / "child").read_text()))
    assert child.is_running()
    assert all_end([child])


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def softmax(xs:\n", r"it cannot be loaded: line 1: SyntaxError: '\(' was never closed"),
        ("import no_such_thing\n", "it cannot be loaded: line 1: ModuleNotFoundError: No module named 'no_such_thing'"),
        ("import os\nos._exit(3)\n", "it broke off: the process ended with code 3"),
        ("exit()\n", "it cannot be loaded: line 1: SystemExit"),
    ],
)
def test_a_file_that_cannot_be_run_is_told(tmp_path: Path, source: str, says: str) -> None:
    assert re.match(says, checked(tmp_path, source).problem), checked(tmp_path, source).problem


def test_what_the_code_prints_is_kept_apart(tmp_path: Path) -> None:
    report = checked(
        tmp_path, "print('hello')\ndef dot_product(a, b):\n    print(a)\n    return sum(map(lambda x, y: x*y, a, b))\n"
    )
    assert report.printed.startswith("hello\n[2.0, 1.0, 0.0]\n")
    assert report.all_right


def test_a_file_beside_it_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def softmax(xs):\n    return xs\n", encoding="utf-8")
    assert judged(tmp_path, "from other import softmax\n", "softmax").outcome == "wrong"


def test_there_must_be_such_a_file_and_such_a_function(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        run_calls(tmp_path / "none.py", [])
    with pytest.raises(LessonError, match=r"no function 'sofmax': expected one of .*did you mean \"softmax\""):
        cases_of("sofmax")


def test_every_function_has_several_cases() -> None:
    assert all(len(cases_of(function)) >= 5 for function in SIGNATURES)
