"""Layers with a generator of their own get PyTorch's weights, and leave its random state alone."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.feed_forward import feed_forward
from ffnviz.models.torch_shortcuts import draws_from, no_draws

CONFIG = EncoderConfig(vocab_size=40, max_tokens=8, d_model=24, n_heads=4, d_ff=48)
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "Linear": lambda: nn.Linear(7, 5),
    "Embedding": lambda: nn.Embedding(11, 6),
    "Conv1d": lambda: nn.Conv1d(6, 6, 3, padding=1),
    "RNN": lambda: nn.RNN(6, 6, 3, batch_first=True),
    "LSTM": lambda: nn.LSTM(6, 6, 3, batch_first=True),
    "gated FFN": lambda: feed_forward(8, 16, "geglu"),
    "decoder block": lambda: DecoderBlock(CONFIG),
}


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS.keys())
def test_a_generator_gives_the_weights_that_a_seeded_process_gives(
    make: Callable[[], nn.Module],
) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        expected = [make().state_dict(), make().state_dict()]
    before = torch.get_rng_state()
    with draws_from(torch.Generator().manual_seed(5)):
        made = [make().state_dict(), make().state_dict()]  # the second draws on from the first
    assert torch.equal(torch.get_rng_state(), before)
    for ours, theirs in zip(made, expected, strict=True):
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS.keys())
def test_without_draws_layers_have_their_shapes_and_chance_stays(
    make: Callable[[], nn.Module],
) -> None:
    expected = {name: tensor.shape for name, tensor in make().state_dict().items()}
    before = torch.get_rng_state()
    with no_draws():
        made = make().state_dict()
    assert {name: tensor.shape for name, tensor in made.items()} == expected
    assert torch.equal(torch.get_rng_state(), before)
