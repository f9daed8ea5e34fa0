"""Every analysis on networks of every kind: numbers as float64 has them, or a clear refusal."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

import ffnviz
from ffnviz.analysis.causal.attribution import logit_attribution
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.cost import parameters, shape_of
from ffnviz.analysis.journey import ffn_path
from ffnviz.analysis.lens import contributions, read_early
from ffnviz.analysis.measuring import timed_trace
from ffnviz.analysis.needs import word_head
from ffnviz.analysis.neurons.intervention import (
    change,
    direct_contributions,
    masked_loss,
    neuron_values,
    strongest_neuron,
)
from ffnviz.analysis.neurons.memory import key_matches, similar, value_norms, written_words
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.prediction import predict, predict_with_ffn_output, predict_without_ffn
from ffnviz.analysis.sparsity import awake, record_of, share_against_threshold, threshold_for
from ffnviz.analysis.timing.growth import as_convolution
from ffnviz.analysis.timing.stages import throughput, time_stages
from ffnviz.analysis.writing import Strategy, begin, distribution, logits_before, write_word
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import Trace
from ffnviz.parts.dimensions.flow import against_sequential, position_wise
from ffnviz.parts.neurons.arithmetic import logit, output_component, pre_activation
from ffnviz.parts.neurons.compare import compare
from ffnviz.parts.neurons.name import probe_inputs, word_values
from ffnviz.parts.sparsity.activations import curve, landing, value_range
from ffnviz.parts.sparsity.awake import reached
from ffnviz.parts.sparsity.keep import concentration, kept_at, random_pass, strongest_pass
from tests.analysis.networks import SHAPES, STRANGERS, network, ours

TEXT = "The cat sat on it."
TOKEN, WORD, NEURON = 3, 77, 9
PROBES = [Probe("The cat sat on the mat.", ("cat",)), Probe("So they sat.", ())]


@pytest.fixture(scope="module", params=[*SHAPES, *STRANGERS])
def net(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Network:
    if request.param == "many words":  # more than the 8,192 among which one may draw
        return ours(tokenizer, **{**SHAPES["many words"], "vocab_size": 9_001})
    return network(request.param, tokenizer)


@pytest.fixture(scope="module")
def trace(net: Network) -> Trace:
    return net.trace(TEXT)


@pytest.fixture
def block(net: Network) -> int:
    """The last one: in most networks not the first."""
    return net.sizes.n_blocks - 1


def f64(values: Tensor | np.ndarray) -> np.ndarray:
    array: np.ndarray = np.asarray(values, dtype=np.float64)
    return array


def refused(analysis: Callable[[], object], why: str) -> None:
    with pytest.raises(NotForThisNetwork, match=why) as caught:
        analysis()
    assert str(caught.value).endswith(".")


def test_what_the_network_says(net: Network, trace: Trace, block: int) -> None:
    if not net.card.has_word_head:
        refused(lambda: predict(net, trace, TOKEN), "no word head")
        refused(lambda: predict_without_ffn(net, trace, 0, TOKEN), "no word head")
        refused(lambda: trace.logits_at(TOKEN), "no word head")
        refused(lambda: read_early(net, trace, TOKEN, WORD, 3), "no word head")
        return
    expected = f64(trace.logits[TOKEN].double().softmax(-1))
    told = predict(net, trace, TOKEN)
    assert told.ids.tolist() == np.argsort(-expected, kind="stable")[:10].tolist()
    assert_allclose(told.probabilities, np.sort(expected)[::-1][:10], rtol=1e-4)
    assert told.words == tuple(net.tokenizer.label(int(each)) for each in told.ids)
    again = predict_with_ffn_output(net, trace, block, trace.blocks[block].ffn.output, TOKEN)
    assert again.ids.tolist() == told.ids.tolist()
    silent = net.trace(TEXT, Edit(block, scale=0.0, at="ffn"))
    without = predict_without_ffn(net, trace, block, TOKEN)
    asleep = silent.logits[TOKEN].double().softmax(-1)
    assert_allclose(without.probabilities, asleep[torch.tensor(without.ids)], rtol=1e-4)
    readings = read_early(net, trace, TOKEN, WORD, 3)
    assert len(readings) == 1 + 2 * net.sizes.n_blocks
    assert readings[-1].probability == pytest.approx(expected[WORD], rel=1e-3)
    logits = trace.logits_at(TOKEN).numpy()
    for top_k, kept in ((0, net.sizes.vocab_size), (8_192, min(8_192, net.sizes.vocab_size))):
        assert distribution(logits, Strategy(top_k=top_k)).n_kept == kept


def test_a_logit_and_other_numbers_taken_apart(net: Network, trace: Trace, block: int) -> None:
    found = pre_activation(net, trace, block, TOKEN, NEURON)
    assert abs(found.residue) < 1e-4
    assert (found.bias != 0) == (net.ffn(block).key_bias is not None)
    assert abs(output_component(net, trace, block, TOKEN, 2).residue) < 1e-2
    if not net.card.has_word_head:
        refused(lambda: logit(net, trace, TOKEN, WORD), "no word head")
    else:
        assert abs(logit(net, trace, TOKEN, WORD).residue) < 1e-4
    if not (net.card.has_word_head and net.card.pre_norm):
        why = "post-LN" if net.card.has_word_head else "no word head"
        refused(lambda: contributions(net, trace, TOKEN, WORD), why)
        refused(lambda: direct_contributions(net, trace, TOKEN, WORD), why)
        return
    parts = contributions(net, trace, TOKEN, WORD)
    assert parts.logit == pytest.approx(float(trace.logits[TOKEN, WORD]), abs=1e-4)
    assert parts.added.sum() == pytest.approx(parts.logit, abs=1e-4)
    by_neuron = direct_contributions(net, trace, TOKEN, WORD)
    assert by_neuron.shape == (net.sizes.n_blocks, net.sizes.d_ff)
    # Whose terms are those of float64: tests/analysis/causal/test_attribution.py.
    told = logit_attribution(trace, logit_difference(net, WORD), token=TOKEN)
    for number in range(net.sizes.n_blocks):
        part = parts.added[parts.parts.index(f"FFN {number + 1}")]
        assert part == pytest.approx(float(told.ffn[number]), abs=2e-4)
    if isinstance(net, Model) and not net.encoder.config.bias:
        assert "LayerNorm's bias" not in parts.parts


def test_what_wakes_a_neuron_and_what_it_writes(net: Network, block: int) -> None:
    view = net.ffn(block)
    words = f64(net.input_words.vectors)
    norm = view.word_norm
    assert norm is not None
    read = words - words.mean(1, keepdims=True) if norm.centred else words
    read = read / np.sqrt(np.square(read).mean(1, keepdims=True) + norm.eps) * f64(norm.gain)
    read = read if norm.bias is None else read + f64(norm.bias)
    scores = read @ f64(view.keys[NEURON])
    scores = scores if view.key_bias is None else scores + float(view.key_bias[NEURON])
    told = key_matches(net, block, NEURON, 5)
    assert_allclose(told.scores, np.sort(scores)[::-1][:5], rtol=1e-3, atol=1e-4)
    assert_allclose(scores[told.ids], told.scores, rtol=1e-3, atol=1e-4)
    length = np.linalg.norm(f64(view.values), axis=1)
    own, shorter = value_norms(net, block, NEURON)
    assert own == pytest.approx(length[NEURON], rel=1e-5)
    assert shorter == pytest.approx((length < length[NEURON]).mean(), abs=1e-4)
    for found, vectors in zip(
        similar(net, block, NEURON, 4), (view.keys, view.values), strict=True
    ):
        rows = f64(vectors) / np.linalg.norm(f64(vectors), axis=1, keepdims=True)
        cosines = rows @ rows[NEURON]
        cosines[NEURON] = -2
        assert_allclose(found.cosines, np.sort(cosines)[::-1][:4], atol=1e-5)
        assert_allclose(found.cosines, cosines[found.neurons], atol=1e-5)
    if not net.card.has_word_head:
        refused(lambda: written_words(net, block, NEURON), "no word head")
        return
    head, written = word_head(net)
    value = f64(view.values[NEURON])
    if head.norm is not None:
        value = (value - value.mean() if head.norm.centred else value) * f64(head.norm.gain)
    along = f64(written.vectors) @ value
    for told, sign in zip(written_words(net, block, NEURON, 3), (1, -1), strict=True):
        assert_allclose(told.scores, sign * np.sort(sign * along)[::-1][:3], rtol=1e-3, atol=1e-4)
        assert_allclose(told.scores, along[told.ids], rtol=1e-3, atol=1e-4)
        assert told.words == tuple(net.tokenizer.label(int(each)) for each in told.ids)


def test_how_few_neurons_carry_it(net: Network, trace: Trace, block: int) -> None:
    view, stages = net.ffn(block), trace.blocks[block].ffn
    strength = np.abs(f64(stages.hidden)) * np.linalg.norm(f64(view.values), axis=1)
    ranked = -np.sort(-strength, axis=1)
    shares = concentration(net, trace, block)
    assert_allclose(shares, ranked.sum(0).cumsum() / ranked.sum(), rtol=1e-4)
    if not net.card.has_word_head:
        refused(lambda: strongest_pass(net, trace, block, 3), "no word head")
        return
    for keep in (strongest_pass, random_pass):  # with all neurons kept nothing changes
        whole = kept_at(net, keep(net, trace, block, net.sizes.d_ff), TOKEN)
        assert whole.error == pytest.approx(0, abs=1e-5)
        assert whole.prediction.words == predict(net, trace, TOKEN).words


def test_what_a_trace_alone_tells(net: Network, trace: Trace, block: int) -> None:
    stages = trace.blocks[block].ffn
    hidden, before = f64(stages.hidden), f64(stages.pre_activation)
    edges = np.linspace(*value_range(trace, block), 20)
    landed = landing(trace, block, TOKEN, edges, 0.1)
    assert landed.shares.sum() == pytest.approx(1)
    in_bins = [((before >= a) & (before < b)).mean() for a, b in pairwise(edges)]
    assert_allclose(landed.shares, in_bins, atol=1e-6)
    assert landed.near_zero == pytest.approx((np.abs(hidden) <= np.float32(0.1)).mean(), abs=1e-6)
    assert landed.token_shares.sum() == pytest.approx(1)
    assert landed.below_zero == pytest.approx((before < 0).mean(), abs=1e-6)
    assert landed.exactly_zero == pytest.approx((hidden == 0).mean(), abs=1e-6)
    for threshold in (0.0, 0.1):
        far = np.abs(hidden) > np.float32(threshold)
        counted = awake(trace, block, threshold)
        assert counted.counts.tolist() == far.sum(1).tolist()
        assert_allclose(counted.shares, far.mean(1), atol=1e-6)
        assert counted.share == pytest.approx(far.mean(), abs=1e-6)
    assert threshold_for(net.card.phi) in (0.0, 0.1)
    open_ = before > 0 if net.card.gated else hidden > 0
    shares, never = reached(trace, block)
    assert_allclose(shares, [open_[:n].any(0).mean() for n in range(1, len(open_) + 1)], atol=1e-6)
    assert never.tolist() == np.flatnonzero(~open_.any(0)).tolist()
    shares = share_against_threshold(trace, block, np.array([0.0, 0.5]))
    assert_allclose(shares, [(np.abs(hidden) > t).mean() for t in (0.0, 0.5)], atol=1e-6)
    changed = change(trace, net.trace(TEXT, [Edit(0, [NEURON], value=3.0)]), TOKEN)
    assert changed.output[0] > 0
    assert_allclose(neuron_values(trace, block, NEURON), hidden[:, NEURON])
    assert strongest_neuron(trace, block, TOKEN) == int(np.abs(hidden[TOKEN]).argmax())
    path = ffn_path(trace, block, TOKEN)
    for name in ("input", "pre_activation", "hidden", "output"):
        assert_allclose(getattr(path, name), getattr(stages, name)[TOKEN])
    if net.card.pre_norm:
        assert_allclose(path.stream + path.output, path.new_stream)
    other = compare(trace, net.trace("The dog sat on it."), block, k=3)
    assert_allclose(other.difference, other.second - other.first)
    assert curve(net.card.phi, -2, 2).value[120] == pytest.approx(0, abs=1e-6)


def test_the_same_ffn_for_each_token_and_as_a_convolution(net: Network, trace: Trace) -> None:
    if net.card.gated:
        refused(lambda: position_wise(net, trace, 0), "gated")
        refused(lambda: against_sequential(net, trace, 0), "gated")
        why = "gated" if isinstance(net, Model) else "own modules"
        refused(lambda: as_convolution(net, trace, 0, 1), why)  # type: ignore[arg-type]
        return
    found = position_wise(net, trace, 0)
    assert max(found.alone, found.batch, found.flattened) < 1e-3
    # Sums of d_ff products in two orders: rounding adds up as a random walk does.
    assert against_sequential(net, trace, 0) < 1e-4 * max(1, net.sizes.d_ff / 2_048) ** 0.5
    assert isinstance(net, Model)
    assert found.n_parameters == sum(p.numel() for p in net.encoder.blocks[0].ffn.parameters())
    same = as_convolution(net, trace, 0, repeats=1)
    assert same.difference <= 1e-4 * max(1, same.largest)


def test_what_wakes_each_neuron_on_many_texts(net: Network) -> None:
    index = build_index(net, PROBES, ("cat",), "two sentences")
    traces = [net.trace(probe.text) for probe in PROBES]
    for number, block in enumerate(index.blocks):
        hidden = np.concatenate([f64(t.blocks[number].ffn.hidden) for t in traces])
        most, least = hidden.max(0), hidden.min(0)
        fires = block.fired_texts > 0
        assert fires.any()
        beyond = index.threshold
        assert (fires == ((most > beyond) | (least < -beyond))).all()
        assert_allclose(block.most, np.where(most > beyond, most, 0), rtol=1e-4, atol=1e-5)
        assert_allclose(block.least, np.where(least < -beyond, least, 0), rtol=1e-4, atol=1e-5)
    first = index.blocks[0]
    furthest = np.maximum(first.most, -first.least)
    neuron = int(furthest.argmax())
    sizes = word_values(net, probe_inputs(net, PROBES), 0, neuron)
    assert sizes.max() == pytest.approx(furthest[neuron], rel=1e-4)


def test_guessing_masked_words_and_writing_on(net: Network) -> None:
    if net.card.has_mask:
        losses = masked_loss(net, PROBES)
        assert np.isfinite(losses).all()
        assert losses.mean() > 0
    else:
        refused(lambda: masked_loss(net, PROBES), "fill in")
    if not net.card.has_word_head:
        refused(lambda: write_word(net, begin(net, TEXT), Strategy()), "no word head")
        return
    writing = begin(net, "The cat")
    ids = list(writing.ids)
    if net.card.has_mask:
        assert net.tokenizer.mask_id is not None
        ids.append(net.tokenizer.mask_id)
    else:
        refused(lambda: write_word(net, begin(net, ""), Strategy()), "Type one first")
    found = logits_before(net, write_word(net, writing, Strategy()), 0)
    assert_allclose(found, net.run(torch.tensor(ids)).logits[-1].numpy(), atol=1e-4)


def test_what_takes_how_long_and_how_much(net: Network, trace: Trace) -> None:
    refused(lambda: record_of(net), "no record of its training")
    timed, total_ms, ffn_ms = timed_trace(net, TEXT)
    assert total_ms > 0
    assert ffn_ms > 0
    assert all(block.ffn_stages.held is None for block in timed.blocks)
    torch.testing.assert_close(timed.final, trace.final)
    if not isinstance(net, Model):
        refused(lambda: time_stages(net, trace, 1), "own modules")  # type: ignore[arg-type]
        refused(lambda: throughput(net, trace, 0, 1), "own modules")  # type: ignore[arg-type]
        return
    stages = time_stages(net, trace, repeats=1)
    assert stages.total == pytest.approx(sum(spread.median for spread in stages.times.values()))
    assert ("block 1 gate" in stages.times) == net.card.gated
    assert ("final norm" in stages.times) == net.card.pre_norm
    products = throughput(net, trace, 0, repeats=1).products
    assert len(products) == 6 + net.card.gated
    counted = sum(parameter.numel() for parameter in net.encoder.parameters())
    assert sum(parameters(shape_of(net.encoder.config)).values()) == counted


def test_one_text_for_several_is_refused_not_read_by_letters(tokenizer: Tokenizer) -> None:
    model, text = ours(tokenizer), "She opened the [MASK]."
    eye, zero = torch.eye(16), torch.zeros(16)
    sae = ffnviz.Sae("values", 1, "ffn", "standard", w_enc=eye, w_dec=eye, b_dec=zero, b_enc=zero)
    cat = ffnviz.logit_difference(model, 5, 9)
    asked: dict[str, Callable[[Any], object]] = {
        "texts": lambda some: ffnviz.contrast(model, some, ["a", "b"], 0, token=-1),
        "others": lambda some: ffnviz.contrast(model, ["a", "b"], some, 0, token=-1),
        "reference": lambda some: ffnviz.ablate(model, text, cat, 1, how="mean", reference=some),
        "texts ": lambda some: ffnviz.sae_examples(model, sae, some),
    }
    for name, ask in asked.items():
        for wrong in ("A good dog.", b"A good dog.", 3):
            with pytest.raises(TypeError, match=f"{name.strip()} = .*give texts in a list"):
                ask(wrong)
        ask(iter(["A good dog.", "A bad [MASK]."]))
