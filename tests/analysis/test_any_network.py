"""Every analysis on networks of every kind: numbers as float64 has them, or a clear refusal."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

import ffnviz
from ffnviz.analysis.cost import parameters, shape_of
from ffnviz.analysis.journey import ORDERS, ffn_path, neuron_order
from ffnviz.analysis.lens import contributions, read_early
from ffnviz.analysis.measuring import timed_trace
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
from ffnviz.analysis.timing.stages import time_stages
from ffnviz.analysis.timing.throughput import throughput
from ffnviz.analysis.writing import Strategy, begin, distribution, logits_before, write_word
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.parts.dimensions.flow import against_sequential, position_wise
from ffnviz.parts.neurons.arithmetic import logit, output_component, pre_activation
from ffnviz.parts.neurons.compare import compare
from ffnviz.parts.neurons.name import probe_inputs, word_values
from ffnviz.parts.sparsity.activations import curve, landing, value_range
from ffnviz.parts.sparsity.awake import reached
from ffnviz.parts.sparsity.keep import concentration, kept_at, random_pass, strongest_pass
from tests.analysis.networks import SHAPES, STRANGERS, network, ours
from tests.models.external.families import FAMILIES, build
from tests.models.external.tokenizers import word_piece

TEXT = "The cat sat on it."
TOKEN, WORD, NEURON = 3, 77, 9
PROBES = [Probe("The cat sat on the mat.", ("cat",)), Probe("So they sat.", ())]


@pytest.fixture(scope="module", params=[*SHAPES, *STRANGERS])
def net(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Network:
    return network(request.param, tokenizer)


def f64(values: Tensor | np.ndarray) -> np.ndarray:
    array: np.ndarray = np.asarray(values, dtype=np.float64)
    return array


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def refused(analysis: Callable[[], object], why: str) -> None:
    with pytest.raises(NotForThisNetwork, match=why) as caught:
        analysis()
    assert str(caught.value).endswith(".")


def test_what_the_network_says(net: Network) -> None:
    trace = net.trace(TEXT)
    if not net.card.has_word_head:
        refused(lambda: predict(net, trace, TOKEN), "no word head")
        refused(lambda: predict_without_ffn(net, trace, 0, TOKEN), "no word head")
        return
    expected = softmax(f64(trace.logits[TOKEN]))
    told = predict(net, trace, TOKEN)
    assert told.ids.tolist() == np.argsort(-expected, kind="stable")[:10].tolist()
    assert_allclose(told.probabilities, np.sort(expected)[::-1][:10], rtol=1e-4)
    again = predict_with_ffn_output(net, trace, 0, trace.blocks[0].ffn.output, TOKEN)
    assert again.ids.tolist() == told.ids.tolist()
    silent = [Edit(0, range(net.sizes.d_ff), scale=0.0)]
    bias = net.ffn(0).output_bias
    if bias is None:  # a sleeping FFN then writes nothing at all
        asleep = softmax(f64(net.trace(TEXT, silent).logits[TOKEN]))
        without = predict_without_ffn(net, trace, 0, TOKEN)
        assert_allclose(without.probabilities, asleep[without.ids], rtol=1e-4)


def test_a_cut_distribution_of_any_size(net: Network) -> None:
    if not net.card.has_word_head:
        refused(lambda: net.trace(TEXT).logits_at(TOKEN), "no word head")
        return
    logits = net.trace(TEXT).logits_at(TOKEN).numpy()
    everything = distribution(logits, Strategy(top_k=0))
    assert everything.n_kept == net.sizes.vocab_size
    assert everything.cut.sum() == pytest.approx(1)
    assert_allclose(everything.softmax, softmax(f64(logits)), rtol=1e-9)
    assert distribution(logits, Strategy(top_k=8_192)).n_kept == min(8_192, len(logits))


def test_the_stream_read_early(net: Network) -> None:
    trace = net.trace(TEXT)
    if not net.card.has_word_head:
        refused(lambda: read_early(net, trace, TOKEN, WORD, 3), "no word head")
        return
    readings = read_early(net, trace, TOKEN, WORD, 3)
    assert len(readings) == 1 + 2 * net.sizes.n_blocks
    expected = softmax(f64(trace.logits[TOKEN]))
    assert readings[-1].probability == pytest.approx(expected[WORD], rel=1e-3)


def test_a_logit_taken_apart(net: Network) -> None:
    trace = net.trace(TEXT)
    card = net.card
    if not (card.has_word_head and card.pre_norm):
        why = "post-LN" if card.has_word_head else "no word head"
        refused(lambda: contributions(net, trace, TOKEN, WORD), why)
        refused(lambda: direct_contributions(net, trace, TOKEN, WORD), why)
        return
    found = contributions(net, trace, TOKEN, WORD)
    expected = float(f64(trace.logits)[TOKEN, WORD])
    assert found.logit == pytest.approx(expected, abs=1e-4)
    assert abs(found.residue) < 1e-4
    by_neuron = direct_contributions(net, trace, TOKEN, WORD)
    assert by_neuron.shape == (net.sizes.n_blocks, net.sizes.d_ff)
    for number in range(net.sizes.n_blocks):
        part = found.added[found.parts.index(f"FFN {number + 1}")]
        bias = net.ffn(number).output_bias
        if bias is None:
            assert f64(by_neuron[number]).sum() == pytest.approx(part, abs=1e-4)
    if isinstance(net, Model) and not net.encoder.config.bias:
        assert "LayerNorm's bias" not in found.parts


def test_what_a_change_changes(net: Network) -> None:
    trace, edited = net.trace(TEXT), net.trace(TEXT, [Edit(0, [NEURON], value=3.0)])
    if not net.card.has_word_head:
        refused(lambda: change(trace, edited, TOKEN), "no word head")
        return
    found = change(trace, edited, TOKEN)
    p, q = (softmax(f64(t.logits[TOKEN])) for t in (trace, edited))
    assert found.divergence == pytest.approx((p * np.log(p / q)).sum(), rel=1e-3, abs=1e-6)
    assert len(found.output) == net.sizes.n_blocks
    assert found.output[0] > 0


def test_what_wakes_a_neuron_and_what_it_writes(net: Network) -> None:
    view = net.ffn(0)
    words = f64(net.input_words.vectors)
    norm = view.word_norm
    assert norm is not None
    read = words - words.mean(1, keepdims=True) if norm.centred else words
    read = read / np.sqrt(np.square(read).mean(1, keepdims=True) + norm.eps) * f64(norm.gain)
    read = read if norm.bias is None else read + f64(norm.bias)
    scores = read @ f64(view.keys[NEURON])
    scores = scores if view.key_bias is None else scores + float(view.key_bias[NEURON])
    told = key_matches(net, 0, NEURON, 5)
    assert_allclose(told.scores, np.sort(scores)[::-1][:5], rtol=1e-3, atol=1e-4)
    assert_allclose(scores[told.ids], told.scores, rtol=1e-3, atol=1e-4)
    length = np.linalg.norm(f64(view.values), axis=1)
    own, shorter = value_norms(net, 0, NEURON)
    assert own == pytest.approx(length[NEURON], rel=1e-5)
    assert shorter == pytest.approx((length < length[NEURON]).mean(), abs=1e-4)
    for found, vectors in zip(similar(net, 0, NEURON, 4), (view.keys, view.values), strict=True):
        rows = f64(vectors) / np.linalg.norm(f64(vectors), axis=1, keepdims=True)
        assert_allclose(found.cosines, rows[found.neurons] @ rows[NEURON], atol=1e-5)
    if not net.card.has_word_head:
        refused(lambda: written_words(net, 0, NEURON), "no word head")
        return
    head = net.head
    assert head is not None
    assert head.words is not None
    value = f64(view.values[NEURON])
    if head.norm is not None:
        value = (value - value.mean() if head.norm.centred else value) * f64(head.norm.gain)
    along = f64(head.words.vectors) @ value
    promoted, suppressed = written_words(net, 0, NEURON, 3)
    assert_allclose(promoted.scores, np.sort(along)[::-1][:3], rtol=1e-3, atol=1e-4)
    assert_allclose(suppressed.scores, np.sort(along)[:3], rtol=1e-3, atol=1e-4)


def test_how_few_neurons_carry_it(net: Network) -> None:
    trace = net.trace(TEXT)
    shares = concentration(net, trace, 0)
    strength = np.abs(f64(trace.blocks[0].ffn.hidden)) * np.linalg.norm(
        f64(net.ffn(0).values), axis=1
    )
    ranked = -np.sort(-strength, axis=1)
    assert_allclose(shares, ranked.sum(0).cumsum() / ranked.sum(), rtol=1e-4)
    if not net.card.has_word_head:
        refused(lambda: strongest_pass(net, trace, 0, 3), "no word head")
        return
    whole = kept_at(net, strongest_pass(net, trace, 0, net.sizes.d_ff), TOKEN)
    assert whole.error == pytest.approx(0, abs=1e-5)
    hidden = f64(trace.blocks[0].ffn.hidden[TOKEN])
    hidden[np.argsort(-strength[TOKEN])[3:]] = 0
    bias = net.ffn(0).output_bias
    written = hidden @ f64(net.ffn(0).values) + (0 if bias is None else f64(bias))
    full = f64(trace.blocks[0].ffn.output[TOKEN])
    error = np.linalg.norm(written - full) / np.linalg.norm(full)
    assert float(strongest_pass(net, trace, 0, 3).errors[TOKEN]) == pytest.approx(error, rel=1e-3)
    assert random_pass(net, trace, 0, net.sizes.d_ff).errors.max() < 1e-5


def test_any_number_is_the_sum_that_it_is(net: Network) -> None:
    trace = net.trace(TEXT)
    assert abs(pre_activation(net, trace, 0, TOKEN, NEURON).residue) < 1e-4
    assert abs(output_component(net, trace, 0, TOKEN, 2).residue) < 1e-2
    biased = net.ffn(0).key_bias is not None
    assert (pre_activation(net, trace, 0, TOKEN, NEURON).bias != 0) == biased
    if net.card.has_word_head:
        assert abs(logit(net, trace, TOKEN, WORD).residue) < 1e-4
    else:
        refused(lambda: logit(net, trace, TOKEN, WORD), "no word head")


def test_what_a_trace_alone_tells(net: Network) -> None:
    trace = net.trace(TEXT)
    stages = trace.blocks[0].ffn
    hidden, before = f64(stages.hidden), f64(stages.pre_activation)
    edges = np.linspace(*value_range(trace, 0), 20)
    landed = landing(trace, 0, TOKEN, edges, 0.1)
    assert landed.shares.sum() == pytest.approx(1)
    assert landed.below_zero == pytest.approx((before < 0).mean(), abs=1e-6)
    assert (
        awake(trace, 0, 0.1).counts.tolist() == (np.abs(hidden) > np.float32(0.1)).sum(1).tolist()
    )
    assert threshold_for(net.card.phi) in (0.0, 0.1)
    open_ = before > 0 if net.card.gated else hidden > 0
    assert reached(trace, 0)[1].tolist() == np.flatnonzero(~open_.any(0)).tolist()
    shares = share_against_threshold(trace, 0, np.array([0.0, 0.5]))
    assert_allclose(shares, [(np.abs(hidden) > t).mean() for t in (0.0, 0.5)], atol=1e-6)
    assert_allclose(neuron_values(trace, 0, NEURON), hidden[:, NEURON])
    assert strongest_neuron(trace, 0, TOKEN) == int(np.abs(hidden[TOKEN]).argmax())
    assert_allclose(ffn_path(trace, 0, TOKEN).hidden, hidden[TOKEN])
    for by in ORDERS:
        assert sorted(neuron_order(hidden, by)) == list(range(net.sizes.d_ff))
    other = compare(trace, net.trace("The dog sat on it."), 0, k=3)
    assert_allclose(other.difference, other.second - other.first)
    assert curve(net.card.phi, -2, 2).value[120] == pytest.approx(0, abs=1e-6)


def test_the_same_ffn_for_each_token(net: Network) -> None:
    trace = net.trace(TEXT)
    if net.card.gated:
        refused(lambda: position_wise(net, trace, 0), "gated")
        refused(lambda: against_sequential(net, trace, 0), "gated")
        return
    found = position_wise(net, trace, 0)
    assert max(found.alone, found.batch, found.flattened) < 1e-3
    # Sums of d_ff products in two orders: rounding adds up as a random walk does.
    assert against_sequential(net, trace, 0) < 1e-4 * max(1, net.sizes.d_ff / 2_048) ** 0.5
    if isinstance(net, Model):
        assert found.n_parameters == sum(p.numel() for p in net.encoder.blocks[0].ffn.parameters())


def test_the_same_ffn_as_a_convolution(net: Network) -> None:
    trace = net.trace(TEXT)
    if not isinstance(net, Model):
        refused(lambda: as_convolution(net, trace, 0, 1), "own modules")  # type: ignore[arg-type]
    elif net.card.gated:
        refused(lambda: as_convolution(net, trace, 0, 1), "gated")
    else:
        found = as_convolution(net, trace, 0, repeats=1)
        assert found.difference <= 1e-4 * max(1, found.largest)


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


def test_guessing_masked_words(net: Network) -> None:
    if not net.card.has_mask:
        refused(lambda: masked_loss(net, PROBES), "fill in")
        return
    losses = masked_loss(net, PROBES)
    assert np.isfinite(losses).all()
    assert losses.mean() > 0


def test_writing_on(net: Network) -> None:
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
    one_word = write_word(net, writing, Strategy())
    assert_allclose(
        logits_before(net, one_word, 0), net.run(torch.tensor(ids)).logits[-1].numpy(), atol=1e-4
    )


def test_what_takes_how_long(net: Network) -> None:
    trace, total_ms, ffn_ms = timed_trace(net, TEXT)
    assert total_ms > 0
    assert ffn_ms > 0
    assert all(block.ffn_stages.held is None for block in trace.blocks)
    if not isinstance(net, Model):
        refused(lambda: time_stages(net, trace, 1), "own modules")  # type: ignore[arg-type]
        refused(lambda: throughput(net, trace, 0, 1), "own modules")  # type: ignore[arg-type]
        return
    names = time_stages(net, trace, repeats=1).times
    assert ("block 1 gate" in names) == net.card.gated
    assert ("final norm" in names) == net.card.pre_norm
    products = throughput(net, trace, 0, repeats=1).products
    assert len(products) == 6 + net.card.gated


def test_there_is_no_record_where_nobody_kept_one(net: Network) -> None:
    refused(lambda: record_of(net), "no record of its training")


@pytest.mark.parametrize("name", SHAPES)
def test_the_parameters_are_those_of_the_modules(name: str, tokenizer: Tokenizer) -> None:
    model = ours(tokenizer, **SHAPES[name])
    counted = sum(parameter.numel() for parameter in model.encoder.parameters())
    assert sum(parameters(shape_of(model.encoder.config)).values()) == counted


def test_one_text_where_several_are_wanted_is_refused_not_read_by_letters() -> None:
    model, text = ffnviz.load("relu"), "She opened the [MASK]."
    eye, zero = torch.eye(512), torch.zeros(512)
    sae = ffnviz.Sae(
        "a value an entry", 1, "ffn", "standard", w_enc=eye, w_dec=eye, b_dec=zero, b_enc=zero
    )
    cat = ffnviz.logit_difference(model, "mat", "cat")
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
    bert = ffnviz.from_module(build(FAMILIES["BERT"]), word_piece(), "BERT")  # reads no blanks
    for how in ("mean", "resample"):
        with pytest.raises(ValueError, match="no tokens but the tokenizer's own"):
            ffnviz.ablate(bert, "the cat", lambda logits: logits[..., 5], 1, how=how,
                          reference=[" "], token=0)  # fmt: skip
