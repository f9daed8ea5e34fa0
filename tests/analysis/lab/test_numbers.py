"""The Lab's numbers against independent ways to the same."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis import gradients as shares_module
from ffnviz.analysis.gradients import ROWS, input_slopes
from ffnviz.analysis.lab import fitting
from ffnviz.analysis.lab.bend_deleted import (
    WITHOUT_ATTENTION,
    WITHOUT_FFN,
    fold,
    passes_without,
    remove_phi,
)
from ffnviz.analysis.lab.experiment import Subject, Verdict
from ffnviz.analysis.lab.fitting import FUNCTIONS, KNOTS, POINTS, approximate, piecewise_linear
from ffnviz.analysis.lab.influence import LONGEST_MAP, input_influence
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_positions, try_sharing
from ffnviz.analysis.lab.residual import passes, try_dropout, try_residual
from ffnviz.analysis.lab.width import importance, try_width
from ffnviz.analysis.lab.zoo import NEAR, through_gate, visit_zoo
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.parts.lab.fit import SMOOTH, bound, by_adam, hand_errors, samples, units_through
from ffnviz.pictures.wording import counted
from tests.analysis.lab.broken import bits, subject


@pytest.fixture(scope="module")
def tried(model_folder: Path) -> Subject:
    return subject(model_folder)


def test_the_maps_of_positions_are_what_one_change_does(tried: Subject) -> None:
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


def test_what_is_left_without_ffns_or_attention_is_recomputed_by_hand(tried: Subject) -> None:
    found, encoder, ids = remove_phi(tried), tried.own, tried.trace.ids
    with torch.inference_mode():
        plain = encoder(ids).logits[tried.token].log_softmax(dim=-1)
        for name in (WITHOUT_FFN, WITHOUT_ATTENTION):
            x = encoder.embed(ids)
            for block in encoder.blocks:
                if name == WITHOUT_FFN:
                    x = x + block.attention(block.attention_norm(x)).output
                else:
                    x = x + block.ffn(block.ffn_norm(x)).output
            logits = F.linear(encoder.final_norm(x)[tried.token], encoder.token_embedding.weight)
            expected = F.kl_div(logits.log_softmax(dim=-1), plain, log_target=True, reduction="sum")
            assert found.divergences[name] == pytest.approx(float(expected), rel=1e-6)
            assert found.predictions[name].ids[0] == int(logits.argmax())
    ffn = tried.double.ffn
    product = (ffn.compress.weight @ ffn.expand.weight).detach().numpy()
    singular = np.linalg.svd(product, compute_uv=False)
    np.testing.assert_allclose(found.singular, singular, rtol=1e-9, atol=1e-12)
    # What was computed before for another token gives the same.
    folded = fold(tried.plain.ffn)
    passes, other = passes_without(tried, folded), replace(tried, token=tried.token - 1)
    assert bits(remove_phi(other, folded, passes)) == bits(remove_phi(other))


@pytest.mark.parametrize("factor", [-3.0, 0.5, 2.0])
def test_layer_norm_ignores_a_positive_factor(tried: Subject, factor: float) -> None:
    found = try_linearity(tried, factor)
    (norm,) = [each for each in found.tried if each.name == "LayerNorm"]
    # LN(a x) = sign(a) LN(x), up to the bias and ε: off by |sign(a) − a| / |a| of its length.
    expected = abs(math.copysign(1, factor) - factor) / abs(factor)
    assert norm.scaling == pytest.approx(expected, rel=1e-3)
    known = try_linearity(tried, 1.5).additivity  # computed before, for another factor
    assert bits(try_linearity(tried, factor, known)) == bits(found)


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


def test_straight_pieces_keep_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "STEPS", 8)  # the bound is of pieces, not of what is trained
    for n in (2, 8, 32):
        found = approximate(FUNCTIONS["chirp"], "relu", (n,))
        ends = np.linspace(-2, 2, n + 1)
        pieces = np.interp(found.x, ends, np.interp(ends, found.x, found.y))
        assert math.sqrt(((pieces - found.y) ** 2).mean()) <= found.bounds[0]
        assert np.abs(pieces - found.y).max() <= found.everywhere[0]
    knots = [0.0] * KNOTS
    knots[KNOTS // 2] = 1.0
    x = torch.linspace(-2, 2, 257, dtype=torch.float64)  # a drawing is straight between knots
    expected = (1 - x.abs() / (4 / (KNOTS - 1))).clamp_min(0)
    torch.testing.assert_close(piecewise_linear(knots)(x), expected)


def test_shares_heard_are_those_of_the_whole_jacobian(tried: Subject) -> None:
    found = {each.name: each for each in input_influence(tried, 6, 1).maps}
    block = tried.ours.encoder.blocks[1]
    x = tried.trace.blocks[1].input[:6].clone()
    norms = torch.func.jacrev(lambda v: block(v).output)(x).norm(dim=(1, 3))
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
    for depth in (1, 2, 4):
        found = {each.name: each for each in input_influence(tried, 12, depth).maps}
        assert found[counted(depth, "convolution")].receptive_field == min(12, 2 * depth + 1)
        assert found["convolution, width 3"].receptive_field == 3


def test_norms_and_cosines_are_numpys(tried: Subject) -> None:
    found = try_residual(tried, depth=2)
    block = tried.trace.blocks[1]
    x, y = block.input.numpy().astype(float), block.output.numpy().astype(float)
    written = np.linalg.norm(block.ffn.output.numpy().astype(float), axis=1)
    there = np.linalg.norm(block.middle.numpy().astype(float), axis=1)
    np.testing.assert_allclose(found.added["FFN 2"], written / there)
    cosine = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    np.testing.assert_allclose(found.cosines[1], cosine)
    assert [rows.shape for rows in found.gradients.values()] == [(10, 2), (10, 2)]


def test_curves_slopes_gates_and_gelus_minimum_are_what_they_are_by_hand(tried: Subject) -> None:
    found = visit_zoo(tried)
    at, least = found.minimum
    share = 0.5 * math.erfc(-at / math.sqrt(2))
    density = math.exp(-at * at / 2) / math.sqrt(2 * math.pi)
    assert share + at * density == pytest.approx(0, abs=1e-6)
    assert least == pytest.approx(at * share)
    assert (round(at, 4), round(least, 5)) == (-0.7518, -0.16997)
    plain = [name for name, phi in ACTIVATIONS.items() if not phi.gated]
    assert [curve.name for curve in found.curves] == plain
    for curve in found.curves:
        middle = (curve.value[2:] - curve.value[:-2]) / (found.x[2:] - found.x[:-2])
        away = np.abs(found.x[1:-1]) > 0.01  # ReLU has no slope at 0
        np.testing.assert_allclose(curve.slope[1:-1][away], middle[away], atol=1e-4)
    product = max(0.0, found.axis[60]) * found.axis[10]
    assert found.gated["reglu"][10, 60] == pytest.approx(product)
    findings = {each.claim: each for each in found.findings}
    related = findings["GELU fine-tunes relationships between tokens."]
    assert related.verdict is Verdict.FAILS
    assert related.check.value == 0
    z = tried.ffn_input @ tried.ffn.expand.weight.T + tried.ffn.expand.bias
    hidden = F.gelu(z)
    whole = hidden @ tried.ffn.compress.weight.T + tried.ffn.compress.bias
    below = (hidden * (z < 0)) @ tried.ffn.compress.weight.T
    expected = float((below.norm(dim=1) / whole.norm(dim=1)).mean())
    subtle = findings["GELU finds subtle patterns that ReLU misses."]
    assert subtle.check.value == pytest.approx(expected)


def test_cuts_are_the_network_with_fewer_neurons(tried: Subject) -> None:
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


def test_passes_scatter_as_much_as_theory_says(tried: Subject) -> None:
    p = 0.25
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


def test_a_probability_or_a_way_that_is_none_is_refused(tried: Subject) -> None:
    for p in (-0.1, 1.0, 2.0):
        with pytest.raises(ValueError, match="must be from 0"):
            try_dropout(tried, p)
    with pytest.raises(ValueError, match="none of change, delete, shuffle"):
        try_positions(tried, "paint")


def test_a_gated_ffn_is_pytorchs_glu(tried: Subject) -> None:
    first, other = (through_gate(each, "glu") for each in (tried, replace(tried, token=0)))
    assert not np.array_equal(other.gate, first.gate), "the token decides"
    value, gate = torch.from_numpy(first.value), torch.from_numpy(first.gate)
    expected = F.glu(torch.cat([value, gate]), dim=0)
    torch.testing.assert_close(torch.from_numpy(first.hidden), expected)
    for name in (name for name, each in ACTIVATIONS.items() if each.gated):
        found = through_gate(tried, name)
        np.testing.assert_array_equal(found.gate, first.gate)  # all have the same weights
        np.testing.assert_array_equal(found.value, first.value)
        below = float((found.gate < 0).mean())
        assert 0 < below < 1
        assert found.closed == (below if name == "reglu" else 0)
        assert found.turned == (below if name in ("geglu", "swiglu") else 0)
        assert found.near_zero == np.mean(np.abs(found.hidden) <= NEAR)


def test_pieces_give_the_same_and_can_stop(tried: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares_module, "ROWS", 10_000)
    whole = input_influence(tried, 7, 1)
    for rows in (1, 14):
        monkeypatch.setattr(shares_module, "ROWS", rows)
        pieces = input_influence(tried, 7, 1)
        for one, other in zip(whole.maps, pieces.maps, strict=True):
            np.testing.assert_allclose(other.share, one.share, atol=1e-6, err_msg=one.name)
            np.testing.assert_array_equal(other.share > 0, one.share > 0, err_msg=one.name)
        np.testing.assert_allclose(pieces.memory, whole.memory, atol=1e-6)
    told: list[float] = []

    def close_the_tab(share: float) -> None:
        told.append(share)
        raise ConnectionError("the tab was closed")

    with pytest.raises(ConnectionError):
        input_influence(tried, progress=close_the_tab)
    assert len(told) == 1
    assert told[0] < 0.1


def test_a_layer_never_gets_more_tokens_than_it_may_hold() -> None:
    seen: list[torch.Size] = []

    def layer(v: Tensor) -> Tensor:
        seen.append(v.shape)
        return 2 * v

    told: list[float] = []
    slopes = input_slopes(layer, torch.ones(LONGEST_MAP, 5), told.append)
    assert max(copies * n for copies, n, _ in seen) <= ROWS
    assert sum(copies for copies, _, _ in seen) == LONGEST_MAP
    np.testing.assert_array_equal(slopes > 0, np.eye(LONGEST_MAP, dtype=bool))
    assert len(told) > len(seen) > 1
    assert told == sorted(told)
    assert told[-1] == 1


def test_units_go_through_their_corners_and_straight_between() -> None:
    corners = [(-2.0, 0.5), (-1.0, -1.0), (0.25, 1.0), (2.0, 0.0)]
    units = units_through(corners)
    assert len(units.out) == 3
    x = np.linspace(-2, 2, 101)
    expected = np.interp(x, [a for a, _ in corners], [b for _, b in corners])
    np.testing.assert_allclose(units.at(x), expected, atol=1e-12)
    np.testing.assert_allclose(units.at(np.array([-3.0, 3.75])), [0.5, -1.0])
    found = hand_errors(torch.abs, units_through([(-2.0, 0.0), (2.0, 0.0)]))
    assert found.at == pytest.approx(math.sqrt(np.mean(samples() ** 2)))
    assert found.between == pytest.approx(math.sqrt(4 / 3), rel=0.01)
    assert found.outside == pytest.approx(math.sqrt(19 / 3), rel=0.01)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_line_through_the_function_is_within_the_bound(name: str) -> None:
    f, fine = FUNCTIONS[name], np.linspace(-2, 2, 4001)
    for n in (2, 5, 16):
        x = np.linspace(-2, 2, n + 1)
        line = units_through(list(zip(x, f(torch.from_numpy(x)).numpy(), strict=True)))
        off = np.abs(line.at(fine) - f(torch.from_numpy(fine)).numpy()).max()
        assert off <= bound(f, n) + 1e-7
        if name == "wave":
            assert bound(f, n) == pytest.approx(9 * (4 / n) ** 2 / 8, rel=1e-4)


def test_adam_meets_the_points_with_enough_units_and_knows_nothing_outside() -> None:
    few, many = (hand_errors(FUNCTIONS["wave"], by_adam(FUNCTIONS["wave"], n)) for n in (1, 12))
    assert many.at < 1e-3 < few.at
    assert many.between > 10 * many.at
    assert many.outside > many.between
