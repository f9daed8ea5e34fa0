"""Corruption by noise, against hooks written by hand that add the same draws."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.heads import head_map
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.causal.patch import Noise, patch_map
from ffnviz.models.edit import PLACES
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import SOURCE, network_of_kind, seen, setup_of
from tests.analysis.networks import Stranger, ours
from tests.models.external.by_hand import hooked, logits_of

FAMILIES = ["GPT-2", "GPT-NeoX", "Llama", "Granite", "Qwen3", "BERT", "Gemma 2"]
TOKENS, TOKEN, DRAWS = [1, 2], 4, 3


def drawn(network: ExternalNetwork) -> Tensor:
    """Three standard deviations of the words' vectors, (draws, tokens, d_model)."""
    sd = 3 * network.input_words.vectors.std()
    generator = torch.Generator().manual_seed(7)
    return sd * torch.randn(DRAWS, len(TOKENS), network.sizes.d_model, generator=generator)


def noisy(noise: Tensor) -> Callable[[Tensor], Tensor]:
    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, TOKENS] += noise
        return x

    return change


@pytest.mark.parametrize("family", FAMILIES)
def test_a_map_is_the_mean_of_runs_with_two_hooks(family: str) -> None:
    network, measure, ids = setup_of(family)
    noise = Noise(TOKENS, draws=DRAWS, seed=7)
    draws = drawn(network)
    corrupted = [
        float(measure(logits_of(hooked(family, 0, "input", noisy(each)), ids)[0, TOKEN]))
        for each in draws
    ]
    for at in PLACES:
        if at == "middle" and family == "GPT-NeoX":  # attention and FFN side by side
            with pytest.raises(NotForThisNetwork, match="side by side"):
                patch_map(network, SOURCE, noise, measure, at=at, token=TOKEN)
            continue
        found = patch_map(network, SOURCE, noise, measure, at=at, tokens=[2, 4], token=TOKEN)
        plain = float(measure(network.trace(SOURCE).logits[TOKEN]))
        assert found.source == pytest.approx(plain, abs=1e-6)
        assert found.target == pytest.approx(np.mean(corrupted), abs=5e-5)
        for block, (column, token) in [(0, (0, 2)), (1, (1, 4))]:
            clean = seen(family, ids, block, at)

            def restore(x: Tensor, token: int = token, clean: Tensor = clean) -> Tensor:
                x = x.clone()
                x[:, token] = clean[token]
                return x

            values = []
            for each in draws:
                model = hooked(family, 0, "input", noisy(each))
                logits = logits_of(hooked(family, block, at, restore, model), ids)
                values.append(float(measure(logits[0, TOKEN])))
            assert found.values[block, column] == pytest.approx(np.mean(values), abs=5e-5)
            error = np.std(values, ddof=1) / np.sqrt(DRAWS)
            assert found.error[block, column] == pytest.approx(error, abs=5e-5)


def test_all_restored_at_the_first_stream_is_the_text_itself(tokenizer: Tokenizer) -> None:
    for network in (ours(tokenizer, causal=True), Stranger(tokenizer)):
        measure, noise = logit_difference(network, 5, 9), Noise([-1], draws=2)
        found = patch_map(network, SOURCE, noise, measure, at="input", token=-1)
        assert_allclose(found.restored[0, -1], 1, atol=1e-4)  # the noise is taken away again
        assert_allclose(found.restored[0, :-1], 0, atol=1e-4)  # nothing was disturbed there
        assert abs(found.target - found.source) > 1e-3


def test_the_same_seed_draws_the_same_and_few_at_once_make_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = network_of_kind("GPT-2")
    measure = logit_difference(network, 5, 9)
    first = patch_map(network, SOURCE, Noise([1], draws=2), measure)
    other = patch_map(network, SOURCE, Noise([1], draws=2, seed=1), measure)
    assert abs(first.values - other.values).max() > 1e-4
    monkeypatch.setattr("ffnviz.analysis.causal.measure.AT_ONCE", 1)
    again = patch_map(network, SOURCE, Noise((1,), draws=2), measure)
    assert_allclose(again.values, first.values, atol=2e-5)


def test_more_noise_is_further_away_and_heads_restore_some_of_it() -> None:
    network = network_of_kind("Llama")
    measure = logit_difference(network, 5, 9)
    little, much = (head_map(network, SOURCE, Noise([3], sd, 4), measure) for sd in (1e-6, 1.0))
    assert abs(little.target - little.source) < 1e-3 < abs(much.target - much.source)
    assert_allclose(little.values, little.source, atol=1e-3)
    assert much.error.shape == much.values.shape == (2, 4)
    assert (much.error > 0).all()


def test_what_cannot_be_is_said() -> None:
    network = network_of_kind("GPT-2")
    measure = logit_difference(network, 5)
    for wrong, said in (
        ({"tokens": []}, "tokens is empty"),
        ({"tokens": 3}, "give whole numbers in a list"),
        ({"draws": 1}, "draws = 1: give a whole number, 2 or more"),
        ({"seed": -1}, "seed = -1"),
        ({"sd": 0.0}, "it must be above 0"),
        ({"sd": float("nan")}, "give one finite number"),
    ):
        given: dict[str, Any] = {"tokens": [1]} | dict(wrong)
        with pytest.raises(ValueError, match=said):
            Noise(**given)
    with pytest.raises(ValueError, match="no token 99"):
        patch_map(network, SOURCE, Noise([99]), measure)
