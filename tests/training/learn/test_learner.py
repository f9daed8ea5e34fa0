"""A small network in training: what it reads, that it learns, is stopped, and repeats itself."""

import hashlib
import pickle
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.facts import EVERYDAY
from ffnviz.models.encoder.folder import TOKENIZER
from ffnviz.models.encoder.model import MODELS
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.training.learn.learner import (
    SHOWN,
    Learner,
    Plan,
    Record,
    guessing_by_frequency,
    keys_of,
    look_at_neurons,
)
from ffnviz.training.learn.text import (
    LONGEST,
    LOOKED_AT,
    MAX_TOKENS,
    MOST_WORDS,
    VOCABULARY,
    OwnTextError,
    commonest,
    sentences_in,
    text_read,
    training_sentences,
)
from ffnviz.training.learn.variants import VARIANTS, new_encoder
from ffnviz.training.masking import Batch

TEXT = "She opened the [MASK] and looked out."
PLAN = Plan("relu", TEXT, steps=40, seed=3)


def told(records: list[Record]) -> list[object]:
    return [record.to_dict() for record in records]


@pytest.fixture(scope="module")
def course() -> list[Record]:
    return list(Learner(PLAN).learn())


@pytest.fixture(scope="module")
def beginner() -> Learner:
    return Learner(PLAN)


def test_it_begins_at_chance_and_soon_beats_guessing_by_frequency(course: list[Record]) -> None:
    assert [record.step for record in course] == [0, 10, 20, 30, 40]
    assert course[0].held_out.loss > 7.3  # ln 2,000 is 7.6
    assert course[-1].held_out.loss < course[0].held_out.loss - 1
    assert guessing_by_frequency().loss < course[0].held_out.loss
    assert course[0].held_out.blocks[0].active == pytest.approx(0.5, abs=0.05)
    last = list(Learner(replace(PLAN, steps=150)).learn())[-1]
    assert last.held_out.loss < guessing_by_frequency().loss - 0.3


def test_one_seed_gives_one_curve_also_stopped_and_gone_on_with(course: list[Record]) -> None:
    assert told(list(Learner(PLAN).learn())) == told(course)
    others = told(list(Learner(replace(PLAN, seed=4)).learn(10)))
    assert not any(other == one for other, one in zip(others, told(course[:2]), strict=True))
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
    assert record.held_out == last.held_out
    assert np.array_equal(record.neurons.turned, last.neurons.turned)
    assert list(learner.learn(10))[-1].held_out != last.held_out
    assert record.tokens == ("What", "[MASK]", "is", "it", "?")
    assert sum(record.probabilities) <= 1
    with pytest.raises(ValueError, match="No word is hidden"):
        learner.watch("What time is it?")
    assert [record.text for record in learner.learn(10)] == ["What [MASK] is it?"]


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_hidden_word_is_seen_anywhere(beginner: Learner, before: str, after: str) -> None:
    """Also behind a long word without a space, whose every letter may be a token."""
    record = beginner.watch(f"{before}[MASK]{after}")
    assert "[MASK]" in "".join(record.tokens).upper()
    assert len(record.tokens) <= MAX_TOKENS
    assert record.hidden is not None
    assert record.hidden.shape == (2, len(record.tokens), 256)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_learns(name: str) -> None:
    records = list(Learner(replace(PLAN, name=name, steps=10)).learn())
    assert records[-1].held_out.loss < records[0].held_out.loss
    assert records[-1].hidden is not None
    assert records[-1].hidden.shape[-1] == VARIANTS[name].d_ff


@pytest.mark.parametrize("name", VARIANTS)
def test_what_has_the_same_shape_begins_with_the_same_weights(name: str) -> None:
    vocab_size = text_read()[0].vocab_size
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
        encoder = new_encoder(VARIANTS[name], text_read()[0].vocab_size, 1)
        return sum(weights.numel() for weights in encoder.parameters() if weights.requires_grad)

    assert n_trained(name) == pytest.approx(n_trained("relu"), rel=0.01)


def test_the_strongest_tokens_are_those_of_a_loop_over_all() -> None:
    encoder = new_encoder(VARIANTS["relu"], 40, 3)
    ids = torch.randint(0, 40, (2, 6, 7), generator=torch.Generator().manual_seed(1))
    hidden_none = torch.zeros((6, 7), dtype=torch.bool)
    batches = [Batch(each, hidden_none, torch.tensor([])) for each in ids]
    first = keys_of(encoder)
    with torch.no_grad():
        encoder.blocks[1].ffn.expand.weight[5] = torch.arange(64.0)
    found = look_at_neurons(encoder, first, batches)
    for block, neuron in ((0, 0), (0, 200), (1, 5)):
        best: dict[int, float] = {}
        for row in ids.flatten(0, 1):
            hidden = encoder.stream(row).blocks[block].ffn.hidden[:, neuron].detach()
            for id_, value in zip(row.tolist(), hidden.tolist(), strict=True):
                best[id_] = max(value, best.get(id_, value))
        chosen = found.strongest[block, neuron].tolist()
        largest = sorted(best.values(), reverse=True)[:SHOWN]
        np.testing.assert_allclose([best[id_] for id_ in chosen], largest, atol=1e-5)


def test_a_key_that_was_not_trained_has_not_turned() -> None:
    encoder = new_encoder(VARIANTS["swiglu"], 40, 3)
    first = keys_of(encoder)
    with torch.no_grad():
        encoder.blocks[1].ffn.expand.weight[5] = torch.arange(64.0)
        encoder.blocks[0].ffn.expand.weight[2] *= -3
    ids = torch.arange(10)[None]
    nothing = Batch(ids, torch.zeros_like(ids, dtype=torch.bool), torch.tensor([]))
    turned = look_at_neurons(encoder, first, [nothing]).turned
    old, new = first[1, 5].numpy(), np.arange(64.0)
    cosine = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
    np.testing.assert_allclose(turned[1, 5], cosine, atol=1e-3)
    np.testing.assert_allclose(turned[0, 2], -1, atol=1e-3)
    np.testing.assert_allclose(np.delete(turned[0], 2), 1, atol=1e-3)


def test_the_vocabulary_is_small_and_reads_what_it_keeps_as_the_full_one() -> None:
    tokenizer, _ = text_read()
    assert tokenizer.vocab_size <= VOCABULARY
    assert len(tokenizer.encode(f"What {MASK} is it?").ids) == 5
    odd = "Zyzzyva 東京"
    assert tokenizer.decode(tokenizer.encode(odd).ids) == odd.lower()
    assert tokenizer.encode(MASK).ids == [tokenizer.mask_id]
    full = Tokenizer.from_json((MODELS / "relu" / TOKENIZER).read_bytes())
    lines = ["the cat sat on the mat.", "a dog looked at the cat."]
    small = commonest(full, lines, 400)
    assert small.vocab_size <= 400
    for line in lines:
        whole = [full.word(i) for i in full.encode(line).ids]
        assert [small.word(i) for i in small.encode(line).ids] == whole


def test_sentences_are_those_of_the_licence_file_and_500_are_held_out() -> None:
    about = (EVERYDAY.parent / "README.md").read_text(encoding="utf-8")
    assert "CC BY 2.0 FR" in about
    assert hashlib.sha256(EVERYDAY.read_bytes()).hexdigest() in about
    _, sentences = text_read()
    held_out = [row.tobytes() for rows in sentences.held_out.values() for row in rows]
    training = {row.tobytes() for rows in sentences.training.values() for row in rows}
    assert len(held_out) == LOOKED_AT
    assert len(training) > 79_000
    assert sum(row in training for row in held_out) < 10  # that differ in capitals alone
    few, everything = training_sentences(2_000).training, training_sentences(None).training
    assert sum(map(len, few.values())) == 2_000
    share = 2_000 / sum(map(len, everything.values()))
    for length, rows in few.items():
        assert abs(len(rows) - share * len(everything[length])) <= 1
        assert set(map(bytes, rows)) <= set(map(bytes, everything[length]))


ENDINGS = ("ell", "ina", "oro", "uth", "ami")
NAMES = [first + last for first in "BDFGKLMNPRST" for last in ENDINGS]
TALE = " ".join(
    f"{name} and {other} went home. “Where is {other}?” asked {name}. {name} saw {other}."
    for name, other in zip(NAMES * 5, NAMES[7:] + NAMES * 5, strict=False)
)


def test_a_text_of_ones_own_is_cut_into_sentences_and_learned() -> None:
    found = sentences_in(TALE + "\nwithout a stop\n" + "word " * 40)
    assert {"Bell and Doro went home.", "without a stop"} <= set(found)
    assert len(set(found)) == len(found)
    assert max(len(each.split()) for each in found) == MOST_WORDS
    tokenizer, sentences = text_read(TALE)
    assert tokenizer.vocab_size <= 2_000
    assert sentences.held_out
    records = list(Learner(Plan("relu", "Bell and [MASK] went home.", 80, own=TALE)).learn())
    assert records[-1].held_out.loss < guessing_by_frequency(TALE).loss
    assert guessing_by_frequency(TALE) != guessing_by_frequency()


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "has 0 different"), ("One. Two.", "has 2 different"),
     ("A line. " * 500, "has 1 different"),
     ("a" * (LONGEST + 1), "more than 500,000"), ("PK\0\3" * 9, "not UTF-8 text"),
     ("\ufffd" * 90, "not UTF-8 text")],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(OwnTextError, match=says):
        sentences_in(text)


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(OwnTextError):
        assert all(each.strip() for each in sentences_in(text * 9))
