"""The twins start from the same weights: they depend on the shapes and the seed alone."""

import pytest
import torch
from torch import nn

from ffnviz.analysis.sparsity import record_of
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import INIT_STD, Encoder, initial_encoder
from ffnviz.models.encoder.model import TWINS, load

CONFIG = EncoderConfig(vocab_size=400, max_tokens=32, d_model=64, n_heads=4, d_ff=128)


def weights(activation: str, seed: int, norm: str = "pre") -> dict[str, torch.Tensor]:
    config = EncoderConfig.from_dict({**CONFIG.to_dict(), "activation": activation, "norm": norm})
    return dict(initial_encoder(config, seed).state_dict())


@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "silu", "identity"])
def test_configurations_that_differ_only_in_the_activation_start_alike(activation: str) -> None:
    relu, other = weights("relu", seed=7), weights(activation, seed=7)
    assert relu.keys() == other.keys()
    assert all(torch.equal(relu[name], other[name]) for name in relu)


def test_another_seed_gives_other_matrices() -> None:
    one, other = weights("relu", seed=7), weights("relu", seed=8)
    for name in one:
        if one[name].ndim > 1:
            assert not torch.isclose(one[name], other[name], atol=1e-9).all(), name


def test_the_random_state_of_the_process_neither_matters_nor_changes() -> None:
    torch.manual_seed(1)
    first = weights("relu", seed=7)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    second = weights("relu", seed=7)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_matrices_start_near_zero_and_norms_start_as_norms(norm: str) -> None:
    for name, tensor in weights("relu", seed=7, norm=norm).items():
        if tensor.ndim > 1:
            assert tensor.std().item() == pytest.approx(0.02, rel=0.1), name
            assert abs(tensor.mean().item()) < 0.002, name
        elif "norm" in name and name.endswith("weight"):
            assert (tensor == 1).all(), name
        else:
            assert (tensor == 0).all(), name


def seeded_alone(config: EncoderConfig, seed: int) -> dict[str, torch.Tensor]:
    """As the twins' training began: a seeded process that draws each layer's weights twice."""

    def again(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=INIT_STD)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return dict(Encoder(config).apply(again).state_dict())


@pytest.mark.parametrize("twin", TWINS)
def test_the_twins_weights_before_training_are_those_that_training_began_with(twin: str) -> None:
    config = load(twin).encoder.config
    seed = record_of(load(twin)).seed
    began, shown = seeded_alone(config, seed), initial_encoder(config, seed).state_dict()
    assert began.keys() == shown.keys()
    assert all(torch.equal(began[name], shown[name]) for name in began)
