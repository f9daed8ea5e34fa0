"""What a validation point says, counted again in NumPy from the encoder's own trace."""

from dataclasses import asdict, dataclass

import numpy as np
import pytest
import torch

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.training.corpus import Corpus, Sentences
from ffnviz.training.masking import Batch, Recipe, sentence_batches, validation_batches
from ffnviz.training.validation import Point, look, validate
from tests.models.reference import Array, as_array


@dataclass(frozen=True)
class Recount:
    """Loss in nats, hits, and all hidden values of each block, (n_tokens, d_ff)."""

    loss: float
    top1: float
    top5: float
    n_masked: int
    hidden: list[Array]


def recount(encoder: Encoder, batches: list[Batch]) -> Recount:
    """Sort the logits at every masked position; keep every hidden value."""
    was_training = encoder.training
    encoder.eval()
    losses, ranks = [], []
    hidden: list[list[Array]] = [[] for _ in encoder.blocks]
    for batch in batches:
        with torch.no_grad():
            trace = encoder(batch.inputs)
        logits = as_array(trace.logits)[batch.masked.numpy()]
        of_target = logits[np.arange(len(logits)), batch.targets.numpy()]
        losses.append(np.log(np.exp(logits - of_target[:, None]).sum(axis=1)))
        ranks.append((logits > of_target[:, None]).sum(axis=1))
        for values, block in zip(hidden, trace.blocks, strict=True):
            values.append(as_array(block.ffn.hidden).reshape(-1, encoder.config.d_ff))
    encoder.train(was_training)
    all_ranks = np.concatenate(ranks)
    return Recount(
        loss=float(np.concatenate(losses).mean()),
        top1=float((all_ranks == 0).mean()),
        top5=float((all_ranks < 5).mean()),
        n_masked=len(all_ranks),
        hidden=[np.concatenate(values) for values in hidden],
    )


DEAD = [3, 17, 31]


@pytest.fixture(scope="module", params=["relu", "geglu"])
def encoder(request: pytest.FixtureRequest, config: EncoderConfig) -> Encoder:
    """With an embedding so large that its guesses differ, and three dead units in block 2."""
    values = {**config.to_dict(), "activation": request.param}
    module = initial_encoder(EncoderConfig.from_dict(values), seed=2)
    with torch.no_grad():
        module.token_embedding.weight.mul_(20)
        for block in module.blocks:
            block.get_submodule("ffn.expand").get_parameter("weight").mul_(10)
        module.get_parameter("blocks.1.ffn.expand.bias")[DEAD] = -1e4
    return module


@pytest.fixture(scope="module")
def batches(corpus: Corpus, recipe: Recipe) -> list[Batch]:
    return validation_batches(corpus.validation, recipe, 0, 32, None)


@pytest.fixture(scope="module")
def point(encoder: Encoder, batches: list[Batch]) -> Point:
    return validate(encoder, batches)


def test_loss_hits_and_activity_are_those_of_a_recount(
    encoder: Encoder, batches: list[Batch], point: Point
) -> None:
    expected = recount(encoder, batches)
    assert point.loss == pytest.approx(expected.loss, rel=1e-4)
    assert point.top1 == pytest.approx(expected.top1, abs=2e-3)
    assert point.top5 == pytest.approx(expected.top5, abs=2e-3)
    assert point.n_masked == expected.n_masked
    assert point.n_tokens == sum(batch.inputs.numel() for batch in batches)
    assert 0 <= point.top1 <= point.top5 <= 1

    for counted, hidden in zip(point.blocks, expected.hidden, strict=True):
        assert hidden.shape == (point.n_tokens, 32)
        # A value on the very edge may fall to either side.
        edge = 5 / hidden.size
        assert counted.active == pytest.approx((hidden > 0).mean(), abs=edge)
        assert counted.near_zero == {
            "0.01": pytest.approx((np.abs(hidden) <= 0.01).mean(), abs=edge),
            "0.1": pytest.approx((np.abs(hidden) <= 0.1).mean(), abs=edge),
        }
        never = np.flatnonzero((hidden <= 0).all(axis=0)).tolist()
        assert counted.never_active_units == never
        assert counted.never_active == len(never) / 32


def test_dead_units_are_found_and_named_only_if_asked(
    encoder: Encoder, batches: list[Batch], point: Point
) -> None:
    assert set(DEAD) <= set(point.blocks[1].never_active_units)
    assert not set(DEAD) & set(point.blocks[0].never_active_units)
    with_units, without = (look(encoder, batches, {}, units=units) for units in (True, False))
    assert with_units == asdict(point)
    for block in with_units["blocks"]:
        del block["never_active_units"]
    assert with_units == without


def test_dropout_plays_no_part_and_the_random_state_is_left_alone(
    encoder: Encoder, batches: list[Batch], point: Point
) -> None:
    assert encoder.config.dropout > 0
    for training in (True, False):
        encoder.train(training)
        assert validate(encoder, batches) == point
        assert encoder.training == training
    state = torch.get_rng_state()
    validate(encoder, batches[:1])
    assert torch.equal(torch.get_rng_state(), state)


def test_sentences_are_reported_beside_the_books_and_apart_from_them(
    encoder: Encoder, batches: list[Batch], sentences: Sentences, recipe: Recipe
) -> None:
    single = sentence_batches(sentences, recipe, 0)
    found = look(encoder, batches, {"sentences": single}, units=True)
    expected = recount(encoder, single)
    assert found.pop("sentences") == {
        "loss": pytest.approx(expected.loss, rel=1e-4),
        "top1": pytest.approx(expected.top1, abs=2e-3),
        "top5": pytest.approx(expected.top5, abs=2e-3),
        "n_masked": sum(len(rows) for rows in sentences.held_out.values()),
    }
    assert found == look(encoder, batches, {}, units=True)
