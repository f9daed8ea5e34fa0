"""The Vocabulary page: the softmax, its cuts, writing on, the lens, the parts of a logit."""

import re

import pytest
from playwright.sync_api import expect

from ffnviz.analysis.vocabulary.decoding import Strategy
from ffnviz.analysis.vocabulary.writing import begin, write_word
from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage

SENTENCE = "She opened the [MASK] and looked out."


def test_all_probabilities_sum_to_one_and_have_torchs_entropy(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("vocabulary", text=SENTENCE)
    p = twins["relu"].trace(SENTENCE).logits[3].double().softmax(dim=-1)
    sentence = journey.sentence("distribution")
    assert "8,192 probabilities sum to 1.000000" in sentence
    assert f"{float(-(p * p.log2()).sum()):.2f} bits" in sentence


def test_the_cuts_leave_what_counting_leaves(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("vocabulary", text=SENTENCE)
    assert "nothing is cut: all 8,192 words stay" in journey.sentence("cut")
    p = twins["relu"].trace(SENTENCE).logits[3].double().softmax(dim=-1).sort(descending=True)[0]
    journey.slide("top-p", 8)  # 0.8
    n = int((p.cumsum(dim=0) < 0.8).sum()) + 1
    assert f"the cut keeps {n:,} words" in journey.sentence("cut")
    assert journey.query()["top_p"] == "0.8"
    journey.slide("top-k", 3)  # 5
    n = int((p[:5].cumsum(dim=0) / p[:5].sum() < 0.8).sum()) + 1
    assert f"the cut keeps {n:,} words" in journey.sentence("cut")
    journey.slide("temperature", 0)  # 0.1
    assert "the cut keeps 1 word" in journey.sentence("cut")
    assert journey.query()["temperature"] == "0.1"


def test_by_chance_the_seed_decides(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text=SENTENCE, temperature="3")
    journey.page.get_by_role("radio", name="by chance").click()
    journey.settle()
    seed = journey.page.get_by_label("Seed").first
    picks = []
    for value in ("11", "12", "11"):
        seed.fill(value)
        seed.press("Enter")
        journey.settle()
        picks.append(journey.sentence("cut").rpartition("pick is ")[2])
    assert picks[0] == picks[2] != picks[1]
    assert journey.query()["seed"] == "11"


def test_words_are_written_one_at_a_time_and_ten_at_once(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("vocabulary", text="Once upon a [MASK]", part="write", words="1")
    expected = begin(twins["relu"], "Once upon a [MASK]")
    expected = write_word(twins["relu"], expected, Strategy(top_k=8_192))
    assert expected.written.strip() in journey.sentence("write")
    journey.press("Write 10")
    for _ in range(10):
        expected = write_word(twins["relu"], expected, Strategy(top_k=8_192))
    assert journey.sentence("write") == f"“Once upon a” {expected.written.strip()}"
    assert journey.query()["words"] == "11"
    journey.page.get_by_role("button", name="Start over").click()
    expect(journey.page.get_by_text("Press “Write a word”")).to_be_visible()


def test_a_link_brings_back_the_same_text(new_page: OpenPage) -> None:
    link = {"text": "The old man", "part": "write", "words": "8", "pick": "by chance",
            "seed": "7", "top_k": "40"}  # fmt: skip
    one, two = (new_page().open_page("vocabulary", **link) for _ in range(2))
    assert one.sentence("write") == two.sentence("write")
    other = new_page().open_page("vocabulary", **{**link, "seed": "8"})
    assert other.sentence("write") != one.sentence("write")


def test_a_written_word_can_be_looked_into(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text="The old man", part="write", words="6")
    assert journey.sentence("step").startswith("Word 6")
    bar = journey.chart("write").locator(".bars .point").nth(1).bounding_box()
    assert bar
    journey.click_at(bar["x"] + bar["width"] / 2, bar["y"] - 3)  # above the bar
    assert journey.sentence("step").startswith("Word 2")
    assert journey.query()["step"] == "2"


def test_the_written_text_goes_into_the_box(new_page: OpenPage) -> None:
    journey = new_page().open_page("vocabulary", text="The old man", part="write", words="3")
    words = journey.sentence("write").partition("” ")[2].split()
    journey.page.get_by_role("button", name="Use as my sentence").click()
    expect(journey.box).not_to_have_value("The old man")
    assert journey.box.input_value().replace(",", " ,").split() == ["The", "old", "man", *words]


def test_the_lens_ends_at_the_prediction(new_page: OpenPage, twins: dict[str, Model]) -> None:
    journey = new_page().open_page("vocabulary", text=SENTENCE, part="lens", twin="gelu")
    model = twins["gelu"]
    best = model.tokenizer.label(int(model.trace(SENTENCE).logits[3].argmax()))
    assert f"first predicts {best} after" in journey.sentence("lens")
    assert journey.sentence("followed").startswith(best)
    assert "rank 1 at the end" in journey.sentence("followed")
    expect(journey.chart("lens").locator(".heatmaplayer .heatmap-label")).to_have_count(25)


def test_the_parts_sum_to_the_logit_for_every_word(
    new_page: OpenPage, twins: dict[str, Model]
) -> None:
    journey = new_page().open_page("vocabulary", text=SENTENCE, part="parts")
    model = twins["relu"]
    best = model.trace(SENTENCE).logits[3].topk(10)
    for place in (0, 4, 9):
        name = model.tokenizer.label(int(best.indices[place]))
        journey.page.get_by_role("radio", name=name, exact=True).click()
        journey.settle()
        sentence = journey.sentence("parts")
        assert f"the logit of {name}" in sentence
        summed, said = re.findall(r"(-?\d+\.\d{4})", sentence)
        assert float(summed) == pytest.approx(float(said), abs=2e-4)
        assert float(said) == pytest.approx(float(best.values[place]), abs=2e-4)
