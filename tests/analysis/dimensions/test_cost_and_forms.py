"""What is counted from a shape, and the FFN in other forms, against torch.nn and its counter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ffnviz.analysis import cost
from ffnviz.analysis.cost import PRESETS
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.encoder.feed_forward import feed_forward
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.dimensions import forms
from ffnviz.parts.neurons.arithmetic import then_phi
from tests.analysis.networks import ours
from tests.run_factory import run_of

# BERT's 109,482,240 hold a pooler of 768² + 768 that is not counted.
PUBLISHED = {"gpt2": 124_439_808, "t5": 222_903_552, "t5v11": 247_577_856, "llama": 6_738_415_616}
PUBLISHED |= {"bert": 108_891_648}


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_parameters_are_those_of_released_weights_papers_and_twins() -> None:
    for name, published in PUBLISHED.items():
        assert sum(cost.parameters(PRESETS[name].shape).values()) == published, name
    for name, millions in (("base", 65), ("big", 213)):
        counted = sum(cost.parameters(PRESETS[name].shape).values()) / 1e6
        assert counted == pytest.approx(millions, rel=0.04)
    for preset in PRESETS.values():
        shape = preset.shape
        assert shape.d_model % shape.n_heads == 0
        assert 0 < cost.ffn_share(shape, shape.n_tokens) < 1
        assert preset.source
        assert ACTIVATIONS[preset.phi].gated is shape.gated
    encoder = load("relu").encoder
    found, sizes = cost.parameters(cost.Shape()), cost.memory(cost.Shape())
    assert sum(found.values()) == count(encoder)
    assert found["FFN"] == sum(count(block.ffn) for block in encoder.blocks)
    assert found["attention"] == sum(count(block.attention) for block in encoder.blocks)
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        assert sizes[str(kind).removeprefix("torch.")] == count(encoder) * kind.itemsize


SHAPES = st.builds(
    cost.Shape,
    d_model=st.sampled_from([16, 32, 48]),
    d_ff=st.integers(1, 100),
    n_heads=st.sampled_from([1, 2, 4]),
    n_tokens=st.integers(1, 40),
    vocab_size=st.integers(2, 50),
    gated=st.booleans(),
)


@settings(max_examples=25)
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


@given(shape=SHAPES)
def test_at_the_overtaking_length_both_do_the_same(shape: cost.Shape) -> None:
    length = cost.overtaking_length(shape)
    if length > 0:
        assert cost.ffn_share(shape, length) == pytest.approx(0.5)
        assert cost.ffn_share(shape, length * 1.1) < 0.5 < cost.ffn_share(shape, length * 0.9)
    else:
        assert cost.ffn_share(shape, 0) <= 0.5


TEXT = "The cat sat on it."
PLAIN = [name for name, each in ACTIVATIONS.items() if not each.gated]


@pytest.mark.parametrize(("phi", "bias"), [("relu", True), ("gelu", False)])
def test_every_way_gives_what_the_network_computed(
    tokenizer: Tokenizer, phi: str, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "RUNS", 2)
    run = run_of(ours(tokenizer, activation=phi, bias=bias), TEXT)
    n, shares = len(run.trace.tokens), list[float]()
    found = forms.forms(run, shares.append)
    assert found.keys() == {"rows", "columns", "numpy", "batch"}
    assert found["rows"].shapes == ((n, 16), (n, 32), (n, 16))
    assert found["columns"].shapes == ((16, n), (32, n), (16, n))
    assert found["batch"].shapes == ((32, 128, 16), (32, 128, 32), (32, 128, 16))
    for form in found.values():
        assert form.difference < 1e-4
        assert form.time.repeats == 2
    assert shares[-1] == 1


def test_a_difference_would_be_seen(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotForThisNetwork):
        forms.forms(run_of(ours(tokenizer, activation="geglu"), TEXT), lambda _: None)
    model = ours(tokenizer)
    monkeypatch.setattr(Activation, "in_numpy", lambda _, z: np.maximum(z, 0.01))
    assert forms.forms(run_of(model, TEXT), lambda _: None)["numpy"].difference > 1e-3


def test_phi_as_it_is_written_is_phi_as_it_is_run() -> None:
    z = np.linspace(-3, 3, 61)
    for phi in map(ACTIVATIONS.__getitem__, PLAIN):
        expected = phi.function(torch.from_numpy(z)).numpy()
        for values in (z, z.astype(np.float32)):
            np.testing.assert_allclose(phi.in_numpy(values), expected, atol=1e-6)
        again: dict[str, Any] = {"np": np, "z": z}  # “The arithmetic” computes h of z, too
        exec(then_phi(phi), again)
        np.testing.assert_allclose(again["h"], expected, atol=1e-12)
        names = {"torch": torch, "F": torch.nn.functional, "z": torch.from_numpy(z)}
        np.testing.assert_allclose(eval(phi.torch, names), expected, atol=1e-12)


@pytest.mark.parametrize("form", forms.CODE)
@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_code_on_the_page_runs(capsys: pytest.CaptureFixture[str], twin: str, form: str) -> None:
    written = forms.code(run_of(load(twin), 'It\'s a "cat" \\ [MASK].'), form)
    exec(compile(written, "page", "exec"), {})
    told = capsys.readouterr().out
    if form == "batch":
        assert "[32, 128, 512]" in told
        assert "[32, 128, 2048]" in told
    else:
        assert float(told.replace("tensor(", "").split(")")[0].split(",")[0]) < 5e-4
