"""Activations of one text in another's pass, against hooks written by hand."""

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.causal.patch import patch, patch_map
from ffnviz.models.edit import PLACES
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import (
    KINDS,
    SOURCE,
    TARGET,
    by_hand,
    ids_of,
    network_of_kind,
    seen,
)
from tests.analysis.networks import Stranger, ours


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("at", PLACES)
def test_a_patch_is_what_two_hooks_do(family: str, at: str) -> None:
    network = network_of_kind(family)
    given, ids = seen(family, ids_of(network, SOURCE), 0, at), ids_of(network, TARGET)
    assert len(given) == ids.shape[1]
    if at == "middle" and family == "GPT-NeoX":  # attention and FFN side by side
        with pytest.raises(NotForThisNetwork, match="side by side"):
            patch(network, SOURCE, TARGET, 0, at=at)
        return

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, torch.tensor([4, 5])[:, None], torch.tensor([1, 2, 8])] = given[[5, 4]][:, [1, 2, 8]]
        return x

    trace = patch(network, SOURCE, TARGET, 0, [1, 2, 8], at=at, tokens=[4, 5], from_tokens=[5, 4])
    assert_allclose(trace.logits, by_hand(family, ids, 0, at, change), atol=3e-5)
    whole = patch(network, SOURCE, TARGET, 0, at=at)
    told = by_hand(family, ids, 0, at, lambda x: given.expand_as(x))
    assert_allclose(whole.logits, told, atol=3e-5)


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("at", ["output", "ffn", "hidden"])
def test_a_map_is_a_run_with_hooks_for_every_block_and_token(family: str, at: str) -> None:
    network = network_of_kind(family)
    ids = ids_of(network, TARGET)
    measure = logit_difference(network, 5, 9)
    found = patch_map(network, SOURCE, TARGET, measure, at=at)
    assert found.values.shape == (2, ids.shape[1])
    for block in range(2):
        given = seen(family, ids_of(network, SOURCE), block, at)
        for token in range(ids.shape[1]):

            def change(x: Tensor, token: int = token, given: Tensor = given) -> Tensor:
                x = x.clone()
                x[:, token] = given[token]
                return x

            logits = by_hand(family, ids, block, at, change)[-1]
            assert found.values[block, token] == pytest.approx(
                float(logits[5] - logits[9]), abs=3e-5
            )
    assert "".join(found.labels) == TARGET
    one = patch_map(network, SOURCE, TARGET, measure, at=at, tokens=[5, 3])
    assert_allclose(one.values, found.values[:, [5, 3]], atol=2e-5)


def test_all_of_the_last_stream_makes_it_the_sources(tokenizer: Tokenizer) -> None:
    """On ours: closed forms at both ends."""
    network = ours(tokenizer, causal=True)
    source, target = "The man sat", "She man sat"
    assert len(network.trace(source).tokens) == len(network.trace(target).tokens)
    measure = logit_difference(network, 7, 8)
    found = patch_map(network, source, target, measure, token=-1)
    assert found.restored[1, -1] == pytest.approx(1, abs=1e-4)
    assert_allclose(found.restored[1, :-1], 0, atol=1e-4)  # behind the last block none is heard
    same = patch_map(network, source, source, measure, token=-1)
    with pytest.raises(ValueError, match="the same for both texts"):
        _ = same.restored
    assert_allclose(same.values, same.target, atol=1e-5)


def test_rows_are_made_as_many_at_once_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of_kind("GPT-2")
    measure = logit_difference(network, 5)
    together = patch_map(network, SOURCE, TARGET, measure)
    monkeypatch.setattr("ffnviz.analysis.causal.measure.AT_ONCE", 1)
    assert_allclose(patch_map(network, SOURCE, TARGET, measure).values, together.values, atol=2e-5)


def test_attention_of_a_post_ln_network_is_patched_where_it_is_recorded() -> None:
    network = network_of_kind("BERT")
    given = seen("BERT", ids_of(network, SOURCE), 1, "attention")
    ids, made = ids_of(network, TARGET), patch(network, SOURCE, TARGET, 1, at="attention")
    told = by_hand("BERT", ids, 1, "attention", lambda _: given.expand(1, -1, -1))
    assert_allclose(made.logits, told, atol=3e-5)
    assert abs(made.logits - network.trace(TARGET).logits).max() > 1e-3


def test_what_cannot_be_is_said(tokenizer: Tokenizer) -> None:
    network = network_of_kind("GPT-2")
    with pytest.raises(ValueError, match="The source has 5 tokens and the target 10"):
        patch(network, "a cat", TARGET, 0)
    with pytest.raises(ValueError, match="source has no token 7"):
        patch(network, "a cat", TARGET, 0, tokens=[7])
    with pytest.raises(ValueError, match="2 tokens are taken from the source for 1 of the target"):
        patch(network, SOURCE, TARGET, 0, tokens=[7], from_tokens=[0, 1])
    with pytest.raises(ValueError, match="There is no block 2"):
        patch(network, SOURCE, TARGET, 2)
    with pytest.raises(ValueError, match="no component 32"):
        patch(network, SOURCE, TARGET, 1, [32])
    stranger = Stranger(tokenizer)
    assert patch(stranger, "the man", "she man", 0, at="hidden").tokens


def test_where_the_sum_is_normalised_attentions_output_is_patched_too() -> None:
    network = network_of_kind("BERT")
    model, ids = network.model, [ids_of(network, text) for text in (SOURCE, TARGET)]
    writes = model.get_submodule("bert.encoder.layer.1.attention.output.dense")
    written: list[Tensor] = []

    def swap(_: object, __: object, output: Tensor) -> Tensor:
        written.append(output)
        return written[0]

    with writes.register_forward_hook(swap), torch.inference_mode():
        _, logits = (model(each).logits[0] for each in ids)
    unpatched = network.trace(TARGET).logits
    assert float((logits - unpatched).abs().max()) > 1e-2
    assert_allclose(patch(network, SOURCE, TARGET, 1, at="attention").logits, logits, atol=3e-5)
