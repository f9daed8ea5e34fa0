"""Ranks, projections, and one FFN for all tokens, against NumPy and worked cases."""

import numpy as np
import pytest
import torch

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
