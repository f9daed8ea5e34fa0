"""The Dimensions page: a plane through three tokens, morphed by sliders and kept in the link."""

import numpy as np

from ffnviz.models.encoder.model import Model
from ffnviz.parts.dimensions.warp import warp
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "She opened the [MASK] and looked out."
# The grid's points in the last panel, in the order in which they were sent.
GRID = """(figure) => {
    const drawn = figure.querySelector(".plot").data.filter((trace) => trace.name === "grid")[2];
    return Array.from(drawn.x).filter((x) => !Number.isNaN(x));
}"""


def grid(journey: Journey) -> np.ndarray:
    return np.array(journey.chart("warp").evaluate(GRID))


def test_a_plane_is_folded_and_unfolded(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("dimensions", part="warp", text=SENTENCE,
                                   warp_second="1", warp_third="5")  # fmt: skip
    model = twins["relu"]
    inputs = model.trace(SENTENCE).blocks[1].ffn.input[[3, 0, 4]]
    found = warp(model, 1, inputs, model.card.phi, 8)
    assert f"{len(found.lines)} straight lines" in journey.sentence("warp")
    assert f"{found.n_pieces} flat pieces" in journey.sentence("warp")
    folded = found.output.bent[::3].reshape(-1, 2)[:, 0]
    np.testing.assert_allclose(grid(journey)[: len(folded)], folded, rtol=1e-4, atol=1e-3)
    journey.slide("share of φ that is applied", 8)
    half = found.output.at(0.4)[0][::3].reshape(-1, 2)[:, 0]
    np.testing.assert_allclose(grid(journey)[: len(half)], half, rtol=1e-4, atol=1e-3)
    journey.slide("share of φ that is applied", 0)
    assert "stays 1 flat piece" in journey.sentence("warp")
    journey.slide("share of φ that is applied", 20).slide("neurons taking part", 14)
    assert "ReLU with 2,048 neurons" in journey.sentence("warp")
    again = new_page().open_page("dimensions", **journey.query())
    assert again.sentence("warp") == journey.sentence("warp")
