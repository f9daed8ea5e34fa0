"""The Dimensions page: shapes beside code that runs, costs, a plane that is folded, own points."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from ffnviz.analysis.cost import PRESETS, Shape, ffn_share, multiply_adds, parameters
from ffnviz.models.encoder.model import Model
from ffnviz.parts.dimensions.separate import POINTS, Points, best_line, separate
from ffnviz.parts.dimensions.warp import warp
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey, box_of
from tests.parts.test_sparsity_sheets import percents, shown

SENTENCE = "She opened the [MASK] and looked out."
FORMS = {
    "columns": ("(512, 8) → (2,048, 8) → (512, 8)", "W2.T @ torch.relu(z)"),
    "NumPy": ("(8, 512) → (8, 2,048) → (8, 512)", "np.maximum(z, 0)"),
    "a batch of 32": ("(32, 128, 512) → (32, 128, 2,048) → (32, 128, 512)", "torch.randn(32"),
}
SLIDERS = [
    ("d_model, width of the stream", "d_model", "d_model"),
    ("d_ff, hidden neurons", "d_ff", "d_ff"),
    ("n, tokens in the sequence", "n_tokens", "n_tokens"),
    ("entries of the vocabulary", "vocab_size", "vocabulary"),
]
# The grid's points in the last panel of the plane, in the order in which they were sent.
GRID = """(figure) => {
    const drawn = figure.querySelector(".plot").data.filter((trace) => trace.name === "grid")[2];
    return Array.from(drawn.x).filter((x) => !Number.isNaN(x));
}"""


def test_the_live_shapes_stand_beside_code_that_runs_in_every_form(
    new_page: OpenPage, capsys: pytest.CaptureFixture[str]
) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, twin="gelu")
    assert "(8, 512) → (8, 2,048) → (8, 512)" in journey.sentence("flow")
    exec(compile(journey.page.locator('[data-kind="code"] code').inner_text(), "page", "exec"), {})
    printed = capsys.readouterr().out
    assert "torch.Size([8, 512]) -> torch.Size([8, 512])" in printed
    assert float(re.findall(r"tensor\(([^)]+)\)", printed)[0]) < 1e-4, "the difference"
    journey.page.goto(f"{journey.address}/dimensions?text={SENTENCE}&part=forms")  # an old link
    journey.page.locator("figure[data-painted]").first.wait_for()
    journey.settle()
    assert "(8, 512) → (8, 2,048) → (8, 512)" in journey.sentence("forms")
    for name, (shapes, code) in FORMS.items():
        journey.choose(name)
        assert shapes in journey.sentence("forms")
        expect(journey.page.locator('[data-kind="code"]')).to_contain_text(code)
    assert journey.query()["form"] == "batch"


def shares(shape: Shape) -> list[float]:
    """What the sentence above the bars must say."""
    return [
        shown(counts["FFN"] / sum(counts.values()))
        for counts in (parameters(shape), multiply_adds(shape))
    ]


def test_presets_sliders_heads_and_a_gate_are_counted(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="cost")

    def costs() -> list[float]:
        return percents(journey.sentence("costs"))

    assert costs() == shares(PRESETS["twins"].shape)
    before = journey.sentence("costs")
    journey.slide("heads", 0)
    assert journey.sentence("costs") == before, "heads change no count"
    expect(journey.text("each head is 512 wide")).to_be_visible()
    journey.page.get_by_role("radio", name="gated: three").click()
    journey.settle()
    assert costs() == shares(Shape(gated=True))

    journey.open_page("dimensions", text=SENTENCE, part="cost")
    shape = Shape()
    for label, name, setting in SLIDERS:
        slider = journey.page.get_by_role("slider", name=label)
        slider.focus()
        slider.press("End")
        journey.settle()
        value = int((slider.get_attribute("aria-valuetext") or "").replace(",", ""))
        assert value != getattr(shape, name)
        shape = Shape(**{**vars(shape), name: value})
        assert costs() == shares(shape), name
        assert journey.query()[setting] == str(value)
        overtaking = percents(journey.sentence("overtaking"))
        assert overtaking[-1] == shown(ffn_share(shape, shape.n_tokens)), name

    preset = journey.page.get_by_role("combobox", name="Start from")
    preset.select_option("Llama 2 7B (SwiGLU)")
    journey.settle()
    assert journey.query()["preset"] == "llama"
    expect(journey.text("27 GB in float32")).to_be_visible()
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert costs() == shares(PRESETS["llama"].shape)

    journey.open_page("dimensions", text=SENTENCE, part="cost", length="1024")
    assert "1,024 tokens" in journey.sentence("overtaking")
    assert percents(journey.sentence("overtaking")) == [50]


def test_one_ffn_for_all_tokens_is_measured(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="same")
    assert "8 tokens, one set of 2,099,712 parameters" in journey.sentence("same")
    cells = journey.page.locator("table td:last-child").all_inner_texts()
    assert len(cells) == 3
    assert all(re.fullmatch(r"0|\d(\.\d)? × 10⁻[⁵-⁹]", cell) for cell in cells), cells


def test_a_plane_is_folded_and_unfolded(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("dimensions", part="warp", text=SENTENCE,
                                   warp_second="1", warp_third="5")  # fmt: skip
    model = twins["relu"]
    inputs = model.trace(SENTENCE).blocks[1].ffn.input[[3, 0, 4]]
    found = warp(model, 1, inputs, model.card.phi, 8)

    def is_drawn(points: np.ndarray) -> None:
        expected = points[::3].reshape(-1, 2)[:, 0]
        grid = np.array(journey.chart("warp").evaluate(GRID))
        np.testing.assert_allclose(grid[: len(expected)], expected, rtol=1e-4, atol=1e-3)

    assert f"{len(found.lines)} straight lines" in journey.sentence("warp")
    assert f"{found.n_pieces} flat pieces" in journey.sentence("warp")
    is_drawn(found.output.bent)
    journey.slide("share of φ that is applied", 8)
    is_drawn(found.output.at(0.4)[0])
    journey.slide("share of φ that is applied", 0)
    assert "stays 1 flat piece" in journey.sentence("warp")
    journey.slide("share of φ that is applied", 20).slide("neurons taking part", 14)
    assert "ReLU with 2,048 neurons" in journey.sentence("warp")
    again = new_page().open_page("dimensions", **journey.query())
    assert again.sentence("warp") == journey.sentence("warp")


def says_what_is_right(journey: Journey, phi: str) -> None:
    """The sentence says of the points in the link what is computed of them here."""
    own = POINTS.parse(journey.query()["points"])
    points = Points(np.array([p[:2] for p in own]), np.array([p[2] for p in own]))
    right = separate(points, phi, 8, 0, trained=False).right
    for said in (f"{right} of {len(own)} points", f"{best_line(points)}."):
        assert said in journey.sentence("separate")


def test_points_are_put_and_taken_and_come_back_by_their_link(new_page: OpenPage) -> None:
    journey = new_page(width=1280, height=720).open_page("dimensions", part="separate")
    assert "64 of 64 points" in journey.sentence("separate")
    canvas, clear = journey.page.locator(".points canvas"), "Clear"
    before = box_of(canvas)
    journey.press(clear)
    assert "no points yet" in journey.sentence("separate")  # one line shorter
    assert box_of(canvas) == before
    expect(journey.chart("lifted")).to_have_count(0)  # of nothing there is nothing to see
    # Faster than any answer comes, squares and circles in turn: none gets lost.
    for place in range(12):
        journey.page.get_by_role("button", name=("circles", "squares")[place % 2]).click()
        canvas.click(position={"x": 30 + 30 * place, "y": 200})
    journey.settle()
    assert len(POINTS.parse(journey.query()["points"])) == 12
    assert "of 12 points" in journey.sentence("separate")
    assert box_of(canvas) == before
    # A click puts a circle, another one on it takes it away; then four corners, crosswise.
    journey.press(clear)
    journey.page.get_by_role("button", name="circles").click()
    for _ in range(2):
        canvas.click(position={"x": 200, "y": 200})
    far = before["width"] - 40
    for shape, places in (("circles", ((40, 40), (far, far))), ("squares", ((40, far), (far, 40)))):
        journey.page.get_by_role("button", name=shape).click()
        for x, y in places:
            canvas.click(position={"x": x, "y": y})
    journey.settle()
    assert len(POINTS.parse(journey.query()["points"])) == 4
    says_what_is_right(journey, "relu")
    assert "better than 3." in journey.sentence("separate")
    # By keys: a square in the middle.
    canvas.focus()
    canvas.press("ArrowUp")
    canvas.press("Enter")
    journey.settle()
    assert (32, 33, False) in POINTS.parse(journey.query()["points"])
    expect(journey.page.locator(".points > .told")).to_have_text("squares put")
    journey.choose("identity")
    says_what_is_right(journey, "identity")
    again = new_page().open_page("dimensions", **journey.query())
    assert again.sentence("separate") == journey.sentence("separate")
    label = again.page.locator(".points canvas").get_attribute("aria-label")
    assert label == canvas.get_attribute("aria-label")
