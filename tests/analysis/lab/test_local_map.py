"""The matrix that an FFN is at a token, against autograd's."""

import numpy as np
import pytest
import torch
from torch import Tensor

from ffnviz.analysis.lab.local_map import look_at, terms_of, way
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network
from tests.analysis.networks import network

KINDS = ("plain", "gated", "no biases", "post-LN", "stranger")


def ends(model: Network, text: str = "The cat sat on the mat.") -> tuple[Tensor, Tensor]:
    """What the FFN of block 1 gets at two tokens."""
    read = model.trace(text).blocks[0].ffn.input.double()
    return read[1].clone(), read[3].clone()


def autograd_jacobian(model: Network, x: Tensor) -> Tensor:
    """∂ FFN / ∂ x from the view's own weights, by reverse differentiation, (d_model, d_model)."""
    view = model.ffn(0)

    def ffn(v: Tensor) -> Tensor:
        def project(rows: Tensor, bias: Tensor | None) -> Tensor:
            along = rows.double() @ v
            return along if bias is None else along + bias.double()

        hidden = view.phi.function(project(view.keys, view.key_bias))
        if view.gated_value is not None:
            hidden = hidden * project(view.gated_value, view.gated_value_bias)
        return hidden @ view.values.double()

    made: Tensor = torch.autograd.functional.jacobian(ffn, x)  # type: ignore[no-untyped-call]
    return made.mT  # a row an input, as FFN(x + δ) ≈ FFN(x) + δ J has it


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_is_autograds_jacobian(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    start, end = ends(model)
    terms = terms_of(model.ffn(0))
    for share in (0.0, 0.3, 1.0):
        x = torch.lerp(start, end, share)
        torch.testing.assert_close(terms.jacobian(x), autograd_jacobian(model, x))
    expected = model.ffn(0).stages(start.float()[None]).output[0].double()
    torch.testing.assert_close(terms.output(start), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["plain", "gated", "no biases"])
def test_the_distances_are_those_of_whole_matrices(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    start, end = ends(model)
    found = way(terms_of(model.ffn(0)), start, end)
    first = autograd_jacobian(model, start)
    for at in (0, 13, 40):
        there = autograd_jacobian(model, torch.lerp(start, end, float(found.shares[at])))
        assert found.distance[at] == pytest.approx(float((there - first).norm() / first.norm()))


def test_relu_is_that_matrix_until_the_next_neuron_switches_and_gelu_is_not() -> None:
    straight, curved = (load(name) for name in ("relu", "gelu"))
    start, end = ends(straight)
    place = look_at(terms_of(straight.ffn(0)), start, end, 0.5)
    low, high = place.piece
    inside = (place.shares > low) & (place.shares < high)
    assert inside.any()
    assert place.off[inside].max() < 1e-13
    assert place.off[~inside].max() > 1e-6
    assert place.rank <= place.active
    start, end = ends(curved)
    place = look_at(terms_of(curved.ffn(0)), start, end, 0.5)
    away = np.abs(place.shares - 0.5) > 1e-4
    assert place.off[away].min() > 1e-11
    assert place.off[away].max() < 0.1


def test_relus_slopes_are_0_or_1_and_neurons_stand_in_the_order_in_which_they_switch() -> None:
    model = load("relu")
    found = way(terms_of(model.ffn(0)), *ends(model))
    assert set(np.unique(found.slopes)) == {0.0, 1.0}
    changes = np.abs(np.diff(found.slopes, axis=1))
    assert (changes.sum(axis=1) == 1).all(), "on a straight line none switches twice"
    places, off = changes.argmax(axis=1), found.slopes[:, 0] == 1
    assert (np.diff(off.astype(int)) <= 0).all(), "those that switch off come first"
    assert (np.diff(places[off]) >= 0).all()
    assert (np.diff(places[~off]) <= 0).all()
    assert found.switched >= len(found.neurons)
