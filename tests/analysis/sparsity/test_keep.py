"""Neurons left out and φ replaced, against recomputing by hand in float64."""

import numpy as np
import pytest
import torch

from ffnviz.analysis.prediction import logits_with_ffn_output, predict
from ffnviz.analysis.sparsity import with_activation
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.sparsity.keep import (
    concentration,
    kept_at,
    random_pass,
    strengths,
    strongest_pass,
)
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."
BLOCK, TOKEN = 1, 3


@pytest.fixture(params=["pre", "post"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, request.param)


def by_hand(model: Model, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """FFN output and logits in float64, from a block's hidden values on."""
    trace = model.trace(TEXT)
    encoder = small_model(model.tokenizer, model.encoder.config.norm).encoder.double()
    ffn = encoder.blocks[BLOCK].ffn
    output = hidden.double() @ ffn.compress.weight.T + ffn.compress.bias
    x = trace.blocks[BLOCK].middle.double() + output
    if model.encoder.config.norm == "post":
        x = encoder.blocks[BLOCK].ffn_norm(x)
    for block in list(encoder.blocks)[BLOCK + 1 :]:
        x = block(x).output
    return output, encoder.final_norm(x) @ encoder.token_embedding.weight.T


@pytest.mark.parametrize("n", [1, 5, 31])
@pytest.mark.parametrize("strongest", [True, False])
def test_the_kept_neurons_write_what_they_wrote_and_the_rest_nothing(
    model: Model, n: int, strongest: bool
) -> None:
    trace = model.trace(TEXT)
    hidden = trace.blocks[BLOCK].ffn.hidden
    if strongest:
        ranked = strengths(model, trace, BLOCK)
        found = strongest_pass(model, trace, BLOCK, n)
    else:
        ranked = torch.rand(hidden.shape, generator=torch.Generator().manual_seed(0))
        found = random_pass(model, trace, BLOCK, n)
        # The active neurons come first: above 0, or further than 0.1 from it.
        ranked[hidden.abs() > (0 if model.card.phi.exact_zeros else 0.1)] += 1
    masked = torch.stack([
        torch.where(torch.tensor([i in set(row.argsort(descending=True)[:n].tolist())
                                  for i in range(len(row))]), values, 0)
        for row, values in zip(ranked, hidden, strict=True)
    ])  # fmt: skip
    output, logits = by_hand(model, masked)
    full = trace.blocks[BLOCK].ffn.output.double()
    errors = (output - full).norm(dim=-1) / full.norm(dim=-1)
    np.testing.assert_allclose(found.errors, errors, rtol=1e-4, atol=1e-6)
    kept = kept_at(model, found, TOKEN)
    assert kept.error == float(found.errors[TOKEN])
    expected = logits[TOKEN].softmax(dim=-1)[torch.tensor(kept.prediction.ids)]
    np.testing.assert_allclose(kept.prediction.probabilities, expected.numpy(), rtol=1e-4)


def test_with_all_neurons_kept_nothing_changes(model: Model) -> None:
    trace = model.trace(TEXT)
    for keep in (strongest_pass, random_pass):
        found = kept_at(model, keep(model, trace, BLOCK, 32), TOKEN)
        assert found.error < 1e-6
        assert found.prediction.words == predict(model, trace, TOKEN).words


@pytest.mark.parametrize("n", [0, 33, -1])
def test_an_impossible_number_of_neurons_is_refused(model: Model, n: int) -> None:
    with pytest.raises(ValueError, match="from 1 to d_ff = 32"):
        strongest_pass(model, model.trace(TEXT), BLOCK, n)


def test_the_random_neurons_are_the_same_ones_each_time(model: Model) -> None:
    trace = model.trace(TEXT)
    first, again = (random_pass(model, trace, BLOCK, 3) for _ in range(2))
    assert first.errors.equal(again.errors)
    assert first.stream.equal(again.stream)


def test_the_strongest_carry_what_adding_up_by_hand_gives(model: Model) -> None:
    trace = model.trace(TEXT)
    hidden = trace.blocks[BLOCK].ffn.hidden.double().numpy()
    values = model.encoder.blocks[BLOCK].ffn.compress.weight.double().numpy()  # (d_model, d_ff)
    sizes = np.abs(hidden) * np.sqrt((values**2).sum(axis=0))
    shares = concentration(model, trace, BLOCK)
    for n in (1, 7, 32):
        strongest = sum(sorted(row, reverse=True)[k] for row in sizes for k in range(n))
        assert shares[n - 1] == pytest.approx(strongest / sizes.sum(), rel=1e-5)
    assert shares.shape == (32,)


def test_an_ffn_that_writes_what_it_wrote_changes_no_logit(model: Model) -> None:
    trace = model.trace(TEXT)
    same = trace.blocks[BLOCK].ffn.output
    logits = logits_with_ffn_output(model, trace, BLOCK, same, TOKEN)
    torch.testing.assert_close(logits, trace.logits[TOKEN], rtol=1e-5, atol=1e-5)


def test_another_activation_shares_the_weights_and_leaves_the_model_alone(
    model: Model, tokenizer: Tokenizer
) -> None:
    other = with_activation(model, "gelu")
    for mine, theirs in zip(other.encoder.parameters(), model.encoder.parameters(), strict=True):
        assert mine is theirs
    assert model.encoder.config.activation == "relu"
    assert model.encoder.blocks[0].ffn.activation.name == "relu"
    expected = small_model(tokenizer, model.encoder.config.norm, "gelu").trace(TEXT)
    torch.testing.assert_close(other.trace(TEXT).logits, expected.logits)


def test_a_gated_activation_cannot_stand_in(model: Model) -> None:
    with pytest.raises(ValueError, match="gated"):
        with_activation(model, "geglu")
