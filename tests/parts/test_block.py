"""The block as functions: what its pictures say, and what a click in them asks for."""

import math
import re
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

import ffnviz
from ffnviz.analysis.facts import everyday_sentences, is_held_out
from ffnviz.analysis.number_format import short
from ffnviz.models.edit import Edit
from ffnviz.parts.block import against_rnn, beside
from ffnviz.parts.block.beside import held_out, losses_of, measure, the_losses
from ffnviz.parts.block.block_view import TokenInBlock, degrees, explanation
from ffnviz.parts.block.decoder import attends_most
from ffnviz.pictures.wording import as_text as read
from ffnviz.state.actions import ChooseBlock, ChooseToken, Set
from tests.parts.sheets import drawn, words

TEXT = "She opened the [MASK] and looked out."


@pytest.mark.parametrize(
    ("part", "event", "sent", "action"),
    [
        ("block", "station", "ffn", Set({"station": "ffn"})),
        ("block", "heed", 5, Set({"attention_head": "5"})),
        ("block", "token", 2, ChooseToken(2)),
        ("block", "block", 1, ChooseBlock(1, {"station": "x"})),
        ("block", "block", 0, None),  # there is none before the first
        ("block", "variant", "moved", Set({"layernorm": "moved"})),
        ("decoder", "station", "norm3", Set({"decoder_station": "norm3"})),
        ("decoder", "token", 2, Set({"written_token": "3"})),
        ("decoder", "block", 1, ChooseBlock(1, {"decoder_station": "x"})),
        ("decoder", "variant", "moved", None),
    ],
)
def test_a_click_in_the_picture_asks_for_what_it_shows(
    part: str, event: str, sent: object, action: object
) -> None:
    picture = drawn("block", part, text=TEXT, block="1").cells[f"{part}-picture"]
    assert picture.events[event](sent) == action


def test_the_block_has_the_networks_numbers_and_says_what_is_moved() -> None:
    seen = drawn("block", text=TEXT, twin="gelu", block="1", station="sum1", attention_head="99")
    record = ffnviz.load("gelu").trace(TEXT).blocks[0]
    picture = seen.cells["block-picture"].data
    first, *_, last = picture["stations"]
    assert first["note"] == f"norm {float(record.input[seen.run.token].norm()):.1f}"
    assert [strip["title"] for strip in first["strips"]][-1] == "stream x"
    assert len(first["strips"]) == 3  # the word's vector, its position's, and their sum
    assert last["title"] == "+ FFN"
    assert (picture["station"], picture["chosen_head"]) == ("sum1", 8)
    assert (picture["before"], picture["after"]) == ("", "On to block 2")

    seen = drawn("block", text=TEXT, block="2", layernorm="moved")
    assert seen.said.startswith("With its LayerNorms moved (post-LN; nobody trained it so), in")


def test_the_decoder_sees_what_is_written_and_asks_the_sentence_or_for_words() -> None:
    seen = drawn("block", "decoder", text=TEXT, written="A dog")
    picture = seen.cells["decoder-picture"].data
    assert (picture["words"], picture["token"]) == (["A", "dog"], 1)
    assert "“dog” sees what has been written so far" in seen.said
    assert drawn("block", "decoder", written="A dog", written_token="1").said.startswith("“A”")
    assert "Type the first words of an answer" in drawn("block", "decoder", written=" ").said


def test_what_arrives_through_an_rnn_is_of_its_gain_and_phi() -> None:
    link = {"text": TEXT, "gain": "2", "rnn_phi": "none"}
    seen = drawn("block", "turns", measure=False, **link)
    run, block = seen.run, seen.run.state.block
    read_by_both = against_rnn.what_is_read(run.trace, block, run.token)
    arrives = against_rnn.through_recurrent(run.model, block, read_by_both, 2.0, bends=False)
    said = words(seen.cells["arrives"])
    assert "3 steps back" in said
    assert f"becomes {short(float(arrives[0]))} in the RNN" in said


def test_what_is_taken_away_is_said_and_can_be_put_back() -> None:
    seen = drawn("block", "strip", text=TEXT)
    assert seen.controls["Take away"]["stop"] == "01100"
    assert "without FFN and residual, the tokens differ by" in seen.said
    ask = partial(seen.asked, "move")
    assert ask({"name": "without", "value": "01101"}) == (
        Set({"without": "ffn-residual-phi"}),
        True,
    )
    assert ask({"name": "without", "value": "00000"}) == (Set({"without": "none"}), True)
    for sent in (None, True, "", "0110", "011000", "0110x"):
        assert ask({"name": "without", "value": sent}) is None

    seen = drawn("block", "strip", text=TEXT, without="none", blocks="1")
    said = words(seen.cells["strip-apart"])
    assert said.startswith("After 1 untrained block, ")
    assert float(re.findall(r"[\d.]+", said)[1]) > 0.1


E1, E2 = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def test_a_turn_is_an_angle_and_nothing_has_no_direction() -> None:
    assert degrees(E1, 3 * E2) == pytest.approx(90)
    assert degrees(E1, E1 + E2) == pytest.approx(45)
    assert degrees(E1, -2 * E1) == pytest.approx(180)
    assert degrees(E1, E1) == 0
    assert degrees(0 * E1, E1) == pytest.approx(90)


def test_a_station_says_the_numbers_of_its_vectors() -> None:
    token = TokenInBlock("cat", 4, 9, "ReLU", "it is", "to block 2")
    said = read(explanation("norm", np.array([1.0, 3.0]), E1, token, None, last=False))
    assert "the mean (2.00)" in said
    assert "standard deviation (1.00)" in said
    assert "from 3.2 to 1.0." in said
    said = read(explanation("sum", E1, E1 + E2, token, None, last=True))
    assert "turns “cat” by 45°; the length goes from 1.0 to 1.4." in said
    said = read(explanation("ffn", E1, E2, token, np.zeros(8), last=False))
    assert "2 → 8 numbers, through ReLU (9 active), → 2" in said


def test_the_head_that_attends_most_is_named() -> None:
    weights = np.zeros((2, 1, 3))
    weights[0, 0] = [0.0, 0.6, 0.4]
    weights[1, 0] = [0.1, 0.0, 0.9]
    assert "attends most to “c” (65%)" in read(attends_most("x", ["a", "b", "c"], weights, 0))


SENTENCE = "The cat sat on the mat."


def test_the_table_says_who_hears_whom_what_it_weighs_and_adds() -> None:
    part = drawn("block", "block", kind_view="beside", measure=False, text=SENTENCE, token="2")
    table = {name: rest for name, *rest in part.cells["beside-table"].data["rows"]}
    usual, twice = "multiply-adds per token, in a sentence of 7", "the same, in a sentence of 14"
    for name, n in ((usual, 7), (twice, 14)):
        assert table[name] == [f"{4 * 512**2 + 2 * n * 512:,}", "2,097,152"]
    assert table["other tokens that hear of it"] == ["6 of 6", "0 of 6"]
    assert all("× 10⁻¹" in off for off in table["linear once …"])
    assert all(float(off) > 0.01 for off in table["distance from linear"])

    attention = nn.MultiheadAttention(512, 8)
    ffn = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512))
    assert table["weights"] == [
        f"{sum(each.numel() for each in module.parameters()):,}" for module in (attention, ffn)
    ]
    record, at = part.run.trace.blocks[part.run.state.block], part.run.token
    x, middle, y = (each[at].double() for each in (record.input, record.middle, record.output))
    expected = [(middle - x).norm() / x.norm(), (y - middle).norm() / middle.norm()]
    assert table["what it adds to this token's stream"] == [
        f"{short(float(each), 2)} of its length" for each in expected
    ]
    part = drawn("block", "block", kind_view="beside", measure=False, text="Yes")
    assert "One token has no other to mix with" in words(part.cells["beside-table"])


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


def test_sentences_are_held_out_and_what_is_measured_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(beside, "SENTENCES", 20)
    model = ffnviz.load("relu")
    asked, tokenizer = held_out(model, 20), model.tokenizer
    assert len(asked) == 20
    lines = tokenizer.encode_many([each for each in everyday_sentences() if is_held_out(each)])
    for ids, place in asked:
        assert ids in lines
        assert tokenizer.word(ids[place]).strip()[0].isalpha()
    run = drawn("block", "block", kind_view="beside", measure=False, text=SENTENCE).run
    losses = measure(run, lambda _: None)
    assert losses.sentences == 20
    assert losses.without.min() > losses.whole
    said = words(the_losses(run, losses))
    assert f"is {losses.whole:.2f} nats; without the FFNs {losses.without[1]:.2f}" in said
