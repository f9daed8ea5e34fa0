"""A vector times a Jacobian, against PyTorch's own way."""

import torch

from ffnviz.analysis.gradients import vector_jacobian


def test_it_is_pytorchs_to_the_bit() -> None:
    draws = torch.Generator().manual_seed(2)
    x, y, vector = (torch.randn(3, 4, generator=draws) for _ in range(3))
    x, y, apart = x.requires_grad_(), y.requires_grad_(), torch.ones(2, requires_grad=True)
    output = (x @ y.mT).tanh() @ y
    expected = torch.autograd.grad(output, (x, y), vector, retain_graph=True)
    with torch.no_grad():  # as an analysis may be
        found = vector_jacobian(vector, output, (x, y), retain_graph=True)
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))
    *_, nothing = vector_jacobian(vector, output, (x, apart), materialize_grads=True)
    assert torch.equal(nothing, torch.zeros(2))
