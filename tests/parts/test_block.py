"""The block as functions: what its pictures say, and what a click in them asks for."""

import re
from functools import partial
from typing import Any

import pytest

import ffnviz
from ffnviz.state.actions import ChooseBlock, ChooseToken, Set
from tests.parts.sheets import drawn, words

TEXT = "She opened the [MASK] and looked out."
SHOWS = {
    "block": ["block-picture"],
    "decoder": ["decoder-picture"],
    "turns": ["clock", "arrives"],
    "strip": ["strip-apart", "alike", "strip-scale", "strip-gradient"],
}
GARBAGE: list[Any] = [None, True, -1, 99, 0.5, "/etc", "", [], {}, {"name": "without"}]


@pytest.mark.parametrize("text", [TEXT, "a", "[MASK] " * 128], ids=["usual", "one", "most"])
@pytest.mark.parametrize("part", SHOWS)
def test_each_part_shows_its_pictures_of_any_sentence(part: str, text: str) -> None:
    seen = drawn("block", part, text=text)
    assert list(seen.cells) == SHOWS[part]
    assert "nan" not in re.findall(r"\w+", seen.said)


@pytest.mark.parametrize(
    ("part", "event", "sent", "action"),
    [
        ("block", "station", "ffn", Set({"station": "ffn"})),
        ("block", "heed", 5, Set({"attention_head": "5"})),
        ("block", "heed", 0, Set({"attention_head": "0"})),
        ("block", "token", 2, ChooseToken(2)),
        ("block", "block", 1, ChooseBlock(1, {"station": "x"})),
        ("block", "block", 0, None),  # there is none before the first
        ("block", "variant", "moved", Set({"layernorm": "moved"})),
        ("decoder", "station", "norm3", Set({"decoder_station": "norm3"})),
        ("decoder", "heed", 8, Set({"attention_head": "8"})),
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


@pytest.mark.parametrize("sent", GARBAGE)
@pytest.mark.parametrize("part", ["block", "decoder"])
def test_garbage_from_a_browser_asks_for_nothing(part: str, sent: object) -> None:
    picture = drawn("block", part, text=TEXT).cells[f"{part}-picture"]
    assert [name for name, ask in picture.events.items() if ask(sent) is not None] == []


def test_the_block_has_the_networks_numbers() -> None:
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
    assert list(seen.controls) == ["Show"]


def test_with_its_norms_moved_it_says_that_nobody_trained_it_so() -> None:
    seen = drawn("block", text=TEXT, block="2", layernorm="moved")
    assert seen.said.startswith("With its LayerNorms moved (post-LN; nobody trained it so), in")
    assert seen.cells["block-picture"].data["before"] == "Back to block 1"


def test_the_decoder_sees_what_is_written_and_asks_the_sentence() -> None:
    seen = drawn("block", "decoder", text=TEXT, written="A dog")
    picture = seen.cells["decoder-picture"].data
    assert (picture["words"], picture["token"]) == (["A", "dog"], 1)
    assert "“dog” sees what has been written so far" in seen.said
    assert "borrows the encoder's weights" in seen.said
    assert seen.controls["Written so far"]["text"] == "A dog"
    assert drawn("block", "decoder", written="A dog", written_token="1").said.startswith("“A”")


@pytest.mark.parametrize("written", [" ", "\n"])
def test_where_nothing_is_written_the_decoder_asks_for_words(written: str) -> None:
    seen = drawn("block", "decoder", written=written)
    assert "Type the first words of an answer" in seen.said
    assert list(seen.controls) == ["Show", "Written so far"]


def test_against_an_rnn_it_is_said_when_and_what_arrives() -> None:
    seen = drawn("block", "turns", text=TEXT, gain="2", rnn_phi="none")
    assert "Reading 8 tokens takes an RNN" in words(seen.cells["clock"])
    assert "3 steps back" in words(seen.cells["arrives"])
    gain, phi = seen.controls["gain of the RNN's W_h"], seen.controls["φ of the RNN"]
    assert gain["stops"][gain["stop"]] == "2"
    assert phi["options"][phi["stop"]] == "none"
    before = drawn("block", "turns", measure=False)
    assert list(before.cells) == ["soon-clock", "arrives"]


def test_what_is_taken_away_is_said_and_can_be_put_back() -> None:
    seen = drawn("block", "strip", text=TEXT)
    pills = seen.controls["Take away"]
    assert pills["options"] == ["attention", "FFN", "residual", "LayerNorm", "φ"]
    assert pills["stop"] == "01100"
    assert "without FFN and residual, the tokens differ by" in seen.said
    assert "which is rounding" in seen.said
    ask = partial(seen.asked, "move")
    assert ask({"name": "without", "value": "01101"}) == (
        Set({"without": "ffn-residual-phi"}),
        True,
    )
    assert ask({"name": "without", "value": "00000"}) == (Set({"without": "none"}), True)
    for sent in [*GARBAGE, "0110", "011000", "0110x"]:
        assert ask({"name": "without", "value": sent}) is None


def test_with_nothing_taken_away_the_tokens_stay_apart() -> None:
    seen = drawn("block", "strip", text=TEXT, without="none", blocks="1")
    said = words(seen.cells["strip-apart"])
    assert said.startswith("After 1 untrained block, ")
    assert float(re.findall(r"[\d.]+", said)[1]) > 0.1
    assert seen.controls["Take away"]["stop"] == "00000"
    names = [line["name"] for line in seen.cells["strip-apart"].data["figure"]["data"]]
    assert names == ["complete", "ReLU, trained"]
