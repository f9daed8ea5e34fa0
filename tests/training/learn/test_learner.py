"""A small network in training: it learns, can be stopped and gone on with, and repeats itself."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.training.learn.learner import Learner, Plan, Record, guessing_by_frequency
from ffnviz.training.learn.text import MAX_TOKENS, everyday, training_sentences
from ffnviz.training.learn.variants import VARIANTS, new_encoder

TEXT = "She opened the [MASK] and looked out."
PLAN = Plan("relu", TEXT, steps=60, seed=3)


def told(records: list[Record]) -> list[object]:
    return [record.to_dict() for record in records]


@pytest.fixture(scope="module")
def course() -> list[Record]:
    return list(Learner(PLAN).learn())


@pytest.fixture(scope="module")
def beginner() -> Learner:
    return Learner(PLAN)


def test_it_begins_at_chance_and_soon_beats_guessing_by_frequency(course: list[Record]) -> None:
    assert [record.step for record in course] == [0, 10, 20, 30, 40, 50, 60]
    assert course[0].held_out.loss > 7.3  # ln 2,000 is 7.6
    assert course[-1].held_out.loss < course[0].held_out.loss - 1
    assert guessing_by_frequency().loss < course[0].held_out.loss
    assert course[0].held_out.blocks[0].active == pytest.approx(0.5, abs=0.05)


def test_two_hundred_steps_beat_guessing_by_frequency() -> None:
    last = list(Learner(replace(PLAN, steps=200)).learn())[-1]
    assert last.held_out.loss < guessing_by_frequency().loss - 0.3
    assert last.held_out.top5 > guessing_by_frequency().top5


def test_one_seed_gives_one_curve_and_another_another(course: list[Record]) -> None:
    assert told(list(Learner(PLAN).learn())) == told(course)
    others = told(list(Learner(replace(PLAN, seed=4)).learn(10)))
    assert not any(other == one for other, one in zip(others, told(course[:2]), strict=True))


def test_stopped_pickled_and_gone_on_with_it_ends_the_same(course: list[Record]) -> None:
    learner = Learner(PLAN)
    before = list(learner.learn(20))
    one_step = list(pickle.loads(pickle.dumps(learner)).learn(1))
    assert [record.step for record in one_step] == [21]
    after = list(pickle.loads(pickle.dumps(learner)).learn())
    assert told([*before, *after]) == told(course)


def test_another_sentence_can_be_watched_on_the_way() -> None:
    learner = Learner(PLAN)
    last = list(learner.learn(10))[-1]
    record = learner.watch("What [MASK] is it?")
    assert record.step == last.step == 10
    assert record.neurons is not None
    assert last.neurons is not None
    # Of the held-out sentences it says the same, and after more steps something else.
    assert record.held_out == last.held_out
    assert np.array_equal(record.neurons.turned, last.neurons.turned)
    later = list(learner.learn(10))[-1]
    assert later.neurons is not None
    assert later.held_out != last.held_out
    assert not np.array_equal(later.neurons.turned, last.neurons.turned)
    assert record.tokens == ("What", "[MASK]", "is", "it", "?")
    assert record.hidden is not None
    assert record.hidden.shape == (2, 5, 256)
    assert sum(record.probabilities) <= 1
    with pytest.raises(ValueError, match="No word is hidden"):
        learner.watch("What time is it?")


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_hidden_word_is_seen_wherever_it_stands(
    beginner: Learner, before: str, after: str
) -> None:
    """Also behind a long word without a space, whose every letter may be a token."""
    record = beginner.watch(f"{before}[MASK]{after}")
    assert "[MASK]" in "".join(record.tokens).upper()
    assert len(record.tokens) <= MAX_TOKENS
    assert record.hidden is not None
    assert record.hidden.shape == (2, len(record.tokens), 256)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_learns(name: str) -> None:
    records = list(Learner(replace(PLAN, name=name, steps=20)).learn())
    assert records[-1].held_out.loss < records[0].held_out.loss
    assert records[-1].hidden is not None
    assert records[-1].hidden.shape[-1] == VARIANTS[name].d_ff


@pytest.mark.parametrize("name", VARIANTS)
def test_what_has_the_same_shape_begins_with_the_same_weights(name: str) -> None:
    vocab_size = everyday()[0].vocab_size
    usual = new_encoder(VARIANTS["relu"], vocab_size, 1).state_dict()
    other = new_encoder(VARIANTS[name], vocab_size, 1).state_dict()
    alike = [k for k, weights in other.items() if k in usual and usual[k].shape == weights.shape]
    assert "blocks.0.attention.project_in.weight" in alike
    for key in alike:
        if "ffn." not in key or VARIANTS[name].ffn == "own":
            assert torch.equal(usual[key], other[key])


def test_a_variant_is_what_it_says() -> None:
    def made(name: str) -> torch.nn.Module:
        return new_encoder(VARIANTS[name], 300, 1)

    ids = torch.tensor([[5, 6, 7]])
    no_ffn = made("no-ffn").stream(ids)  # type: ignore[operator]
    assert torch.equal(no_ffn.blocks[0].output, no_ffn.blocks[0].middle)
    alone = made("no-residual").stream(ids).blocks[1]  # type: ignore[operator]
    assert torch.equal(alone.output, alone.ffn.output)
    assert torch.equal(alone.middle, alone.attention.output)
    bare = made("no-norm").stream(ids).blocks[0]  # type: ignore[operator]
    assert torch.equal(bare.attention.input, bare.input)
    shared = made("shared-ffn")
    n = sum(weights.numel() for weights in shared.parameters())
    assert n == sum(w.numel() for w in made("relu").parameters()) - (2 * 64 * 256 + 256 + 64)


@pytest.mark.parametrize("name", ["swiglu", "one-block", "four-blocks", "attention-only"])
def test_what_is_to_be_compared_has_as_many_parameters(name: str) -> None:
    def n_trained(name: str) -> int:
        encoder = new_encoder(VARIANTS[name], everyday()[0].vocab_size, 1)
        return sum(weights.numel() for weights in encoder.parameters() if weights.requires_grad)

    assert n_trained(name) == pytest.approx(n_trained("relu"), rel=0.01)


def test_few_sentences_are_some_of_all_of_every_length() -> None:
    few, everything = training_sentences(2_000).training, training_sentences(None).training
    assert sum(map(len, few.values())) == 2_000
    share = 2_000 / sum(map(len, everything.values()))
    for length, rows in few.items():
        assert abs(len(rows) - share * len(everything[length])) <= 1
        assert set(map(bytes, rows)) <= set(map(bytes, everything[length]))
