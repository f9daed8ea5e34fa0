"""Layers that draw from a generator of their own, and optimizers: as PyTorch has them, exactly."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.feed_forward import feed_forward
from ffnviz.models.torch_shortcuts import Adam, AdamW, draws_from, no_draws

CONFIG = EncoderConfig(vocab_size=40, max_tokens=8, d_model=24, n_heads=4, d_ff=48)
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "Linear": lambda: nn.Linear(7, 5),
    "Embedding": lambda: nn.Embedding(11, 6),
    "Conv1d": lambda: nn.Conv1d(6, 6, 3, padding=1),
    "LSTM": lambda: nn.LSTM(6, 6, 3, batch_first=True),
    "gated FFN": lambda: feed_forward(8, 16, "geglu"),
    "decoder block": lambda: DecoderBlock(CONFIG),
}


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS.keys())
def test_a_generator_draws_as_a_seeded_process_does(make: Callable[[], nn.Module]) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        expected = [make().state_dict(), make().state_dict()]
    before = torch.get_rng_state()
    with draws_from(torch.Generator().manual_seed(5)):
        made = [make().state_dict(), make().state_dict()]  # the second draws on from the first
    with no_draws():
        undrawn = make().state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    for ours, theirs in zip(made, expected, strict=True):
        assert ours.keys() == theirs.keys() == undrawn.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
        assert all(undrawn[name].shape == theirs[name].shape for name in theirs)


def steps(kind: type[torch.optim.Optimizer], **settings: Any) -> tuple[nn.Module, dict[str, Any]]:
    """A small network and the optimizer's state after some steps, with a pause in the middle."""
    draws = torch.Generator().manual_seed(3)
    layer = nn.Linear(4, 3)
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn(weight.shape, generator=draws))
    groups = [{"params": [layer.weight]}, {"params": [layer.bias], "weight_decay": 0.0}]
    optimizer: Any = kind(groups, **settings)  # type: ignore[arg-type]
    for step in range(6):
        if step == 3:
            saved, optimizer = optimizer.state_dict(), kind(groups, **settings)  # type: ignore[arg-type]
            optimizer.load_state_dict(saved)
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        layer(torch.randn(5, 4, generator=draws)).square().sum().backward()
        optimizer.step()
    return layer, optimizer.state_dict()


@pytest.mark.parametrize(
    ("ours", "theirs", "settings"),
    [
        (Adam, torch.optim.Adam, {"lr": 0.02}),
        (AdamW, torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.05, "fused": True}),
    ],
)
def test_each_takes_the_steps_of_pytorchs_to_the_bit(
    ours: type[torch.optim.Optimizer], theirs: type[torch.optim.Optimizer], settings: dict[str, Any]
) -> None:
    mine, state = steps(ours, **settings)
    expected, its_state = steps(theirs, **settings)
    for weight, other in zip(mine.parameters(), expected.parameters(), strict=True):
        assert torch.equal(weight, other)
    assert repr(state) == repr(its_state)
