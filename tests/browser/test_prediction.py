"""The bars are the softmax of the model, and of the model with this block's FFN left out."""

import pytest
import torch

from ffnviz.models.encoder.model import Model
from tests.browser.conftest import OpenPage
from tests.browser.journey import Journey

SENTENCE = "It cost forty [MASK]."
TOKEN = 3


def bars(journey: Journey, panel: int) -> list[tuple[str, float]]:
    """Word and probability of each bar, from its tooltip."""
    rows = journey.page.locator(".panels section").nth(panel).locator("li")
    titles = [row.get_attribute("title") or "" for row in rows.all()]
    return [(word, float(value)) for word, _, value in (t.rpartition(": ") for t in titles)]


@pytest.mark.parametrize(("twin", "block"), [("relu", 1), ("gelu", 2)])
def test_the_ten_likeliest_words_are_the_models_and_so_are_those_without_this_ffn(
    new_page: OpenPage, twins: dict[str, Model], twin: str, block: int
) -> None:
    journey = new_page().open(text=SENTENCE, twin=twin, block=str(block))
    model = twins[twin]
    trace = model.trace(SENTENCE)
    best = trace.logits[TOKEN].double().softmax(dim=-1).topk(10)
    shown = bars(journey, panel=0)
    assert [word for word, _ in shown] == [model.tokenizer.label(int(i)) for i in best.indices]
    assert [p for _, p in shown] == pytest.approx(best.values.tolist(), abs=6e-5)
    with torch.inference_mode():
        _, final = model.encoder.run_blocks(trace.blocks[block - 1].middle, first=block)
        best = model.encoder.unembed(final[TOKEN]).double().softmax(dim=-1).topk(10)
    assert [p for _, p in bars(journey, panel=1)] == pytest.approx(best.values.tolist(), abs=6e-5)


def test_the_block_that_is_left_out_follows_the_chosen_block(new_page: OpenPage) -> None:
    journey = new_page().open(text=SENTENCE)
    first = bars(journey, panel=1)
    journey.text("block 1", exact=True).click()
    journey.settle()
    assert journey.page.locator(".panels h3").all_inner_texts()[1] == "without FFN 1"
    assert bars(journey, panel=1) != first
    assert journey.query()["block"] == "1"
