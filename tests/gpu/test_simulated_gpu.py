"""The simulated GPU refuses what CUDA refuses, and computes what the CPU computes."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.gpu.simulated_gpu import GpuTensor, simulated_gpu

HERE = torch.arange(12.0).reshape(3, 4) - 5
MIXED: dict[str, Callable[[Tensor], object]] = {
    "a sum": lambda there: there + HERE,
    "the CPU's first": lambda there: HERE * there,
    "a layer's bias": lambda there: F.linear(there, there, HERE[:, 0]),
    "a concatenation": lambda there: torch.cat([there, HERE]),
    "a gathering": lambda there: there.gather(0, torch.tensor([[1]])),
    "the CPU's tensor by the GPU's index": lambda there: HERE[there[0].long()],
    "a change in place": lambda there: HERE.clone().add_(there),
    "the GPU's tensor changed by the CPU's": lambda there: there.add_(HERE),
    "rows that are written": lambda there: there.index_put_((torch.tensor([1]),), HERE[1]),
    "a generator": lambda there: there.normal_(generator=torch.Generator()),
    "drawn there by the CPU's generator": lambda there: torch.randn(
        3, device=there.device, generator=torch.Generator()
    ),
}
COMPUTED: dict[str, Callable[[Tensor], Tensor]] = {
    "a product": lambda x: x @ x.T,
    "a vector's layer": lambda x: F.linear(x[0], x),
    "a softmax": lambda x: x.softmax(-1),
    "rows by the CPU's index": lambda x: x[torch.tensor([2, 0])],
    "a number of the CPU's": lambda x: x * torch.tensor(2.0),
    "a view that is written": lambda x: _written(x.clone()),
    "dimensions in place": lambda x: x.clone().unsqueeze_(0).squeeze_(0).t_() + 1,
    "the largest": lambda x: x.topk(2).indices,
    "the CPU's copied into it": lambda x: x.clone().copy_(HERE * 2),
    "made there": lambda x: torch.tensor([1.0, 2.0], device=x.device) + x.new_ones(2),
}


def _written(x: Tensor) -> Tensor:
    x[1:, ::2] = x[:2, 1::2]
    return x


@pytest.mark.parametrize("what", MIXED)
@pytest.mark.parametrize("inference", [False, True])
def test_two_devices_are_an_error(gpu: torch.device, what: str, inference: bool) -> None:
    with torch.inference_mode(inference):
        there = HERE.to(gpu)
        with pytest.raises(RuntimeError, match=r"all tensors to be on the same device|generator"):
            MIXED[what](there)


def test_numpy_reads_nothing_there(gpu: torch.device) -> None:
    there = HERE.to(gpu)
    for read in (np.asarray, np.exp, lambda x: x.numpy()):
        with pytest.raises(TypeError, match=r"\.cpu\(\) copies it"):
            read(there)


@pytest.mark.parametrize("what", COMPUTED)
@pytest.mark.parametrize("inference", [False, True])
def test_it_computes_what_the_cpu_computes(gpu: torch.device, what: str, inference: bool) -> None:
    with torch.inference_mode(inference):
        made = COMPUTED[what](HERE.to(gpu))
        assert made.device == gpu
        assert made.is_inference() == inference
        assert torch.equal(made.cpu(), COMPUTED[what](HERE))
        assert made.stride() == COMPUTED[what](HERE).stride()


def test_values_come_back_only_when_asked_for(gpu: torch.device) -> None:
    there = HERE.to(gpu)
    assert there.tolist() == HERE.tolist()
    assert (there[0] + HERE[0, 1]).sum().item() == (HERE[0] + HERE[0, 1]).sum().item()
    assert np.array_equal(there.cpu().numpy(), HERE.numpy())
    assert torch.equal(pickle.loads(pickle.dumps(there)), HERE), "a file has the values"


def test_gradients_are_there_too(gpu: torch.device) -> None:
    layer = nn.Linear(4, 2)
    moved = copy.deepcopy(layer).to(gpu)
    layer(HERE).square().sum().backward()
    again = copy.deepcopy(moved)
    for each in (moved, again):
        each(HERE.to(gpu)).square().sum().backward()
        for own, other in zip(each.parameters(), layer.parameters(), strict=True):
            assert isinstance(own.grad, GpuTensor)
            assert other.grad is not None
            assert torch.equal(own.grad.cpu(), other.grad)
    with pytest.raises(RuntimeError, match="same device"):
        moved(HERE)


def test_afterwards_there_is_no_such_device() -> None:
    with simulated_gpu() as gpu:
        torch.zeros(1, device=gpu)
    with pytest.raises(NotImplementedError):
        torch.zeros(1, device=gpu)
