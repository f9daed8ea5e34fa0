"""Predictions, the stream read early, a logit taken apart, and decoding: in float64 and by hand."""

import copy
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from ffnviz.analysis.lens import contributions, largest_gain, read_early
from ffnviz.analysis.prediction import predict_without_ffn
from ffnviz.analysis.writing import Strategy, distribution, entropy, pick
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."


@pytest.fixture
def model(tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", "gelu")


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_an_ffn_its_second_matrix_is_zero(tokenizer: Tokenizer, norm: str) -> None:
    """That a prediction is the softmax is in tests/analysis/test_any_network.py."""
    model = small_model(tokenizer, norm)
    for block in range(3):
        silenced = copy.deepcopy(model.encoder)
        silenced.blocks[block].ffn.compress.weight.zero_()
        silenced.blocks[block].ffn.compress.bias.zero_()
        expected = replace(model, encoder=silenced).trace(TEXT).logits[5].softmax(-1).topk(10)
        told = predict_without_ffn(model, model.trace(TEXT), block, token=5)
        np.testing.assert_array_equal(told.ids, expected.indices.numpy())
        np.testing.assert_allclose(told.probabilities, expected.values.numpy(), rtol=1e-5)


def test_the_last_reading_is_the_prediction_and_the_word_gains_most_somewhere(model: Model) -> None:
    trace = model.trace(TEXT)
    word = int(trace.logits[5].argmax())
    readings = read_early(model, trace, 5, word, k=4)
    assert [reading.stage for reading in readings] == [
        "embedding", "attention 1", "FFN 1", "attention 2", "FFN 2", "attention 3", "FFN 3"
    ]  # fmt: skip
    probabilities = trace.logits[5].double().softmax(dim=-1)
    assert readings[-1].rank == 1
    assert readings[-1].probability == pytest.approx(float(probabilities[word]), rel=1e-4)
    assert readings[-1].prediction.ids.tolist() == probabilities.topk(4).indices.tolist()
    before, after = largest_gain(readings)
    grown = np.diff(np.log([reading.probability for reading in readings]))
    assert (before, after) == (readings[grown.argmax()], readings[grown.argmax() + 1])
    assert len(read_early(model, model.trace("a"), 0, 1, k=2)) == 7


def test_an_early_reading_is_the_norm_and_the_output_on_the_stream(model: Model) -> None:
    trace, encoder = model.trace(TEXT), model.encoder
    stream = trace.blocks[0].middle[2].double()
    normed = (stream - stream.mean()) / (stream.var(correction=0) + 1e-5).sqrt()
    norm = encoder.final_norm
    assert isinstance(norm, torch.nn.LayerNorm)
    normed = normed * norm.weight.double() + norm.bias.double()
    logits = encoder.token_embedding.weight.double() @ normed
    reading = read_early(model, trace, 2, 7, k=3)[1]
    assert reading.prediction.ids.tolist() == logits.topk(3).indices.tolist()
    assert reading.probability == pytest.approx(float(logits.softmax(dim=0)[7]), rel=1e-4)
    assert reading.rank == 1 + int((logits > logits[7]).sum())


def test_a_parts_share_is_what_it_writes_along_the_word(model: Model) -> None:
    trace, encoder = model.trace(TEXT), model.encoder
    found = contributions(model, trace, 4, 9)
    scale = np.sqrt(trace.blocks[-1].output[4].double().numpy().var() + 1e-5)
    word = encoder.token_embedding.weight[9].double().numpy()
    assert isinstance(encoder.final_norm, torch.nn.LayerNorm)
    gain = encoder.final_norm.weight.double().numpy()
    written = trace.blocks[1].ffn.output[4].double().numpy()
    share = (word * gain * (written - written.mean())).sum() / scale
    # As it arrived in the stream: rounded to what a float32 of the stream's size can hold.
    assert found.added[found.parts.index("FFN 2")] == pytest.approx(share, abs=1e-5)
    assert found.residue == pytest.approx(0, abs=1e-4)
    left_out = found.added.sum() - float(np.abs(found.added).max())
    assert abs(left_out - found.logit) > 1e-3, "or the residue would show nothing"
    for twin in map(load, ("relu", "gelu")):  # of 512 components
        trace = twin.trace("She opened the [MASK] and looked out.")
        for word_id in trace.logits[3].topk(10).indices.tolist():
            found = contributions(twin, trace, 3, word_id)
            assert found.logit == pytest.approx(float(trace.logits[3, word_id]))
            assert abs(found.residue) < 1e-4


LOGITS = hnp.arrays(np.float32, st.integers(1, 30), elements=st.floats(-20, 20, width=32))
FOUR = np.log(np.array([0.5, 0.25, 0.15, 0.1]))


@given(logits=LOGITS, temperature=st.floats(0.05, 10))
def test_the_softmax_is_torchs(logits: NDArray[np.float32], temperature: float) -> None:
    found = distribution(logits, Strategy(temperature))
    expected = torch.softmax(torch.tensor(logits).double() / temperature, dim=0).numpy()
    np.testing.assert_allclose(found.softmax, expected, rtol=1e-9, atol=1e-15)
    assert found.softmax.sum() == pytest.approx(1)


@given(logits=LOGITS, k=st.integers(0, 40), p=st.floats(0.01, 1), temperature=st.floats(0.1, 5))
def test_the_cut_keeps_the_likeliest_and_sums_to_one(
    logits: NDArray[np.float32], k: int, p: float, temperature: float
) -> None:
    found = distribution(logits, Strategy(temperature, k, p))
    kept = set(found.order[: found.n_kept].tolist())
    assert found.cut.sum() == pytest.approx(1)
    assert set(np.flatnonzero(found.cut).tolist()) <= kept
    assert 1 <= found.n_kept <= min(k or len(logits), len(logits))
    least_kept = min(found.softmax[list(kept)])
    assert all(found.softmax[i] <= least_kept for i in range(len(logits)) if i not in kept)
    np.testing.assert_allclose(found.cut * found.kept_share, np.where(
        np.isin(np.arange(len(logits)), list(kept)), found.softmax, 0), atol=1e-12)  # fmt: skip


def test_top_p_keeps_the_fewest_that_reach_p() -> None:
    # Of 0.5, 0.25, 0.15, 0.1; a hair below p, so that rounding does not decide.
    cuts = ((0.05, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.8, 3), (0.9, 3), (0.91, 4), (1, 4))
    for p, n in cuts:
        assert distribution(FOUR, Strategy(top_p=p - 1e-9 if p < 1 else p)).n_kept == n, p


def test_top_p_counts_among_what_top_k_left_and_may_be_chosen() -> None:
    # Two thirds and one third are left of 0.5 and 0.25.
    assert distribution(FOUR, Strategy(top_k=2, top_p=0.6)).n_kept == 1
    assert distribution(FOUR, Strategy(top_k=2, top_p=0.7)).n_kept == 2
    found = distribution(FOUR, Strategy(), np.array([True, False, False, False]))
    assert found.softmax[0] == 0
    assert found.order[0] == 1
    assert found.softmax[1] == pytest.approx(0.5)
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(3)
    assert entropy(np.array([1.0, 0.0])) == 0
    assert entropy(np.array([0.5, 0.25, 0.25])) == pytest.approx(1.5)
    for wrong in (
        {"temperature": 0},
        {"temperature": -1},
        {"top_k": -1},
        {"top_p": 0},
        {"top_p": 1.1},
    ):
        with pytest.raises(ValueError, match=r"temperature|top_"):
            Strategy(**wrong)


def test_the_same_seed_and_step_pick_the_same_and_others_differ() -> None:
    chance = torch.random.get_rng_state(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    told = distribution(np.zeros(1_000), Strategy())
    picks, again, others = (
        [pick(told, Strategy(sample=True, seed=seed), step) for step in range(20)]
        for seed in (3, 3, 4)
    )
    assert picks == again != others
    assert len(set(picks)) > 15
    assert torch.equal(chance[0], torch.random.get_rng_state())
    assert np.random.get_state()[1].tolist() == chance[1]  # type: ignore[index]  # noqa: NPY002


def test_picks_by_chance_have_the_probabilities_of_the_cut() -> None:
    told = distribution(FOUR, Strategy(top_k=3))
    n = 4_000
    counts = Counter(pick(told, Strategy(sample=True, seed=seed)) for seed in range(n))
    assert set(counts) == {0, 1, 2}
    for entry in range(3):
        spread = np.sqrt(told.cut[entry] * (1 - told.cut[entry]) / n)
        assert counts[entry] / n == pytest.approx(told.cut[entry], abs=4 * spread)
