"""Either way of making a product gives the same numbers, and is taken only where it may be."""

from collections.abc import Iterator
from itertools import accumulate

import pytest
import torch
from torch import Tensor, nn

import ffnviz
from ffnviz.models.encoder import linear as module
from ffnviz.models.encoder.linear import SMALL, Linear, linear, onednn_is_quicker, take_onednn

TEXT = "The little girl opened the [MASK] and looked out at the cat."
Shapes = list[tuple[int, ...]]
HAS_ONEDNN = module._is_right()
needs_onednn = pytest.mark.skipif(not HAS_ONEDNN, reason="no oneDNN in this PyTorch")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = list(module._decided)
    yield
    module._decided[:] = before
    module._is_right.cache_clear()
    module._measured.cache_clear()


@pytest.fixture(params=[False, pytest.param(True, marks=needs_onednn)])
def onednn(request: pytest.FixtureRequest) -> bool:
    take_onednn(request.param)
    return bool(request.param)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Shapes:
    """The shapes that oneDNN was asked for."""
    shapes: Shapes = []
    own = module._by_onednn

    def counted(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        shapes.append(tuple(x.shape))
        return own(x, weight, bias)

    monkeypatch.setattr(module, "_by_onednn", counted)
    return shapes


@pytest.mark.parametrize("bias", [True, False])
@torch.inference_mode()
def test_it_is_the_product_up_to_rounding(onednn: bool, asked: Shapes, bias: bool) -> None:
    shapes = [(1, 512), (24, 512), (3, 5, 512), (512,)]
    layer = Linear(512, 300, bias)
    for shape in shapes:
        x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
        wanted = x.double() @ layer.weight.double().mT
        if layer.bias is not None:
            wanted = wanted + layer.bias.double()
        # n products and as many sums, each rounded (Higham 2002, section 3.1).
        sizes = x.double().abs() @ layer.weight.double().abs().mT + 1
        found = layer(x)
        assert found.shape == wanted.shape
        assert ((found - wanted).abs() <= 514 * 2.0**-24 * sizes).all()
    assert asked == (shapes if onednn else [])


@pytest.mark.usefixtures("onednn")
def test_gradients_other_types_and_small_matrices_stay_with_pytorch(asked: Shapes) -> None:
    layer, other = Linear(512, 300), nn.Linear(512, 300)
    other.load_state_dict(layer.state_dict())
    x = torch.randn(4, 512, generator=torch.Generator().manual_seed(1))
    for each in (layer, other):
        each(x).square().sum().backward()
    assert layer.weight.grad is not None
    assert other.weight.grad is not None
    assert torch.equal(layer.weight.grad, other.weight.grad)
    with torch.inference_mode():
        for x, weight in (
            (torch.ones(2, 512).double(), torch.ones(300, 512).double()),
            (torch.ones(2, 8), torch.ones(SMALL // 8 - 1, 8)),
            (torch.ones(0, 512), torch.ones(300, 512)),
        ):
            assert torch.equal(linear(x, weight), nn.functional.linear(x, weight))
    assert not asked


@pytest.mark.usefixtures("onednn")
def test_stages_computed_again_are_those_of_the_pass_to_the_bit() -> None:
    model = ffnviz.load("relu")
    kept, again = model.trace(TEXT, hold=1).blocks[1], model.trace(TEXT).blocks[1]
    assert kept.ffn_stages.held is not None
    assert again.ffn_stages.held is None
    for name in ("pre_activation", "hidden", "output"):
        assert torch.equal(getattr(kept.ffn, name), getattr(again.ffn, name))
    assert torch.equal(again.middle + again.ffn.output, again.output)


def test_where_it_is_missing_or_wrong_it_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> Tensor:
        raise AttributeError("no such operation")

    def wrong(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return 2 * nn.functional.linear(x, weight, bias)

    monkeypatch.setattr(module, "_decided", [])
    for broken in (missing, wrong):
        monkeypatch.setattr(module, "_by_onednn", broken)
        module._is_right.cache_clear()
        module._measured.cache_clear()
        assert not onednn_is_quicker()
        take_onednn(True)
        assert not onednn_is_quicker()


@needs_onednn
@pytest.mark.parametrize(("onednn_s", "taken"), [(0.5, True), (0.9, False)])
def test_it_is_taken_where_it_is_much_quicker(
    monkeypatch: pytest.MonkeyPatch, onednn_s: float, taken: bool
) -> None:
    monkeypatch.setattr(module, "_decided", [])
    module._measured.cache_clear()
    # Two readings of the clock a measurement, PyTorch's own way first.
    took = [0.0, 1.0, 0.0, onednn_s] * module.REPEATS
    readings = iter(accumulate(took))
    monkeypatch.setattr(module, "perf_counter", lambda: next(readings))
    assert onednn_is_quicker() is taken
