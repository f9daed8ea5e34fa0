"""A map of 14,336 neurons in a browser: small, every cell true, and no neuron vanishes."""

import base64
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from ffnviz.app.mounting import mount_cell
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.cell import Head
from tests.browser.plain_page import PlainPage, payload, served

D_FF, N_TOKENS = 14_336, 9
STAND_OUT = {(3, 777): -2.5, (5, 14_335): 2.25, (8, 0): 2.75, (1, 9_001): -3.0, (6, 5_000): 2.0}

# A row's pixels that have the colour of the scale's ends.
STRONGEST = """(canvas, row) => {
    const { data } = canvas.getContext("2d").getImageData(0, row, canvas.width, 1);
    const seen = new Set();
    for (let x = 0; x < canvas.width; x++) seen.add(data.slice(4 * x, 4 * x + 3).join());
    return [canvas.width, seen.size];
}"""


@pytest.fixture(scope="module")
def files() -> Iterator[str]:
    with served() as address:
        yield address


def a_wide_map() -> ActivationMap:
    generator = np.random.default_rng(0)
    hidden = 0.1 * generator.normal(size=(N_TOKENS, D_FF)).astype(np.float32)
    for (token, neuron), value in STAND_OUT.items():
        hidden[token, neuron] = value
    hidden[0, :3] = (900, -700, 500)  # as the first token of trained networks has them
    names = [f"t{token}" for token in range(N_TOKENS)]
    order = generator.permutation(D_FF)
    return ActivationMap("wide", "Wide", "#009e73", "", hidden, order, names, 3)


def show(shown: ActivationMap) -> None:
    cell = maps_cell(
        Head("A map.", "any-maps", "#009e73"), [shown], ("wide", 777), ("index",), "index",
        "k", on_choose=lambda *_: None, on_order=lambda _: None, on_open=lambda *_: None,
    )  # fmt: skip
    mount_cell(cell, "stamp")


def test_every_neuron_that_stands_out_is_seen_and_named(browser: Browser, files: str) -> None:
    shown = a_wide_map()
    _, sent = payload(lambda: show(shown))
    assert len(base64.b64decode(sent["packed"])) < 200_000
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    plain = PlainPage(page, files)
    host = plain.hang("wide", lambda: show(shown))
    canvas = host.locator("canvas").first
    box = canvas.bounding_box()
    assert box is not None
    places = np.argsort(shown.order)  # of each neuron, from left to right
    for (token, neuron), value in STAND_OUT.items():
        x = box["x"] + (places[neuron] + 0.5) / D_FF * box["width"]
        y = box["y"] + (token + 0.5) / N_TOKENS * box["height"]
        found = []
        for step in (0, -1, 1):  # a column has neighbours of its neuron, too
            page.mouse.move(x + step, y)
            found.append(host.locator(".tip:not([hidden])").inner_text())
        assert f"t{token} · neuron {neuron} · {value:.2f}".replace("-", "−") in found, found
    # Had the first token's 900 set the scale, all of this would be the background.
    width, colours = canvas.evaluate(STRONGEST, 7)
    assert width < D_FF
    assert colours > 60
    expect(host.locator(".beyond")).to_have_text("values beyond ±0.28 are drawn as ±0.28")
    page.close()
