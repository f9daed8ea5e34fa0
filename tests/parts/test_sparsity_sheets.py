"""The Sparsity page says what the twins' traces say, for every part and control."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from ffnviz.analysis.sparsity import record_of
from ffnviz.models.encoder.model import Model, load
from ffnviz.parts.places import MOVED
from ffnviz.parts.sparsity.awake import _sentence
from ffnviz.parts.sparsity.gate import gated_token
from ffnviz.pictures.wording import as_text, percent
from ffnviz.state.actions import ChooseToken, Set
from tests.parts.sheets import Drawn, drawn, words

SENTENCE = "She opened the [MASK] and looked out."
TWINS = ("relu", "gelu")


def part(name: str, **query: str) -> Drawn:
    """A part, or a view of one by the name that it had as a part."""
    _, part, view = MOVED.get(("sparsity", name), ("sparsity", name, {}))
    return drawn("sparsity", part, True, text=SENTENCE, **query, **view)


def percents(sentence: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+)%", sentence)]


def shown(share: float) -> float:
    return round(100 * share, 1 if share < 0.0995 else 0)


def ours(name: str) -> Model:
    model = load(name)
    assert isinstance(model, Model)
    return model


def test_the_bend_and_what_is_never_active_count_the_sentences_values() -> None:
    cells = part("bend", block="1").cells
    for twin in TWINS:
        values = load(twin).trace(SENTENCE).blocks[0].ffn.pre_activation
        below = percents(words(cells[f"bend-{twin}"]))[0]
        assert below == shown(float((values < 0).double().mean()))
    cells = part("never").cells
    hidden = load("relu").trace(SENTENCE).blocks[1].ffn.hidden
    never = int((hidden <= 0).all(dim=0).sum())
    assert f"{never:,} of 2,048 neurons" in words(cells["never"])
    on_books = f"never above zero on {record_of(load('relu')).final_n_tokens:,} tokens"
    assert words(cells["never"]).count(on_books) == 2


@pytest.mark.parametrize("block", [1, 2])
def test_awake_says_the_share_now_and_before_training(block: int) -> None:
    cell = part("awake", block=str(block)).cells["awake"]
    hidden = load("relu").trace(SENTENCE).blocks[block - 1].ffn.hidden
    now, before = percents(words(cell))
    assert now == shown(float((hidden > 0).double().mean()))
    assert 45 < before < 55
    assert cell.events["point"](5) == ChooseToken(5)
    assert cell.events["point"](99) is None


@pytest.mark.parametrize("threshold", [0.001, 1.0])
def test_the_threshold_counts_anew(threshold: float) -> None:
    made = part("awake", twin="gelu", threshold=str(threshold))
    hidden = load("gelu").trace(SENTENCE).blocks[1].ffn.hidden.abs().double()
    now = percents(words(made.cells["awake"]))[0]
    assert now == shown(float((hidden > threshold).double().mean()))
    beyond = words(made.cells["against-threshold"])
    assert f"further than {threshold:g} from zero" in beyond
    _, slider = made.controls.values()
    assert slider["label"].startswith("A GELU neuron is active")
    assert slider["stops"][slider["stop"]] == f"{threshold:g}"


def test_keeping_few_neurons_says_how_far_the_output_is_off() -> None:
    model = ours("relu")
    ffn = model.trace(SENTENCE).blocks[1].ffn
    weight = model.encoder.blocks[1].ffn.compress.weight
    strength = ffn.hidden[3].abs() * weight.norm(dim=0)
    kept = strength.argsort(descending=True)[:20]
    lost = torch.ones(2048).index_fill(0, kept, 0.0) * ffn.hidden[3]
    error = float((weight @ lost).norm() / ffn.output[3].norm())
    sentence = words(part("keep", keep="1").cells["keep-words"])
    assert "With only each token's 20 strongest neurons" in sentence
    assert percents(sentence)[0] == pytest.approx(shown(error), abs=1)
    assert percents(words(part("keep", keep="100").cells["keep-words"])) == [0.0, 0.0]


def test_birth_says_where_training_began_and_ended() -> None:
    cells = part("birth").cells
    before, after, *_ = percents(words(cells["birth"]))  # a third is the least on the way
    shares = record_of(load("relu")).above_zero[:, 1]
    assert [before, after] == [shown(shares[0]), shown(shares[-1])]


@pytest.mark.parametrize(("shares", "rises"), [((0.5, 0.06, 0.07), True), ((0.5, 0.3, 0.2), False)])
def test_the_least_share_is_named_where_it_is_not_the_last(
    shares: tuple[float, ...], rises: bool
) -> None:
    tokens = np.array([0, 4_400_000, 20_000_000])
    above_zero = np.array(shares)[:, None]
    record = replace(record_of(load("relu")), tokens=tokens, above_zero=above_zero)
    run = drawn("sparsity", "awake", block="1", measure=False).run
    sentence = as_text(_sentence(record, run))
    assert (
        ("; the least was 6.0%, at 4.4 million" in sentence) == ("the least" in sentence) == rises
    )


@pytest.mark.parametrize(("seed", "draws", "place"), [(0, 4, 2), (1, 1024, 10)])
def test_the_gates_are_drawn_again_and_more_often(seed: int, draws: int, place: int) -> None:
    model = load("gelu")
    gated = gated_token(model, model.trace(SENTENCE), 1, 3, seed)
    made = part("gate", gate_draws=str(draws), gate_seed=str(seed))
    errors = words(made.cells["gate-errors"])
    assert f"off by {percent(gated.errors[0])}" in errors
    assert f"{draws:,} draws, by {percent(gated.errors[place])}." in errors
    said = words(made.cells["gate-words"])
    assert f"GELU says “door”, the mean of {draws:,} draws “door”" in said
    assert made.pressed("Draw again") == Set({"gate_seed": str(seed + 1)})
    moved = made.moved("gate_draws", 10)
    assert moved == (Set({"gate_draws": "1024"}), True)
