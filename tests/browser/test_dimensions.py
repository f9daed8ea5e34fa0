"""The Dimensions page: shapes, costs, ranks, and every control."""

import re

import pytest
from playwright.sync_api import expect

from ffnviz.analysis.cost import PRESETS, Shape, ffn_share, multiply_adds, parameters
from tests.browser.conftest import OpenPage
from tests.parts.test_sparsity_sheets import percents, shown

SENTENCE = "She opened the [MASK] and looked out."


def shares(shape: Shape) -> list[float]:
    """What the sentence above the bars must say."""
    return [
        shown(counts["FFN"] / sum(counts.values()))
        for counts in (parameters(shape), multiply_adds(shape))
    ]


def test_the_flow_says_the_live_shapes_beside_code_that_runs(
    new_page: OpenPage, capsys: pytest.CaptureFixture[str]
) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, twin="gelu")
    assert "(8, 512) → (8, 2,048) → (8, 512)" in journey.sentence("flow")
    code = journey.page.locator('[data-kind="code"] code').inner_text()
    exec(compile(code, "page", "exec"), {})
    printed = capsys.readouterr().out
    assert "torch.Size([8, 512]) -> torch.Size([8, 512])" in printed
    difference = float(re.findall(r"tensor\(([^)]+)\)", printed)[0])
    assert difference < 1e-4


def test_a_preset_sets_all_and_its_shares_are_counted(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="cost")
    assert percents(journey.sentence("costs")) == shares(PRESETS["twins"].shape)
    preset = journey.page.get_by_role("combobox", name="Start from")
    preset.select_option("Llama 2 7B (SwiGLU)")
    journey.settle()
    assert percents(journey.sentence("costs")) == shares(PRESETS["llama"].shape)
    assert journey.query()["preset"] == "llama"
    expect(journey.text("27 GB in float32")).to_be_visible()
    journey.page.reload()
    journey.wait_for(SENTENCE)
    assert percents(journey.sentence("costs")) == shares(PRESETS["llama"].shape)


SLIDERS = [
    ("d_model, width of the stream", "d_model", "d_model"),
    ("d_ff, hidden neurons", "d_ff", "d_ff"),
    ("n, tokens in the sequence", "n_tokens", "n_tokens"),
    ("entries of the vocabulary", "vocab_size", "vocabulary"),
]


def test_each_slider_counts_anew(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="cost")
    shape = Shape()
    for label, name, setting in SLIDERS:
        slider = journey.page.get_by_role("slider", name=label)
        slider.focus()
        slider.press("End")
        journey.settle()
        value = int((slider.get_attribute("aria-valuetext") or "").replace(",", ""))
        assert value != getattr(shape, name)
        shape = Shape(**{**vars(shape), name: value})
        assert percents(journey.sentence("costs")) == shares(shape), name
        assert journey.query()[setting] == str(value)
        overtaking = percents(journey.sentence("overtaking"))
        assert overtaking[-1] == shown(ffn_share(shape, shape.n_tokens)), name


def test_heads_change_no_count_and_a_gate_does(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="cost")
    before = journey.sentence("costs")
    journey.slide("heads", 0)
    assert journey.sentence("costs") == before
    expect(journey.text("each head is 512 wide")).to_be_visible()
    journey.page.get_by_role("radio", name="gated: three").click()
    journey.settle()
    assert percents(journey.sentence("costs")) == shares(Shape(gated=True))


def test_attention_overtakes_at_1024_tokens(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="cost", length="1024")
    assert "1,024 tokens" in journey.sentence("overtaking")
    assert percents(journey.sentence("overtaking")) == [50]


def test_more_neurons_separate_fit_and_store_more(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="wider")
    names = ("wider-points", "wider-curve", "wider-pairs")
    errors = [percents(journey.sentence(name))[0] for name in names]
    slider = journey.page.get_by_role("slider", name="d_ff")
    slider.press("End")  # eight times as wide as the stream
    journey.settle()
    widest = [percents(journey.sentence(name))[0] for name in names]
    assert all(wide <= error for wide, error in zip(widest, errors, strict=True))
    assert max(widest) < 10
    assert journey.query()["wider"] == "16"


def test_one_ffn_for_all_tokens_is_measured(new_page: OpenPage) -> None:
    journey = new_page().open_page("dimensions", text=SENTENCE, part="same")
    assert "8 tokens, one set of 2,099,712 parameters" in journey.sentence("same")
    cells = journey.page.locator("table td:last-child").all_inner_texts()
    assert len(cells) == 3
    assert all(re.fullmatch(r"0|\d(\.\d)? × 10⁻[⁵-⁹]", cell) for cell in cells), cells
