"""Parts taken away, against the network with hooks written by hand."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.ablate import ablate
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import (
    KINDS,
    REFERENCE,
    SOURCE,
    by_hand,
    ids_of,
    network_of_kind,
    seen,
    setup_of,
)
from tests.analysis.networks import Stranger, ours

NEURONS, TOKENS = [3, 7, 20], [0, 2]


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("at", ["hidden", "ffn", "attention"])
def test_zero_and_mean_are_what_a_hook_does(family: str, at: str) -> None:
    network, measure, ids = setup_of(family)
    rows = torch.cat([seen(family, ids_of(network, text), 1, at) for text in REFERENCE])
    for how, fill in (("zero", torch.zeros(3)), ("mean", rows.mean(0)[NEURONS])):

        def change(x: Tensor, fill: Tensor = fill) -> Tensor:
            x = x.clone()
            x[:, torch.tensor(TOKENS)[:, None], torch.tensor(NEURONS)] = fill
            return x

        found = ablate(network, SOURCE, measure, 1, NEURONS, at=at, tokens=TOKENS, how=how,
                       reference=REFERENCE)  # fmt: skip
        logits = by_hand(family, ids, 1, at, change)[-1]
        plain = by_hand(family, ids, 1, at, lambda x: x)[-1]
        assert found.plain == pytest.approx(float(plain[5] - plain[9]), abs=2e-5)
        assert found.ablated == pytest.approx(float(logits[5] - logits[9]), abs=2e-5)
        assert found.error == 0
        p, q = plain.double().log_softmax(-1), logits.double().log_softmax(-1)
        assert found.divergence == pytest.approx(float((p.exp() * (p - q)).sum()), abs=1e-5)


@pytest.mark.parametrize("family", ["GPT-2", "Llama"])
def test_drawn_values_are_those_of_the_reference_and_the_error_is_of_their_mean(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one reference token nothing is left to chance; with more, each draw is one of its."""
    network = network_of_kind(family)
    measure, ids = logit_difference(network, 5), ids_of(network, SOURCE)
    row = seen(family, ids_of(network, "a"), 1, "hidden")[0]
    one = ablate(network, SOURCE, measure, 1, how="resample", reference=["a"], draws=4)
    alone = by_hand(family, ids, 1, "hidden", lambda x: row.expand_as(x))[-1, 5]
    assert_allclose(one.values, [float(alone)] * 4, atol=2e-5)
    assert one.error == pytest.approx(0, abs=1e-6)
    rows = torch.cat([seen(family, ids_of(network, text), 1, "hidden") for text in REFERENCE])
    last = len(ids[0]) - 1

    def put(x: Tensor, row: Tensor) -> Tensor:
        x = x.clone()
        x[:, last] = row
        return x

    each = [float(by_hand(family, ids, 1, "hidden", partial(put, row=r))[-1, 5]) for r in rows]
    drawn = ablate(network, SOURCE, measure, 1, how="resample", tokens=[last],
                   reference=REFERENCE, draws=300)  # fmt: skip
    values = drawn.values.numpy()
    assert np.abs(np.array(each)[:, None] - values).min(axis=0).max() < 2e-5
    assert drawn.error == pytest.approx(np.std(values, ddof=1) / np.sqrt(300))
    assert abs(drawn.ablated - np.mean(each)) < 5 * drawn.error
    monkeypatch.setattr("ffnviz.analysis.causal.measure.AT_ONCE", 1)  # one pass at a time
    again = ablate(network, SOURCE, measure, 1, how="resample", tokens=[last],
                   reference=REFERENCE, draws=300)  # fmt: skip
    assert_allclose(again.values, drawn.values, atol=2e-5)


def test_a_whole_ffn_ablated_is_the_network_without_it(tokenizer: Tokenizer) -> None:
    """On ours: its compression's weights and bias set to zero."""
    network, without = ours(tokenizer), ours(tokenizer)
    without.encoder.blocks[1].ffn.compress.weight.zero_()
    assert without.encoder.blocks[1].ffn.compress.bias is not None
    without.encoder.blocks[1].ffn.compress.bias.zero_()
    text = "The cat sat on the [MASK]."
    found = ablate(network, text, logit_difference(network, 7), 1, at="ffn")
    place = next(i for i, t in enumerate(network.trace(text).tokens)
                 if t.id == network.tokenizer.mask_id)  # fmt: skip
    assert found.ablated == pytest.approx(float(without.trace(text).logits[place, 7]), abs=1e-4)


def test_any_network_is_ablated(tokenizer: Tokenizer) -> None:
    stranger = Stranger(tokenizer)
    found = ablate(stranger, "the cat", logit_difference(stranger, 3), 0, [1, 2])
    assert found.effect != 0
    headless = Stranger(tokenizer, headless=True)
    with pytest.raises(NotForThisNetwork, match="no word head"):
        ablate(headless, "the cat", logit_difference(stranger, 3), 0)


@pytest.mark.parametrize("how", ["zero", "resample"])
def test_a_measure_that_mixes_rows_is_refused(how: str, tokenizer: Tokenizer) -> None:
    network, text = ours(tokenizer), "the [MASK] sat"
    own: dict[str, Any] = {"block": 0, "how": how, "reference": ["the cat"]}
    found = ablate(network, text, lambda logits: logits.log_softmax(-1)[..., 3], **own)
    logits = network.trace(text).logits_at(1)
    assert found.plain == pytest.approx(float(logits.log_softmax(0)[3]), abs=1e-5)
    with pytest.raises(ValueError, match=r"mixes rows.*dim=-1"):
        ablate(network, text, lambda logits: logits.log_softmax(0)[..., 3], **own)
    with pytest.raises(TypeError, match=r"from \(2, \d+\) this one makes \(\)"):
        ablate(network, text, lambda logits: logits.mean(), **own)
    with pytest.raises(TypeError, match="this one makes float"):
        ablate(network, text, lambda logits: float(logits[..., 3].sum()), **own)  # type: ignore[arg-type, return-value]


def test_where_it_is_measured_is_said_if_that_is_not_sure(tokenizer: Tokenizer) -> None:
    network, measure = ours(tokenizer), lambda logits: logits[..., 3]
    reads_on = network_of_kind("GPT-2")
    long = "the cat " * 100
    cut = r"has [\d,]+ tokens, and the network reads the first"
    for asked, text, message in (
        (network, "the cat sat", r"has no mask: it is measured at token \d, ' sat'"),
        (network, "the [MASK] sat [MASK]", "has 2 masks: it is measured at token 1"),
        (network, f"{long}[MASK]", cut),
        (reads_on, long, cut),
    ):
        with pytest.warns(UserWarning, match=message):
            ablate(asked, text, measure, 0)
        ablate(asked, text, measure, 0, token=0)
    ablate(reads_on, "the cat", measure, 0)
    ablate(network, f"the [MASK] {long}", measure, 0)


def test_what_cannot_be_is_said(tokenizer: Tokenizer) -> None:
    network = ours(tokenizer)
    measure = logit_difference(network, 3)
    for wrong, message in (
        ({"block": 2}, "There is no block 2"),
        ({"how": "random"}, "how = 'random' must be one of zero, mean, resample"),
        ({"how": "mean"}, "Give texts to take the mean of"),
        ({"how": "resample", "reference": ["a"], "draws": 1}, "draws = 1: give a whole number, 2"),
        ({"token": 99}, "There is no token 99"),
        ({"at": "stream"}, "at = 'stream' must be one of"),
        ({"neurons": [32]}, "no neuron 32"),
        ({"neurons": [32], "how": "mean", "reference": ["a"]}, "no neuron 32"),
    ):
        changed: dict[str, Any] = {"block": 0, "token": 0} | dict(wrong)
        with pytest.raises(ValueError, match=message):
            ablate(network, "the cat", measure, **changed)
    with pytest.raises(
        ValueError, match=r"'the cat sat' is not a single token of this network, but"
    ):
        logit_difference(network, "the cat sat")
    with pytest.raises(ValueError, match="no entry 300 in the vocabulary"):
        logit_difference(network, 1, 300)
