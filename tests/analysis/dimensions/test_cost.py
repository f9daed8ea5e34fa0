"""What is counted from a shape, against real modules and PyTorch's own counter."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ffnviz.analysis import cost
from ffnviz.analysis.cost import PRESETS
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.feed_forward import feed_forward
from ffnviz.models.encoder.model import load

PUBLISHED = {
    "gpt2": 124_439_808,
    "t5": 222_903_552,
    "t5v11": 247_577_856,
    "llama": 6_738_415_616,
    "bert": 108_891_648,
}


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_preset_has_as_many_parameters_as_the_released_weights(name: str) -> None:
    # BERT's 109,482,240 hold a pooler of 768² + 768 that is not counted.
    assert sum(cost.parameters(PRESETS[name].shape).values()) == PUBLISHED[name]


@pytest.mark.parametrize(("name", "millions"), [("base", 65), ("big", 213)])
def test_the_original_transformers_are_near_the_papers_figures(name: str, millions: int) -> None:
    counted = sum(cost.parameters(PRESETS[name].shape).values()) / 1e6
    assert counted == pytest.approx(millions, rel=0.04)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_shown(name: str) -> None:
    shape = PRESETS[name].shape
    assert shape.d_model % shape.n_heads == 0
    assert 0 < cost.ffn_share(shape, shape.n_tokens) < 1
    assert PRESETS[name].source
    assert ACTIVATIONS[PRESETS[name].phi].gated is shape.gated


def test_the_twins_have_what_the_formula_says() -> None:
    encoder = load("relu").encoder
    found = cost.parameters(cost.Shape())
    assert sum(found.values()) == count(encoder)
    assert found["FFN"] == sum(count(block.ffn) for block in encoder.blocks)
    assert found["attention"] == sum(count(block.attention) for block in encoder.blocks)


SHAPES = st.builds(
    cost.Shape,
    d_model=st.sampled_from([16, 32, 48]),
    d_ff=st.integers(1, 100),
    n_heads=st.sampled_from([1, 2, 4]),
    n_tokens=st.integers(1, 40),
    vocab_size=st.integers(2, 50),
    gated=st.booleans(),
)


@given(shape=SHAPES)
def test_one_block_counts_like_torchs_own_layers(shape: cost.Shape) -> None:
    one = cost.Shape(**{**vars(shape), "n_blocks": 1})
    found = cost.parameters(one)
    assert found["attention"] == count(nn.MultiheadAttention(shape.d_model, shape.n_heads))
    ffn = feed_forward(shape.d_model, shape.d_ff, "swiglu" if shape.gated else "relu")
    assert found["FFN"] == count(ffn)
    assert found["LayerNorm"] == 3 * count(nn.LayerNorm(shape.d_model))
    if not shape.gated:
        layer = nn.TransformerEncoderLayer(shape.d_model, shape.n_heads, shape.d_ff)
        whole = found["attention"] + found["FFN"] + found["LayerNorm"]
        assert whole - 2 * shape.d_model == count(layer)


@given(shape=SHAPES)
def test_multiply_adds_are_half_of_what_the_flop_counter_counts(shape: cost.Shape) -> None:
    x = torch.zeros(shape.n_tokens, shape.d_model)
    ffn = feed_forward(shape.d_model, shape.d_ff, "swiglu" if shape.gated else "relu")
    attention = nn.MultiheadAttention(shape.d_model, shape.n_heads)
    output = nn.Linear(shape.d_model, shape.vocab_size)
    one = cost.multiply_adds(cost.Shape(**{**vars(shape), "n_blocks": 1}))
    runs: dict[str, Callable[[], object]] = {
        "FFN": lambda: ffn(x),
        "attention": lambda: attention(x, x, x, need_weights=True),
        "output": lambda: output(x),
    }
    for name, run in runs.items():
        with FlopCounterMode(display=False) as counter:
            run()
        assert one[name] == counter.get_total_flops() // 2, name


def test_the_figures_that_the_lecture_gives_are_right() -> None:
    shape = cost.Shape(n_blocks=1, n_tokens=1_024, extra_norms=0)
    found = cost.parameters(shape)
    block = found["FFN"] + found["attention"] + found["LayerNorm"]
    assert (found["FFN"], block) == (2_099_712, 3_152_384)
    work = cost.multiply_adds(shape)
    assert work["FFN"] == 2_097_152 * 1_024
    assert work["attention"] == (1_048_576 + 1_024 * 1_024) * 1_024
    assert cost.overtaking_length(shape) == 1_024
    assert cost.ffn_share(shape, 1_024) == 0.5


@given(shape=SHAPES)
def test_at_the_overtaking_length_both_do_the_same(shape: cost.Shape) -> None:
    length = cost.overtaking_length(shape)
    if length > 0:
        assert cost.ffn_share(shape, length) == pytest.approx(0.5)
        assert cost.ffn_share(shape, length * 1.1) < 0.5 < cost.ffn_share(shape, length * 0.9)
    else:
        assert cost.ffn_share(shape, 0) <= 0.5


def test_memory_is_parameters_times_bytes() -> None:
    sizes = cost.memory(cost.Shape())
    counted = sum(cost.parameters(cost.Shape()).values())
    for name, kind in (
        ("float32", torch.float32),
        ("float16", torch.float16),
        ("bfloat16", torch.bfloat16),
    ):
        assert sizes[name] == counted * torch.empty(0, dtype=kind).element_size()
