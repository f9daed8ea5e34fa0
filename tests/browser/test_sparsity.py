"""The Sparsity page says what the twins' traces say, for every part and control."""

import re

import pytest
import torch
from playwright.sync_api import expect

from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage

SENTENCE = "She opened the [MASK] and looked out."
PARTS = ("bend", "awake", "keep", "never", "birth", "swap")


def percents(sentence: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+)%", sentence)]


def shown(share: float) -> float:
    return round(100 * share, 1 if share < 0.0995 else 0)


def test_the_bend_counts_what_lies_below_zero(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, block="1")
    for place, twin in enumerate(twins):
        values = twins[twin].trace(SENTENCE).blocks[0].ffn.pre_activation
        sentence = journey.chart("bend").nth(place).locator(".sentence").inner_text()
        assert percents(sentence)[0] == shown(float((values < 0).double().mean()))


@pytest.mark.parametrize("block", [1, 2])
def test_awake_says_the_share_now_and_before_training(
    new_page: OpenPage, twins: dict[str, Model], block: int
) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="awake", block=str(block))
    hidden = twins["relu"].trace(SENTENCE).blocks[block - 1].ffn.hidden
    now, before = percents(journey.sentence("awake"))
    assert now == shown(float((hidden > 0).double().mean()))
    assert 45 < before < 55


def test_the_threshold_slider_counts_anew(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="awake", twin="gelu")
    hidden = twins["gelu"].trace(SENTENCE).blocks[1].ffn.hidden.abs().double()
    for stop, threshold in ((0, 0.001), (8, 0.1), (14, 1.0)):
        journey.slide("A GELU neuron is awake", stop)
        assert percents(journey.sentence("awake"))[0] == shown(
            float((hidden > threshold).double().mean())
        )
        assert f"further than {threshold:g} from zero" in journey.sentence("threshold")


def test_keeping_few_neurons_says_how_far_the_output_is_off(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    model = twins["relu"]
    journey = new_page().open_page("sparsity", text=SENTENCE, part="keep", keep="1")
    ffn = model.trace(SENTENCE).blocks[1].ffn
    weight = model.encoder.blocks[1].ffn.compress.weight
    token = 3
    strength = ffn.hidden[token].abs() * weight.norm(dim=0)
    kept = strength.argsort(descending=True)[:20]
    lost = torch.ones(2048).index_fill(0, kept, 0.0) * ffn.hidden[token]
    error = float((weight @ lost).norm() / ffn.output[token].norm())
    sentence = journey.sentence("keep")
    assert "With only each token's 20 strongest neurons" in sentence
    assert percents(sentence)[0] == pytest.approx(shown(error), abs=1)
    journey.slide("Keep the strongest", 18)
    assert percents(journey.sentence("keep")) == [0.0, 0.0]


def test_never_awake_counts_the_neurons_of_the_sentence(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="never")
    hidden = twins["relu"].trace(SENTENCE).blocks[1].ffn.hidden
    never = int((hidden <= 0).all(dim=0).sum())
    assert f"{never:,} of 2,048 neurons" in journey.sentence("never")
    expect(journey.page.get_by_text("never above zero on 257,280 tokens").first).to_be_visible()


def test_birth_says_where_training_began_and_ended(new_page: OpenPage) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="birth")
    before, after, *_ = percents(journey.sentence("birth"))  # a third is the least on the way
    assert before == 51
    assert after < 10
    expect(journey.chart("birth")).to_contain_text("T5-Base 3% (published)")


def test_swapping_names_the_words_of_both_activations(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("sparsity", text=SENTENCE, part="swap")
    for place, twin in enumerate(twins):
        model = twins[twin]
        best = model.tokenizer.label(int(model.trace(SENTENCE).logits[3].argmax()))
        chart = journey.chart("swap").nth(place)
        assert f"instead of {best} (" in chart.locator(".sentence").inner_text()
        expect(chart.locator(".bars .point")).to_have_count(20)
