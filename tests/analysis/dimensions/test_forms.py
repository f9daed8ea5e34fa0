"""Rows, columns, NumPy and a batch give what torch.nn gives; the code on the page runs."""

from typing import Any

import numpy as np
import pytest
import torch

from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.dimensions.forms import CODE, code, forms
from ffnviz.parts.neurons.arithmetic import then_phi
from tests.analysis.networks import network, ours
from tests.run_factory import run_of

TEXT = "The cat sat on it."
PLAIN = [name for name, each in ACTIVATIONS.items() if not each.gated]


@pytest.mark.parametrize("activation", PLAIN)
def test_every_way_gives_what_the_network_computed(tokenizer: Tokenizer, activation: str) -> None:
    model = ours(tokenizer, activation=activation)
    trace = model.trace(TEXT)
    shares: list[float] = []
    found = forms(model, trace, 1, 2, shares.append)
    n = len(trace.tokens)
    assert found["rows"].shapes == ((n, 16), (n, 32), (n, 16))
    assert found["columns"].shapes == ((16, n), (32, n), (16, n))
    assert found["batch"].shapes == ((32, 128, 16), (32, 128, 32), (32, 128, 16))
    assert found.keys() == {"rows", "columns", "numpy", "batch"}
    for form in found.values():
        assert form.difference < 1e-4
        assert form.time.repeats == 2
    assert shares[-1] == 1


def test_without_biases_too(tokenizer: Tokenizer) -> None:
    model = network("no biases", tokenizer)
    for form in forms(model, model.trace(TEXT), 0, 1).values():
        assert form.difference < 1e-4


def test_a_difference_would_be_seen(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ours(tokenizer)
    monkeypatch.setattr(Activation, "in_numpy", lambda _, z: np.maximum(z, 0.01))
    assert forms(model, model.trace(TEXT), 1, 1)["numpy"].difference > 1e-3


def test_a_gated_ffn_is_refused(tokenizer: Tokenizer) -> None:
    model = network("gated", tokenizer)
    with pytest.raises(NotForThisNetwork):
        forms(model, model.trace(TEXT), 1, 1)


@pytest.mark.parametrize("activation", PLAIN)
def test_phi_as_it_is_written_is_phi_as_it_is_run(activation: str) -> None:
    z = np.linspace(-3, 3, 61)
    phi = ACTIVATIONS[activation]
    expected = phi.function(torch.from_numpy(z)).numpy()
    for values in (z, z.astype(np.float32)):
        np.testing.assert_allclose(phi.in_numpy(values), expected, atol=1e-6)
    again: dict[str, Any] = {"np": np, "z": z}  # “The arithmetic” computes h of z, too
    exec(then_phi(phi), again)
    np.testing.assert_allclose(again["h"], expected, atol=1e-12)
    names = {"torch": torch, "F": torch.nn.functional, "z": torch.from_numpy(z)}
    np.testing.assert_allclose(eval(phi.torch, names), expected, atol=1e-12)


@pytest.mark.parametrize("form", CODE)
@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_code_on_the_page_runs(
    capsys: pytest.CaptureFixture[str], twin: str, form: str
) -> None:
    written = code(run_of(load(twin), 'It\'s a "cat" \\ [MASK].'), form)
    exec(compile(written, "page", "exec"), {})
    told = capsys.readouterr().out
    if form == "batch":
        assert "[32, 128, 512]" in told
        assert "[32, 128, 2048]" in told
    else:
        assert float(told.replace("tensor(", "").split(")")[0].split(",")[0]) < 5e-4
