"""The Lab's numbers against independent ways to the same."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from ffnviz.analysis.lab.bend_deleted import (
    WITHOUT_ATTENTION,
    WITHOUT_FFN,
    fold,
    passes_without,
    remove_phi,
)
from ffnviz.analysis.lab.experiment import Verdict
from ffnviz.analysis.lab.fitting import FUNCTIONS, KNOTS, POINTS, approximate, piecewise_linear
from ffnviz.analysis.lab.influence import input_influence
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_positions, try_sharing
from ffnviz.analysis.lab.residual import passes, try_dropout, try_residual
from ffnviz.analysis.lab.width import importance, try_width
from ffnviz.analysis.lab.zoo import visit_zoo
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.pictures.wording import counted
from tests.analysis.lab.bits import bits
from tests.analysis.lab.broken import subject


def test_the_maps_of_positions_are_what_one_change_does(model_folder: Path) -> None:
    tried = subject(model_folder)
    found = try_positions(tried, "delete")
    x, attention = tried.attention_input, tried.double.attention
    with torch.inference_mode():
        before = attention(x).output
        after = attention(torch.cat([x[:2], x[3:]])).output
    moved = (after[4] - before[5]).norm() / before[5].norm()
    assert found.attention is not None
    assert found.attention[2, 5] == pytest.approx(float(moved))
    assert np.isnan(found.attention[2, 2])
    assert np.count_nonzero(np.isnan(found.ffn)) == len(x)


def test_a_word_that_stands_twice_is_compared_with_itself(model_folder: Path) -> None:
    tried = subject(model_folder, text="the cat the dog the")
    found = try_sharing(tried)
    rows = tried.trace.blocks[1].ffn.input.double()
    first, *others = found.places
    assert not found.alone
    assert first == tried.token
    for place, distance in zip(others, found.inputs, strict=True):
        expected = np.linalg.norm(rows[place] - rows[first]) / np.linalg.norm(rows[first])
        assert distance == pytest.approx(float(expected))


def test_what_is_left_without_ffns_or_attention_is_recomputed_by_hand(model_folder: Path) -> None:
    tried = subject(model_folder)
    found = remove_phi(tried)
    encoder = tried.own
    with torch.inference_mode():
        plain = encoder(tried.trace.ids).logits[tried.token].log_softmax(dim=-1)
        for name in (WITHOUT_FFN, WITHOUT_ATTENTION):
            x = encoder.embed(tried.trace.ids)
            for block in encoder.blocks:
                if name == WITHOUT_FFN:
                    x = x + block.attention(block.attention_norm(x)).output
                else:
                    x = x + block.ffn(block.ffn_norm(x)).output
            logits = F.linear(encoder.final_norm(x)[tried.token], encoder.token_embedding.weight)
            expected = F.kl_div(logits.log_softmax(dim=-1), plain, log_target=True, reduction="sum")
            assert found.divergences[name] == pytest.approx(float(expected), rel=1e-6)
            assert found.predictions[name].ids[0] == int(logits.argmax())


def test_the_folded_matrix_has_numpys_singular_values(model_folder: Path) -> None:
    tried = subject(model_folder)
    ffn = tried.double.ffn
    product = (ffn.compress.weight @ ffn.expand.weight).detach().numpy()
    expected = np.linalg.svd(product, compute_uv=False)
    np.testing.assert_allclose(remove_phi(tried).singular, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("factor", [-3.0, 0.5, 2.0])
def test_layer_norm_ignores_a_positive_factor(model_folder: Path, factor: float) -> None:
    tried = {each.name: each for each in try_linearity(subject(model_folder), factor).tried}
    # LN(a x) = sign(a) LN(x), up to the bias and ε: off by |sign(a) − a| / |a| of its length.
    expected = abs(math.copysign(1, factor) - factor) / abs(factor)
    assert tried["LayerNorm"].scaling == pytest.approx(expected, rel=1e-3)


def test_what_was_computed_before_for_another_factor_or_token_gives_the_same(
    model_folder: Path,
) -> None:
    first = subject(model_folder)
    known = try_linearity(first, 2.0).additivity
    assert bits(try_linearity(first, -3.0, known)) == bits(try_linearity(first, -3.0))
    folded = fold(first.plain.ffn)
    passes, other = passes_without(first, folded), replace(first, token=first.token - 1)
    assert bits(remove_phi(other, 8, folded, passes)) == bits(remove_phi(other))


def test_a_fit_is_the_network_it_says() -> None:
    found = approximate(FUNCTIONS["bump"], "gelu", (3, 16))
    for fit in found.fits:
        hidden = F.gelu(torch.from_numpy(np.outer(found.x, fit.weight) + fit.bias)).numpy()
        np.testing.assert_allclose(hidden @ fit.out + fit.offset, fit.fitted, atol=1e-8)
        assert fit.error == pytest.approx(math.sqrt(((fit.fitted - found.y) ** 2).mean()), abs=1e-9)
        assert fit.largest == pytest.approx(np.abs(fit.fitted - found.y).max(), abs=1e-9)
    fitted_at = np.linspace(-2, 2, POINTS)
    assert np.abs(found.x[:, None] - fitted_at).min() == pytest.approx(2 / (POINTS - 1))
    slope, height = np.polyfit(found.x, found.y, 1)
    line = np.sqrt(((slope * found.x + height - found.y) ** 2).mean())
    assert found.line == pytest.approx(line, rel=1e-6)


@pytest.mark.parametrize("n", [2, 8, 32])
def test_straight_pieces_keep_the_bound(n: int) -> None:
    found = approximate(FUNCTIONS["chirp"], "relu", (n,))
    knots = np.linspace(-2, 2, n + 1)
    pieces = np.interp(found.x, knots, np.interp(knots, found.x, found.y))
    assert math.sqrt(((pieces - found.y) ** 2).mean()) <= found.bounds[0]
    assert np.abs(pieces - found.y).max() <= found.everywhere[0]


def test_a_drawing_is_straight_between_its_knots() -> None:
    knots = [0.0] * KNOTS
    knots[KNOTS // 2] = 1.0
    x = torch.linspace(-2, 2, 257, dtype=torch.float64)
    expected = (1 - x.abs() / (4 / (KNOTS - 1))).clamp_min(0)
    torch.testing.assert_close(piecewise_linear(knots)(x), expected)


def test_shares_heard_are_those_of_the_whole_jacobian(model_folder: Path) -> None:
    tried = subject(model_folder)
    found = {each.name: each for each in input_influence(tried, 6, 1).maps}
    block = tried.ours.encoder.blocks[1]
    x = tried.trace.blocks[1].input[:6].clone()
    jacobian = torch.func.jacrev(lambda v: block(v).output)(x)
    norms = jacobian.norm(dim=(1, 3))
    exact = (norms / norms.sum(dim=1, keepdim=True)).numpy()
    shares = found["encoder block"].share
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    # Three random directions estimate each norm; all 36 together are close.
    assert np.corrcoef(shares.ravel(), exact.ravel())[0, 1] > 0.9
    assert found["RNN"].steps == 6
    assert found["FFN"].receptive_field == 1
    assert found["causal attention"].receptive_field == 6
    by_distance = found["FFN"].by_distance
    np.testing.assert_allclose(by_distance[1:], 0, atol=1e-12)
    assert by_distance[0] > 0
    # The slope itself is that of the Jacobian, whole and not as a share.
    np.testing.assert_allclose(found["encoder block"].slope.mean(), norms.mean(), rtol=0.25)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_convolutions_reach_as_far_as_they_are_deep(model_folder: Path, depth: int) -> None:
    found = {each.name: each for each in input_influence(subject(model_folder), 12, depth).maps}
    assert found[counted(depth, "convolution")].receptive_field == min(12, 2 * depth + 1)
    assert found["convolution, width 3"].receptive_field == 3


def test_norms_and_cosines_are_numpys(model_folder: Path) -> None:
    tried = subject(model_folder)
    found = try_residual(tried, depth=2)
    block = tried.trace.blocks[1]
    x, y = block.input.numpy().astype(float), block.output.numpy().astype(float)
    written = np.linalg.norm(block.ffn.output.numpy().astype(float), axis=1)
    there = np.linalg.norm(block.middle.numpy().astype(float), axis=1)
    np.testing.assert_allclose(found.added["FFN 2"], written / there)
    cosine = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    np.testing.assert_allclose(found.cosines[1], cosine)
    assert [rows.shape for rows in found.gradients.values()] == [(10, 2), (10, 2)]


def test_gelus_minimum_is_where_its_slope_is_zero(model_folder: Path) -> None:
    found = visit_zoo(subject(model_folder))
    at, least = found.minimum
    share = 0.5 * math.erfc(-at / math.sqrt(2))
    density = math.exp(-at * at / 2) / math.sqrt(2 * math.pi)
    assert share + at * density == pytest.approx(0, abs=1e-6)
    assert least == pytest.approx(at * share)
    assert (round(at, 4), round(least, 5)) == (-0.7518, -0.16997)


def test_slopes_are_the_differences_of_their_curves(model_folder: Path) -> None:
    found = visit_zoo(subject(model_folder))
    plain = [name for name, phi in ACTIVATIONS.items() if not phi.gated]
    assert [curve.name for curve in found.curves] == plain
    for curve in found.curves:
        middle = (curve.value[2:] - curve.value[:-2]) / (found.x[2:] - found.x[:-2])
        away = np.abs(found.x[1:-1]) > 0.01  # ReLU has no slope at 0
        np.testing.assert_allclose(curve.slope[1:-1][away], middle[away], atol=1e-4)


def test_a_gate_is_the_product_of_its_sides(model_folder: Path) -> None:
    found = visit_zoo(subject(model_folder))
    g, v = found.axis[60], found.axis[10]
    assert found.gated["reglu"][10, 60] == pytest.approx(max(0.0, g) * v)


def test_cuts_are_the_network_with_fewer_neurons(model_folder: Path) -> None:
    tried = subject(model_folder)
    found = try_width(tried, (1.0, 0.5, 0.1))
    assert found.important[0].divergence == pytest.approx(0, abs=1e-9)
    n = found.important[1].d_ff
    order = importance(tried)
    block = tried.trace.blocks[0]
    weight = tried.ours.encoder.blocks[0].ffn.compress.weight.detach().numpy()
    written = np.abs(block.ffn.hidden.numpy()).sum(axis=0) * np.linalg.norm(weight, axis=0)
    np.testing.assert_array_equal(order[0].numpy(), np.argsort(-written, kind="stable"))
    small = FeedForward(tried.ours.encoder.config.d_model, n, "relu")
    assert found.parameters[1] == sum(parameter.numel() for parameter in small.parameters())
    assert found.multiply_adds[1] == small.expand.weight.numel() + small.compress.weight.numel()


def test_passes_scatter_as_much_as_theory_says(model_folder: Path) -> None:
    tried, p = subject(model_folder), 0.25
    found = try_dropout(tried, p)
    record = tried.trace.blocks[1].ffn
    weight = tried.ours.encoder.blocks[1].ffn.compress.weight
    # Var Σ m h w / (1 − p) = p / (1 − p) Σ (h w)².
    terms = (record.hidden[tried.token] * weight).double().square().sum(dim=1)
    expected = (terms * p / (1 - p)).sqrt().detach().numpy()[found.components]
    np.testing.assert_allclose(found.outputs.std(axis=0), expected, rtol=0.25)
    off = np.linalg.norm(found.plain - record.output[tried.token].numpy()[found.components])
    assert off == pytest.approx(0)


def test_passes_and_what_is_linear_in_them_are_right_on_average(model_folder: Path) -> None:
    def silence(encoder: Encoder) -> None:  # most neurons: all masks of the others are tried
        encoder.blocks[1].ffn.expand.bias.data[10:] = -100

    tried, p = subject(model_folder, silence), 0.25
    found = passes(tried, p)
    record, encoder = tried.trace.blocks[1], tried.ours.encoder
    hidden = record.ffn.hidden[tried.token]
    awake = hidden.nonzero()[:, 0]
    assert 2 <= len(awake) <= 10
    kept = torch.tensor(list(product((1.0, 0.0), repeat=len(awake))))  # every mask
    dropped = torch.zeros(len(kept), len(hidden))
    dropped[:, awake] = kept * hidden[awake] / (1 - p)
    middle, block = record.middle[tried.token], encoder.blocks[1]
    with torch.no_grad():
        output = block.ffn.compress(dropped)[:, None]
        stream = block.add_ffn(middle.expand(len(kept), 1, -1), output)
        logits = encoder.unembed(encoder.final_norm(stream[:, 0])).double()
    likeliest = int(tried.trace.logits[tried.token].argmax())
    share = (kept.double() * (1 - p) + (1 - kept.double()) * p).prod(dim=1)
    true = float(share @ logits.softmax(dim=1)[:, likeliest])
    without = found.probabilities - found.linear
    for drawn, at in ((found.probabilities, true), (found.linear, 0.0), (without, true)):
        assert float(drawn.mean()) == pytest.approx(at, abs=4 * float(drawn.std()) / 20)
    assert float(without.std()) < 0.5 * float(found.probabilities.std())


@pytest.mark.parametrize("p", [-0.1, 1.0, 2.0])
def test_a_probability_that_is_none_is_refused(model_folder: Path, p: float) -> None:
    with pytest.raises(ValueError, match="must be from 0"):
        try_dropout(subject(model_folder), p)


def test_a_way_that_is_none_is_refused(model_folder: Path) -> None:
    with pytest.raises(ValueError, match="none of change, delete, shuffle"):
        try_positions(subject(model_folder), "paint")


def test_gelu_relates_no_tokens_and_lets_a_little_through_below_zero(model_folder: Path) -> None:
    tried = subject(model_folder)
    findings = {each.claim: each for each in visit_zoo(tried).findings}
    related = findings["GELU fine-tunes relationships between tokens."]
    assert related.verdict is Verdict.FAILS
    assert related.check.value == 0
    subtle = findings["GELU finds subtle patterns that ReLU misses."]
    z = tried.ffn_input @ tried.ffn.expand.weight.T + tried.ffn.expand.bias
    hidden = torch.nn.functional.gelu(z)
    whole = hidden @ tried.ffn.compress.weight.T + tried.ffn.compress.bias
    below = (hidden * (z < 0)) @ tried.ffn.compress.weight.T
    expected = float((below.norm(dim=1) / whole.norm(dim=1)).mean())
    assert subtle.check.value == pytest.approx(expected)
