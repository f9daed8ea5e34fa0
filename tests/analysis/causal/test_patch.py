"""Parts taken away and activations put in, with noise or of another text, against hooks by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.ablate import Ablation, ablate
from ffnviz.analysis.causal.heads import head_map
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.causal.patch import Noise, patch, patch_map
from ffnviz.models.edit import PLACES
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import (
    KINDS,
    REFERENCE,
    SOURCE,
    TARGET,
    by_hand,
    ids_of,
    network_of_kind,
    put,
    seen,
    setup_of,
)
from tests.analysis.networks import Stranger, ours
from tests.models.external.by_hand import Change

NEURONS = [3, 7, 20]


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("at", ["hidden", "ffn", "attention"])
def test_zero_and_mean_are_what_a_hook_does(family: str, at: str) -> None:
    network, measure, ids = setup_of(family)
    rows = torch.cat([seen(family, ids_of(network, text), 1, at) for text in REFERENCE])
    plain = by_hand(family, ids)[-1]
    for how, fill in (("zero", torch.zeros(3)), ("mean", rows.mean(0)[NEURONS])):
        found = ablate(network, SOURCE, measure, 1, NEURONS, at=at, tokens=[0, 2], how=how,
                       reference=REFERENCE)  # fmt: skip
        change = put(fill, torch.tensor([[0], [2]]), torch.tensor(NEURONS))
        logits = by_hand(family, ids, (1, at, change))[-1]
        assert found.plain == pytest.approx(float(plain[5] - plain[9]), abs=2e-5)
        assert found.ablated == pytest.approx(float(logits[5] - logits[9]), abs=2e-5)
        assert found.error == 0
        p, q = plain.double().log_softmax(-1), logits.double().log_softmax(-1)
        assert found.divergence == pytest.approx(float((p.exp() * (p - q)).sum()), abs=1e-5)


@pytest.mark.parametrize("family", ["GPT-2", "Llama"])
def test_drawn_values_are_the_references(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one reference token nothing is left to chance; with more, each draw is one of its."""
    network, measure, ids = setup_of(family)
    row = seen(family, ids_of(network, "a"), 1, "hidden")[0]
    one = ablate(network, SOURCE, measure, 1, how="resample", reference=["a"], draws=4)
    alone = measure(by_hand(family, ids, (1, "hidden", put(row)))[-1])
    assert_allclose(one.values, [float(alone)] * 4, atol=2e-5)
    assert one.error == pytest.approx(0, abs=1e-6)
    rows = torch.cat([seen(family, ids_of(network, text), 1, "hidden") for text in REFERENCE])
    last = len(ids[0]) - 1
    each = [float(measure(by_hand(family, ids, (1, "hidden", put(r, last)))[-1])) for r in rows]

    def drawn(draws: int) -> Ablation:
        return ablate(network, SOURCE, measure, 1, how="resample", tokens=[last],
                      reference=REFERENCE, draws=draws)  # fmt: skip

    found = drawn(200)
    values = found.values.numpy()
    assert np.abs(np.array(each)[:, None] - values).min(axis=0).max() < 2e-5
    assert found.error == pytest.approx(np.std(values, ddof=1) / np.sqrt(200))
    assert abs(found.ablated - np.mean(each)) < 5 * found.error
    together = drawn(20)
    monkeypatch.setattr("ffnviz.analysis.causal.measure.AT_ONCE", 1)  # one pass at a time
    assert_allclose(drawn(20).values, together.values, atol=2e-5)


def test_a_whole_ffn_ablated_is_the_network_without_it(tokenizer: Tokenizer) -> None:
    """On ours: its compression's weights and bias set to zero."""
    network, without = ours(tokenizer), ours(tokenizer)
    compress = without.encoder.blocks[1].ffn.compress
    compress.weight.zero_()
    compress.bias.zero_()
    text = "The cat sat on the [MASK]."
    found = ablate(network, text, logit_difference(network, 7), 1, at="ffn")
    place = network.trace(text).ids.tolist().index(tokenizer.mask_id)
    assert found.ablated == pytest.approx(float(without.trace(text).logits[place, 7]), abs=1e-4)
    stranger, headless = Stranger(tokenizer), Stranger(tokenizer, headless=True)
    measure = logit_difference(stranger, 3)
    assert ablate(stranger, "the cat", measure, 0, [1, 2]).effect != 0
    assert patch(stranger, "the man", "she man", 0, at="hidden").tokens
    with pytest.raises(NotForThisNetwork, match="no word head"):
        ablate(headless, "the cat", measure, 0)


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


@pytest.mark.parametrize("family", [*KINDS, "BERT"])  # of BERT's a norm reads what was added up
@pytest.mark.parametrize("at", PLACES)
def test_a_patch_is_what_two_hooks_do(family: str, at: str) -> None:
    network = network_of_kind(family)
    given, ids = seen(family, ids_of(network, SOURCE), 0, at), ids_of(network, TARGET)
    assert len(given) == ids.shape[1]
    if at == "middle" and family == "GPT-NeoX":  # attention and FFN side by side
        with pytest.raises(NotForThisNetwork, match="side by side"):
            patch(network, SOURCE, TARGET, 0, at=at)
        return
    trace = patch(network, SOURCE, TARGET, 0, [1, 2, 8], at=at, tokens=[3, 4], from_tokens=[4, 3])
    swapped = put(given[[4, 3]][:, [1, 2, 8]], torch.tensor([[3], [4]]), torch.tensor([1, 2, 8]))
    assert_allclose(trace.logits, by_hand(family, ids, (0, at, swapped)), atol=3e-5)
    whole = patch(network, SOURCE, TARGET, 0, at=at)
    assert_allclose(whole.logits, by_hand(family, ids, (0, at, put(given))), atol=3e-5)


def test_all_of_the_last_stream_makes_it_the_sources(tokenizer: Tokenizer) -> None:
    """On ours: closed forms at both ends."""
    network = ours(tokenizer, causal=True)
    source, target = "The man sat", "She man sat"
    assert len(network.trace(source).tokens) == len(network.trace(target).tokens)
    measure = logit_difference(network, 7, 8)
    found = patch_map(network, source, target, measure, token=-1)
    assert found.restored[1, -1] == pytest.approx(1, abs=1e-4)
    assert_allclose(found.restored[1, :-1], 0, atol=1e-4)  # behind the last block none is heard
    assert "".join(found.labels) == target
    same = patch_map(network, source, source, measure, token=-1)
    with pytest.raises(ValueError, match="the same for both texts"):
        _ = same.restored
    assert_allclose(same.values, same.target, atol=1e-5)


FAMILIES = ["GPT-2", "GPT-NeoX", "Llama", "Granite", "Qwen3", "BERT", "Gemma 2"]
TOKENS, TOKEN, DRAWS = [1, 2], 4, 3


def noises(network: ExternalNetwork) -> list[Change]:
    """Three standard deviations of the words' vectors, a change of the tokens for each draw."""
    sd = 3 * network.input_words.vectors.std()
    generator = torch.Generator().manual_seed(7)
    drawn = sd * torch.randn(DRAWS, len(TOKENS), network.sizes.d_model, generator=generator)

    def adding(noise: Tensor) -> Change:
        return lambda x: x.index_add(1, torch.tensor(TOKENS), noise.expand(len(x), -1, -1))

    return [adding(noise) for noise in drawn]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("noisy", [False, True])
def test_a_map_is_the_mean_of_runs_with_hooks(family: str, noisy: bool) -> None:
    network, measure, ids = setup_of(family)
    into: str | Noise = TARGET
    target, changes = ids_of(network, TARGET), [lambda x: x]
    if noisy:
        into, target, changes = Noise(TOKENS, draws=DRAWS, seed=7), ids, noises(network)

    def after(*more: tuple[int, str, Change]) -> list[float]:
        return [float(measure(by_hand(family, target, (0, "input", change), *more)[TOKEN]))
                for change in changes]  # fmt: skip

    corrupted, plain = np.mean(after()), float(measure(network.trace(SOURCE).logits[TOKEN]))
    for at in PLACES:
        if at == "middle" and family == "GPT-NeoX":  # attention and FFN side by side
            with pytest.raises(NotForThisNetwork, match="side by side"):
                patch_map(network, SOURCE, into, measure, at=at, token=TOKEN)
            continue
        found = patch_map(network, SOURCE, into, measure, at=at, tokens=[2, 4], token=TOKEN)
        assert found.source == pytest.approx(plain, abs=1e-6)
        assert found.target == pytest.approx(corrupted, abs=5e-5)
        for block, column, token in ((0, 0, 2), (1, 1, 4)):
            clean = seen(family, ids, block, at)
            values = after((block, at, put(clean[token], token)))
            assert found.values[block, column] == pytest.approx(np.mean(values), abs=5e-5)
            error = np.std(values, ddof=1) / np.sqrt(DRAWS) if noisy else 0
            assert found.error[block, column] == pytest.approx(error, abs=5e-5)


def test_all_restored_at_the_first_stream_is_the_text_itself(tokenizer: Tokenizer) -> None:
    for network in (ours(tokenizer, causal=True), Stranger(tokenizer)):
        measure, noise = logit_difference(network, 5, 9), Noise([-1], draws=2)
        found = patch_map(network, SOURCE, noise, measure, at="input", token=-1)
        assert_allclose(found.restored[0, -1], 1, atol=1e-4)  # the noise is taken away again
        assert_allclose(found.restored[0, :-1], 0, atol=1e-4)  # nothing was disturbed there
        assert abs(found.target - found.source) > 1e-3


def test_a_seed_draws_the_same_and_more_noise_is_further(monkeypatch: pytest.MonkeyPatch) -> None:
    network, measure, _ = setup_of("Llama")
    little, much = (head_map(network, SOURCE, Noise([3], sd, 4), measure) for sd in (1e-6, 1.0))
    assert abs(little.target - little.source) < 1e-3 < abs(much.target - much.source)
    assert_allclose(little.values, little.source, atol=1e-3)
    assert much.error.shape == much.values.shape == (2, 4)
    assert (much.error > 0).all()
    first, other = (
        patch_map(network, SOURCE, Noise([1], draws=2, seed=seed), measure) for seed in (0, 1)
    )
    assert abs(first.values - other.values).max() > 1e-4
    monkeypatch.setattr("ffnviz.analysis.causal.measure.AT_ONCE", 1)  # one pass at a time
    again = patch_map(network, SOURCE, Noise((1,), draws=2), measure)
    assert_allclose(again.values, first.values, atol=2e-5)


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
        ValueError, match=r"'the cat sat' is not a single token of this network, bu"
    ):
        logit_difference(network, "the cat sat")
    with pytest.raises(ValueError, match="no entry 300 in the vocabulary"):
        logit_difference(network, 1, 300)
    (the,), logits = tokenizer.encode("the").ids, torch.arange(300.0)
    assert logit_difference(network, "the")(logits) == the, "a word that is one token is its entry"


def test_no_patch_and_no_noise_that_cannot_be() -> None:
    network, measure, _ = setup_of("GPT-2")
    for source, given, said in (
        ("a cat", {}, "The source has 5 tokens and the target 10"),
        ("a cat", {"tokens": [7]}, "source has no token 7"),
        (SOURCE, {"tokens": [7], "from_tokens": [0, 1]},
         "2 tokens are taken from the source for 1 of the target"),
        (SOURCE, {"block": 2}, "There is no block 2"),
        (SOURCE, {"neurons": [32]}, "no component 32"),
    ):  # fmt: skip
        asked: dict[str, Any] = {"block": 0} | given
        with pytest.raises(ValueError, match=said):
            patch(network, source, TARGET, **asked)
    for wrong, said in (
        ({"tokens": []}, "tokens is empty"),
        ({"tokens": 3}, "give whole numbers in a list"),
        ({"draws": 1}, "draws = 1: give a whole number, 2 or more"),
        ({"seed": -1}, "seed = -1"),
        ({"sd": 0.0}, "it must be above 0"),
        ({"sd": float("nan")}, "give one finite number"),
    ):
        noise: dict[str, Any] = {"tokens": [1]} | dict(wrong)
        with pytest.raises(ValueError, match=said):
            Noise(**noise)
    with pytest.raises(ValueError, match="no token 99"):
        patch_map(network, SOURCE, Noise([99]), measure)
