"""“Attention beside FFN”: each number against torch.nn's layers or a loop of its own."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import ffnviz
from ffnviz.analysis.facts import everyday_sentences, is_held_out
from ffnviz.analysis.number_format import short
from ffnviz.models.edit import Edit
from ffnviz.parts.block.beside import (
    costs,
    held_out,
    losses_of,
    measure,
    the_losses,
)
from tests.parts.sheets import drawn, words

SENTENCE = "The cat sat on the mat."


def test_the_table_says_who_hears_whom() -> None:
    part = drawn("block", "block", kind_view="beside", measure=False, text=SENTENCE, token="2")
    assert "“cat” changes attention's output at 6 of 6 other tokens, and the FFN's at 0" in words(
        part.cells["beside-table"]
    )
    table = {name: rest for name, *rest in part.cells["beside-table"].data["rows"]}
    assert table["weights"] == ["1,050,624", "2,099,712"]
    assert table["multiply-adds per token, in a sentence of 7"] == [
        f"{4 * 512**2 + 14 * 512:,}",
        "2,097,152",
    ]
    assert table["the same, in a sentence of 14"] == [f"{4 * 512**2 + 28 * 512:,}", "2,097,152"]
    assert table["other tokens that hear of it"] == ["6 of 6", "0 of 6"]
    held = [text.rpartition(": ")[2] for text in table["linear once …"]]
    assert all("× 10⁻¹" in off for off in held)
    assert all(float(off) > 0.01 for off in table["distance from linear"])


def test_one_token_has_no_other_to_mix_with() -> None:
    part = drawn("block", "block", kind_view="beside", measure=False, text="Yes")
    assert "One token has no other to mix with" in words(part.cells["beside-table"])


def test_weights_are_those_of_torch() -> None:
    attention = nn.MultiheadAttention(512, 8)
    ffn = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512))
    run = drawn("block", "block", kind_view="beside", measure=False, text=SENTENCE).run
    weights, _ = costs(run, 9)
    assert weights == tuple(
        f"{sum(each.numel() for each in module.parameters()):,}" for module in (attention, ffn)
    )


def test_what_is_added_is_the_difference_of_the_stream() -> None:
    part = drawn("block", "block", kind_view="beside", measure=False, text=SENTENCE, token="2")
    table = {name: rest for name, *rest in part.cells["beside-table"].data["rows"]}
    record, at = part.run.trace.blocks[part.run.state.block], part.run.token
    x, middle, y = (each[at].double() for each in (record.input, record.middle, record.output))
    expected = [(middle - x).norm() / x.norm(), (y - middle).norm() / middle.norm()]
    assert table["what it adds to this token's stream"] == [
        f"{short(float(each), 2)} of its length" for each in expected
    ]


def test_losses_are_those_of_a_loop() -> None:
    model = ffnviz.load("relu")
    asked = held_out(model, 6)
    losses = losses_of(model, asked, lambda _: None)

    def loss(*edits: Edit) -> float:
        total = 0.0
        for ids, place in asked:
            hidden = list(ids)
            hidden[place] = model.tokenizer.mask_id
            run = model.run(torch.tensor([hidden]), edits)
            chance = run.logits_at(place)[0].double().softmax(-1)[ids[place]]
            total -= math.log(float(chance))
        return total / len(asked)

    off = {at: [Edit(block, scale=0.0, at=at) for block in (0, 1)] for at in ("attention", "ffn")}
    assert losses.whole == pytest.approx(loss(), rel=1e-4)
    assert losses.without == pytest.approx([loss(*off[at]) for at in off], rel=1e-4)
    alone = [[loss(off[at][block]) for at in off] for block in (0, 1)]
    assert losses.block == pytest.approx(np.array(alone), rel=1e-4)


def test_sentences_are_held_out() -> None:
    model = ffnviz.load("relu")
    asked, tokenizer = held_out(model, 20), model.tokenizer
    assert len(asked) == 20
    lines = tokenizer.encode_many([each for each in everyday_sentences() if is_held_out(each)])
    for ids, place in asked:
        assert ids in lines
        assert tokenizer.word(ids[place]).strip()[0].isalpha()


def test_what_is_measured_is_said() -> None:
    run = drawn("block", "block", kind_view="beside", measure=False, text=SENTENCE).run
    losses = measure(run, lambda _: None)
    assert losses.sentences == 200
    assert losses.without.min() > losses.whole
    said = words(the_losses(run, losses))
    assert f"is {losses.whole:.2f} nats; without the FFNs {losses.without[1]:.2f}" in said
