"""Either way of making a product gives the same numbers, and is taken only where it may be."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

import ffnviz
from ffnviz.models.encoder import linear as module
from ffnviz.models.encoder.linear import SMALL, Linear, linear, onednn_is_quicker, take_onednn

TEXT = "The little girl opened the [MASK] and looked out at the cat."
HAS_ONEDNN = module._is_right()


@pytest.fixture(
    params=[
        False,
        pytest.param(
            True, marks=pytest.mark.skipif(not HAS_ONEDNN, reason="no oneDNN in this PyTorch")
        ),
    ]
)
def onednn(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = list(module._decided)
    take_onednn(request.param)
    yield request.param
    module._decided[:] = before


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes that oneDNN was asked for."""
    shapes: list[tuple[int, ...]] = []
    own = module._by_onednn

    def counted(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        shapes.append(tuple(x.shape))
        return own(x, weight, bias)

    monkeypatch.setattr(module, "_by_onednn", counted)
    return shapes


@pytest.mark.parametrize("shape", [(1, 512), (24, 512), (3, 5, 512), (512,)])
@pytest.mark.parametrize("bias", [True, False])
@torch.inference_mode()
def test_it_is_the_product_in_float64_up_to_rounding(
    onednn: bool, asked: list[tuple[int, ...]], shape: tuple[int, ...], bias: bool
) -> None:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(shape, generator=generator)
    layer = Linear(512, 300, bias)
    wanted = x.double() @ layer.weight.double().mT
    if layer.bias is not None:
        wanted = wanted + layer.bias.double()
    # n products and as many sums, each rounded (Higham 2002, section 3.1).
    sizes = x.double().abs() @ layer.weight.double().abs().mT + 1
    found = layer(x)
    assert found.shape == wanted.shape
    assert ((found - wanted).abs() <= 514 * 2.0**-24 * sizes).all()
    assert asked == ([shape] if onednn else [])


@pytest.mark.usefixtures("onednn")
def test_what_takes_gradients_stays_with_pytorch(asked: list[tuple[int, ...]]) -> None:
    layer = Linear(512, 300)
    other = nn.Linear(512, 300)
    other.load_state_dict(layer.state_dict())
    x = torch.randn(4, 512, generator=torch.Generator().manual_seed(1))
    for each in (layer, other):
        each(x).square().sum().backward()
    assert layer.weight.grad is not None
    assert other.weight.grad is not None
    assert torch.equal(layer.weight.grad, other.weight.grad)
    assert not asked


@pytest.mark.parametrize(
    ("x", "weight"),
    [
        (torch.ones(2, 512).double(), torch.ones(300, 512).double()),
        (torch.ones(2, 8), torch.ones(SMALL // 8 - 1, 8)),
        (torch.ones(0, 512), torch.ones(300, 512)),
    ],
    ids=["float64", "small", "no rows"],
)
@pytest.mark.usefixtures("onednn")
@torch.inference_mode()
def test_other_types_and_small_matrices_stay_with_pytorch(
    asked: list[tuple[int, ...]], x: Tensor, weight: Tensor
) -> None:
    assert torch.equal(linear(x, weight), nn.functional.linear(x, weight))
    assert not asked


@pytest.mark.usefixtures("onednn")
def test_stages_computed_again_are_those_of_the_pass_to_the_bit() -> None:
    model = ffnviz.load("relu")
    kept = model.trace(TEXT, hold=1)
    again = model.trace(TEXT)
    assert kept.blocks[1].ffn_stages.held is not None
    assert again.blocks[1].ffn_stages.held is None
    for name in ("pre_activation", "hidden", "output"):
        assert torch.equal(getattr(kept.blocks[1].ffn, name), getattr(again.blocks[1].ffn, name))
    assert torch.equal(again.blocks[1].middle + again.blocks[1].ffn.output, again.blocks[1].output)


def test_both_ways_agree_on_a_whole_pass() -> None:
    if not HAS_ONEDNN:
        pytest.skip("no oneDNN in this PyTorch")
    before, logits = list(module._decided), []
    for way in (False, True):
        take_onednn(way)
        logits.append(ffnviz.load("gelu").trace(TEXT).logits)
    module._decided[:] = before
    assert float((logits[0] - logits[1]).abs().max()) < 1e-4


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
    module._is_right.cache_clear()
    module._measured.cache_clear()


@pytest.mark.parametrize(("plain_s", "onednn_s", "taken"), [(1.0, 0.5, True), (1.0, 0.9, False)])
def test_it_is_taken_where_it_is_much_quicker(
    monkeypatch: pytest.MonkeyPatch, plain_s: float, onednn_s: float, taken: bool
) -> None:
    if not HAS_ONEDNN:
        pytest.skip("no oneDNN in this PyTorch")
    monkeypatch.setattr(module, "_decided", [])
    clock, took = [0.0], iter([plain_s, onednn_s] * module.REPEATS)
    started = [False]

    def now() -> float:
        started[0] = not started[0]
        if not started[0]:
            clock[0] += next(took)
        return clock[0]

    monkeypatch.setattr(module, "perf_counter", now)
    module._measured.cache_clear()
    assert onednn_is_quicker() is taken
    module._measured.cache_clear()
