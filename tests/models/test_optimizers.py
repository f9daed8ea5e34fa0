"""Ours take the same steps as PyTorch's."""

from typing import Any

import pytest
import torch
from torch import nn

from ffnviz.models.torch_shortcuts import Adam, AdamW


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
