"""Ranks, projections, and one FFN for all tokens, against NumPy and worked cases."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.dimensions.position_wise import against_sequential, position_wise
from ffnviz.analysis.dimensions.projection import project
from ffnviz.analysis.dimensions.rank import STAGES, out_of_reach, reach, spectra, spectrum
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.small import small_model

TEXT = "The cat sat on the [MASK], and the dog sat on the floor beside her."


@pytest.fixture(params=["relu", "gelu"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", request.param)


def test_equal_singular_values_are_as_many_directions_as_there_are() -> None:
    assert spectrum(3.0 * torch.eye(5, 9)).effective_rank == pytest.approx(5)


def test_one_direction_has_rank_one_and_nothing_has_none() -> None:
    assert spectrum(torch.outer(torch.arange(1.0, 5), torch.ones(7))).effective_rank == (
        pytest.approx(1, abs=1e-6)
    )
    assert spectrum(torch.zeros(3, 4)).effective_rank == 0


def test_the_effective_rank_of_two_values_follows_by_hand() -> None:
    found = spectrum(torch.diag(torch.tensor([3.0, 1.0])))
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert found.effective_rank == pytest.approx(np.exp(entropy))
    np.testing.assert_allclose(found.singular_values, [3, 1])


def test_the_spectra_are_numpys(model: Model) -> None:
    trace = model.trace(TEXT)
    ffn = trace.blocks[1].ffn
    stages = (ffn.input, ffn.pre_activation, ffn.hidden, ffn.output)
    for (name, found), values in zip(spectra(trace, 1).items(), stages, strict=True):
        expected = np.linalg.svd(values.double().numpy(), compute_uv=False)
        np.testing.assert_allclose(found.singular_values, expected, atol=1e-12 * expected[0])
        assert name in STAGES


def test_only_what_phi_made_is_out_of_reach(model: Model) -> None:
    trace = model.trace(TEXT)
    before, after = out_of_reach(reach(model, 1), trace, 1)
    assert before < 1e-6
    expand = model.encoder.blocks[1].ffn.expand
    reached = np.column_stack([expand.weight.double().numpy(), expand.bias.double().numpy()])
    hidden = trace.blocks[1].ffn.hidden.double().numpy().T
    best, *_ = np.linalg.lstsq(reached, hidden)
    outside = ((hidden - reached @ best) ** 2).sum() / (hidden**2).sum()
    assert after == pytest.approx(outside, rel=1e-3)
    assert after > 0.05


def test_a_plane_is_found_whatever_its_place_in_space() -> None:
    generator = np.random.default_rng(0)
    flat = generator.normal(size=(12, 2)) * [3, 1]
    turned, _ = np.linalg.qr(generator.normal(size=(40, 40)))
    found = project(torch.tensor(flat @ turned[:2] + generator.normal(size=40)))
    assert found.explained.sum() == pytest.approx(1)
    centred = flat - flat.mean(axis=0)
    apart = np.linalg.norm(centred[:, None] - centred[None], axis=-1)
    shown = np.linalg.norm(found.points[:, None] - found.points[None], axis=-1)
    np.testing.assert_allclose(shown, apart, atol=1e-9)


def test_the_axes_are_those_of_the_covariance(model: Model) -> None:
    vectors = model.trace(TEXT).blocks[0].ffn.output
    found = project(vectors)
    variances = np.linalg.eigvalsh(np.cov(vectors.double().numpy().T))[::-1]
    np.testing.assert_allclose(found.explained, variances[:2] / variances.sum(), rtol=1e-6)


@given(n=st.integers(1, 3))
def test_few_tokens_can_be_projected(n: int) -> None:
    found = project(torch.arange(n * 4.0).reshape(n, 4))
    assert found.points.shape == (n, 2)
    assert np.isfinite(found.points).all()
    assert found.explained.sum() <= 1 + 1e-9


def test_the_sign_of_an_axis_does_not_depend_on_the_order(model: Model) -> None:
    vectors = model.trace(TEXT).blocks[0].ffn.output
    backwards = project(vectors.flip(0)).points[::-1]
    np.testing.assert_allclose(project(vectors).points, backwards, atol=1e-6)


@pytest.mark.parametrize("block", [0, 2])
def test_one_ffn_for_all_tokens_whichever_way_it_is_applied(model: Model, block: int) -> None:
    trace = model.trace(TEXT)
    found = position_wise(model, trace, block)
    largest = float(trace.blocks[block].ffn.output.abs().max())
    sequential = against_sequential(model, trace, block)
    for difference in (sequential, found.alone, found.batch, found.flattened):
        assert difference <= 1e-5 * largest
    assert found.n_parameters == 16 * 32 + 32 + 32 * 16 + 16


def test_an_ffn_that_looks_at_its_neighbour_is_found_out(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = model.trace(TEXT)
    expand = model.encoder.blocks[0].ffn.expand
    plain = expand.forward

    def peeks(x: torch.Tensor) -> torch.Tensor:
        return plain(x + 0.1 * x.roll(1, dims=-2))

    monkeypatch.setattr(expand, "forward", peeks)
    assert position_wise(model, trace, 0).alone > 1e-2
