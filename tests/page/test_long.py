"""2,048 tokens and one layer: rows, single cells and pooled maps worked out in the browser from queries and keys."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from heedmap.drawing.palette import BLUE, SAND, shade
from heedmap.reading.layers import AttentionLayer
from heedmap.reading.model import Model
from heedmap.reading.reading import Reading
from heedmap.reading.rule import MaskRule
from heedmap.text.tokens import Token, Tokens
from tests.drawing.page.making import HEADS, SHARED, about, call
from tests.page.conftest import Written
from tests.page.looking import colours, eventually, go, looked_at, number_of

TOKENS = 2048

WORST = 5e-3
"""How far a weight may be off that is worked out from queries and keys in float16."""


@pytest.fixture(scope="module")
def long(folder: Path) -> Written[Reading]:
    """Random queries and keys, in numbered words."""
    words = [f"w{index}" for index in range(TOKENS)]
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])]).tolist()
    tokens = Tokens(
        " ".join(words),
        tuple(
            Token(index, index, word, start, start + len(word))
            for index, (word, start) in enumerate(zip(words, starts, strict=True))
        ),
    )
    layers = (AttentionLayer(0, "layers.0", HEADS, SHARED),)
    calls = OrderedDict({0: call(MaskRule(TOKENS, TOKENS, ahead=0), 16, seed=0)})
    read = Reading(tokens, layers, calls, about(layers))
    read.page(folder / "long.html", layer=0, head=1)
    return Written(folder / "long.html", read)


@pytest.fixture(scope="module")
def page(browser: Browser, long: Written[Reading]) -> Iterator[Page]:
    with looked_at(browser, long.path) as page:
        yield page


@pytest.fixture(scope="module")
def weights(long: Written[Reading]) -> NDArray[np.float64]:
    return np.asarray(long.subject.map(0, 1), dtype=np.float64)


def carried(path: Path) -> str:
    header = json.loads(path.read_text(encoding="utf-8").partition('id="heedmap-header">')[2].partition("</script>")[0])
    return str(header["readings"][0]["layers"][0]["carries"])


def test_a_row_far_down(page: Page, long: Written[Reading], weights: NDArray[np.float64]) -> None:
    """As prose with shaded words, and the largest as a list, whose sum and rest are those of the row."""
    assert carried(long.path) == "queries and keys"
    go(page, "view=read&layer=0&head=1&query=1900")
    row = weights[1900]

    def check() -> None:
        listed = page.locator(".largest li").all_inner_texts()
        assert len(listed) == 12
        places = [int(line.rpartition("at ")[2]) for line in listed]
        shown = np.array([number_of(line.partition("”")[2]) for line in listed])
        np.testing.assert_allclose(shown, row[places], rtol=0, atol=WORST)
        np.testing.assert_allclose(shown, np.sort(row)[::-1][:12], rtol=0, atol=WORST)

    eventually(page, check)
    expect(page.locator(".sentence")).to_contain_text("The row adds up to 1.0")
    expect(page.locator(".reader-below")).to_contain_text("147 later tokens cannot be seen")


@pytest.mark.parametrize(("query", "key"), [(2047, 0), (2047, 2046), (1024, 512)])
def test_a_single_cell(page: Page, weights: NDArray[np.float64], query: int, key: int) -> None:
    go(page, f"view=read&layer=0&head=1&query={query}&key={key}")
    line = page.locator(".map-line")
    expect(line).to_contain_text(f"“w{query}” (token {query}) looks at “w{key}” (token {key})")
    assert number_of(line.inner_text().partition("weight")[2]) == pytest.approx(weights[query, key], abs=WORST)


def test_the_small_map_is_pooled_exactly(page: Page, long: Written[Reading]) -> None:
    """Zoomed out 32 times, each cell is the largest weight of its block: that of Python, in Python's colours."""
    go(page, "view=heads&layer=0&head=1")
    the_map = long.subject.map(0, 1)
    weights, allowed = np.asarray(the_map, dtype=np.float64), np.tri(TOKENS, dtype=bool)
    down = np.linspace(0, TOKENS, 65).astype(int)[:-1]
    across = [0, *(1 + np.linspace(0, TOKENS - 1, 65).astype(int)[:-1])]  # the first token has a column of its own
    largest, there = (
        np.maximum.reduceat(np.maximum.reduceat(one, down, axis=0), across, axis=1) for one in (weights, allowed)
    )
    top = largest[:, 1:].max()
    expected = 255 * shade(largest / top, BLUE)
    expected[:, 0] = 255 * shade(largest[:, 0], SAND)

    def check() -> None:
        pixels = colours(page, ".panel-layer .head-map:has(.head-caption:text('head 1')) canvas")
        assert pixels.shape == (64, 65, 4)
        assert ((pixels[..., 3] > 0) == there).all()
        # Over the whole scale a channel moves by 225: 5e-3 of a top near 1 is about a level.
        assert np.abs(pixels[..., :3] - expected)[there].max() <= 1.5 + 225 * 2 * WORST / top

    eventually(page, check)


def test_zooming_in_comes_to_single_cells(page: Page) -> None:
    go(page, "view=read&layer=0&head=1&query=1900&key=1899")
    legend = page.locator(".panel-map")
    expect(legend).to_contain_text("each cell is the largest of")
    page.locator(".map-stage").focus()
    for _ in range(16):
        page.keyboard.press("+")
    expect(legend).not_to_contain_text("each cell is the largest of")
    page.keyboard.press("0")
    expect(legend).to_contain_text("each cell is the largest of")


def test_a_long_text_is_not_drawn_as_a_whole(page: Page) -> None:
    """Words far from the screen are not there until they come near."""
    go(page, "view=read&layer=0&head=1&query=5")
    expect(page.locator(".words-long")).to_be_visible()
    page.reload()
    expect(page.locator(".words [data-place]").first).to_be_visible()
    assert page.locator(".words [data-place]").count() < TOKENS


@pytest.mark.slow
def test_a_real_model_at_2048_tokens(browser: Browser, smollm2: Model, folder: Path, data_folder: Path) -> None:
    """smollm2 on the beginning of a novel: a file of at most 6 MB, whose cells are the model's own."""
    text = (data_folder / "texts" / "pride_and_prejudice.8k.txt").read_text(encoding="utf-8")
    tokens = smollm2.tokenize(text)
    read = smollm2.read_tokens(Tokens(tokens.text, tokens.tokens[:TOKENS]), layers=[16], values=True)
    path = folder / "novel.html"
    read.page(path, layer=16, head=3)
    assert path.stat().st_size < 6e6
    row = np.asarray(read.map(16, 3)[2000], dtype=np.float64)
    with looked_at(browser, path, f"#view=read&layer=16&head=3&query=2000&key={row[1:].argmax() + 1}") as page:
        line = page.locator(".map-line")
        expect(line).to_contain_text("looks at")
        assert number_of(line.inner_text().partition("weight")[2]) == pytest.approx(row[1:].max(), abs=WORST)
        eventually(page, lambda: expect(page.locator(".steps-check")).to_be_visible())
        assert float(page.locator(".steps-check").get_attribute("data-difference") or "nan") < WORST
