"""An FFN at a token as a matrix, a frozen network, two directions: against autograd and by hand."""

import numpy as np
import pytest
import torch
from torch import Tensor

from ffnviz.analysis.gradients import vector_jacobian
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.local_map import look_at, terms_of, way
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network
from ffnviz.parts.lab.influence import PAIRS, Interaction, direction, interaction
from ffnviz.parts.lab.linear import AS_IT_IS, GATES, HELD, NO_PHI, Frozen, freeze
from tests.analysis.networks import network, ours

NETWORKS = ("plain", "gated", "no biases", "post-LN", "stranger")


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


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_matrix_is_autograds_jacobian(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    start, end = ends(model)
    terms = terms_of(model.ffn(0))
    first = autograd_jacobian(model, start)
    found = way(terms, start, end)
    torch.testing.assert_close(terms.jacobian(start), first)
    for at in (13, 40):
        x = torch.lerp(start, end, float(found.shares[at]))
        there = autograd_jacobian(model, x)
        torch.testing.assert_close(terms.jacobian(x), there)
        assert found.distance[at] == pytest.approx(float((there - first).norm() / first.norm()))
    assert found.distance[0] == 0
    expected = model.ffn(0).stages(start.float()[None]).output[0].double()
    torch.testing.assert_close(terms.output(start), expected, atol=1e-4, rtol=1e-4)


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
    found = way(terms_of(straight.ffn(0)), start, end)
    assert set(np.unique(found.slopes)) == {0.0, 1.0}
    changes = np.abs(np.diff(found.slopes, axis=1))
    assert (changes.sum(axis=1) == 1).all(), "on a straight line none switches twice"
    places, off = changes.argmax(axis=1), found.slopes[:, 0] == 1
    assert (np.diff(off.astype(int)) <= 0).all(), "those that switch off come first"
    assert (np.diff(places[off]) >= 0).all()
    assert (np.diff(places[~off]) <= 0).all()
    assert found.switched >= len(found.neurons)
    place = look_at(terms_of(curved.ffn(0)), *ends(curved), 0.5)
    away = np.abs(place.shares - 0.5) > 1e-4
    assert place.off[away].min() > 1e-11
    assert place.off[away].max() < 0.1


TOKEN = 2
KINDS: dict[str, dict[str, object]] = {
    "ReLU": {"activation": "relu"},
    "GELU": {"activation": "gelu"},
    "post-LN": {"norm": "post", "activation": "gelu"},
    "causal": {"causal": True},
    "no biases": {"bias": False},
}


def tried(tokenizer: Tokenizer, **changes: object) -> Subject:
    model = ours(tokenizer, **changes)
    return Subject(model, model.trace("The cat sat."), 0, TOKEN)


def frozen(subject: Subject, removed: bool = False) -> Frozen:
    first, last = freeze(subject, removed, lambda _: None)
    assert first.folded is None
    assert first.block == last.block
    return last


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_is_linear_once_all_three_are_held(tokenizer: Tokenizer, kind: str) -> None:
    subject = tried(tokenizer, **KINDS[kind])
    for removed in (False, True):
        found = frozen(subject, removed)
        for each in (found.block, found.stack):
            assert max(each[GATES].additivity, each[GATES].scaling) < 1e-12
            assert max(each[NO_PHI].additivity, each[NO_PHI].scaling) < 1e-12
            assert each[HELD].additivity > 1e-3, "φ is left"
            assert each[AS_IT_IS].scaling > 1e-3
        assert found.unchanged < 1e-12
        assert found.folded is not None
        assert found.folded.off < 1e-12


def by_hand(subject: Subject, removed: bool) -> Tensor:
    """‖M_j‖ of one pre-LN block, of its weights alone, (T,)."""
    block = subject.own.blocks[0]
    x = subject.trace.embedding.double()
    n, d = x.shape
    one = torch.eye(d, dtype=torch.float64)

    def norm(at: Tensor, gain: Tensor) -> Tensor:  # subtracting the mean is a matrix, too
        centred = one - 1 / d
        return centred * gain / (at.var(correction=0) + block.ffn_norm.eps).sqrt()

    record = block(x)
    weights = record.attention.weights  # (heads, T, T)
    value = block.attention.project_in.weight[2 * d :]  # (d, d)
    out = block.attention.project_out.weight
    size = d // len(weights)
    gates = torch.ones(block.ffn.expand.out_features).double()
    if not removed:
        gates = (record.ffn.hidden / record.ffn.pre_activation)[TOKEN]
    ffn = (block.ffn.expand.weight.mT * gates) @ block.ffn.compress.weight.mT
    after = one + norm(record.middle[TOKEN], block.ffn_norm.weight) @ ffn
    lengths = []
    for j in range(n):
        read = torch.zeros(d, d).double()
        for head, of_head in enumerate(weights):
            part = slice(head * size, (head + 1) * size)
            read += of_head[TOKEN, j] * value[part].mT @ out[:, part].mT
        matrix = norm(x[j], block.attention_norm.weight) @ read + (one if j == TOKEN else 0)
        lengths.append((matrix @ after).norm())
    return torch.stack(lengths)


@pytest.mark.parametrize("removed", [False, True])
def test_the_folded_matrix_is_the_weights_by_hand(tokenizer: Tokenizer, removed: bool) -> None:
    subject = tried(tokenizer, n_blocks=1, activation="gelu")
    with torch.no_grad():
        expected = by_hand(subject, removed)
    found = frozen(subject, removed).folded
    assert found is not None
    torch.testing.assert_close(torch.from_numpy(found.reads), expected)
    assert found.shape == (len(expected) * 16, 16)


def found_in(model: Model, step: float = 1.0) -> tuple[Interaction, Tensor, Tensor, Tensor]:
    x = model.trace("The cat sat on the mat.").blocks[0].ffn.input[2]
    u, v = (direction(model, 0, name) for name in list(PAIRS)[:2])
    return interaction(terms_of(model.ffn(0)), x, u, v, step), x, u, v


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_it_is_what_four_passes_of_the_ffn_give(name: str) -> None:
    model = load(name)
    found, x, u, v = found_in(model)
    ffn = model.encoder.blocks[0].ffn
    plain, one, other, both = ffn(torch.stack([x, x + u, x + v, x + u + v]).float()).output.double()
    expected = (both - one - other + plain).norm() / plain.norm()
    assert found.chosen == pytest.approx(float(expected), rel=1e-3)
    assert found.chosen > 0.001
    assert found.chosen_without < 1e-13
    assert found.without.max() < 1e-12
    if name == "relu":  # it is nothing until the first neuron switches
        before = found.steps < found.until
        assert before.any()
        assert found.with_phi[before].max() < 1e-13
        assert found.with_phi[found.steps > 10 * found.until].min() > 1e-6
        assert found.second.max() == 0
        return
    # It begins as the sum over second derivatives says.
    x, w1, w2 = x.double(), ffn.expand.weight.double(), ffn.compress.weight.double()
    z = w1 @ x + ffn.expand.bias.double()
    second = torch.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (2 - z**2)  # of z Φ(z)
    written = w2 @ (second * (w1 @ u) * (w1 @ v))
    size = (w2 @ torch.nn.functional.gelu(z) + ffn.compress.bias.double()).norm()
    sum_says = found.steps**2 * float(written.norm() / size)
    np.testing.assert_allclose(found.second, sum_says, rtol=1e-6)
    small = (found.steps > 1e-3) & (found.steps < 1e-2)
    np.testing.assert_allclose(found.with_phi[small], sum_says[small], rtol=0.05)


def test_a_gated_ffn_multiplies_even_without_phi(tokenizer: Tokenizer) -> None:
    found, *_ = found_in(ours(tokenizer, activation="geglu"))
    assert found.chosen_without > 1e-6


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
