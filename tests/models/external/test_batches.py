"""Many texts at once on other people's networks: each as it is alone, padded or not."""

from collections.abc import Callable

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.edit import Edit
from ffnviz.models.external.network import ExternalNetwork
from tests.models.external.by_hand import NAMES, hooked, logits_of

TEXTS = ["the cat sat on the mat", "she", "out of the door and on", "it sat"]
EDITS = [Edit(0, [3, 9], scale=0.0), Edit(1, add=torch.ones(32), tokens=[0], at="output")]


@pytest.mark.parametrize("edits", [[], EDITS], ids=["plain", "edited"])
def test_each_is_what_it_is_alone(external_network: ExternalNetwork, edits: list[Edit]) -> None:
    assert external_network._ignores_padding
    for text, trace in zip(TEXTS, external_network.traces(TEXTS, edits), strict=True):
        alone = external_network.trace(text, edits)
        assert trace.tokens == alone.tokens
        assert_allclose(trace.embedding, alone.embedding, atol=1e-5)
        assert_allclose(trace.final, alone.final, rtol=1e-4, atol=1e-4)
        for one, other in zip(trace.blocks, alone.blocks, strict=True):
            assert_allclose(one.middle, other.middle, atol=1e-4)
            assert_allclose(one.ffn.hidden, other.ffn.hidden, atol=1e-4)
            assert_allclose(one.ffn.output, other.ffn.output, atol=1e-4)
        if external_network.head is not None:
            assert_allclose(trace.logits, alone.logits, atol=1e-4)
        # What one block writes the next one reads: it is kept once.
        assert trace.blocks[1].input is trace.blocks[0].output


@pytest.mark.parametrize("family", sorted(set(NAMES) - {"T5's encoder"}))
def test_a_batch_is_the_padded_bare_forward(
    family: str, network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of(family)
    encodings = [network.tokenizer.encode(text) for text in TEXTS]
    n = max(len(each.ids) for each in encodings)
    ids = torch.tensor([each.ids + [0] * (n - len(each.ids)) for each in encodings])
    mask = torch.tensor([[1] * len(e.ids) + [0] * (n - len(e.ids)) for e in encodings])
    bare = logits_of(hooked(family, 0, "output", lambda x: x), ids, attention_mask=mask)
    for row, trace in enumerate(network.traces(TEXTS)):
        assert_allclose(trace.logits, bare[row, : len(trace.tokens)], atol=5e-5)


def test_one_that_does_not_leave_padding_out_reads_texts_of_one_length_together(
    network_of: Callable[[str], ExternalNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = network_of("BERT")
    monkeypatch.setitem(network.__dict__, "_ignores_padding", False)
    same = ["the cat sat", "the mat sat", *TEXTS]
    for text, trace in zip(same, network.traces(same), strict=True):
        assert_allclose(trace.final, network.trace(text).final, atol=1e-5)
    whole = network.model.forward
    monkeypatch.setattr(network.model, "forward", lambda input_ids: whole(input_ids=input_ids))
    monkeypatch.delitem(network.__dict__, "_ignores_padding")
    assert not network._ignores_padding  # its code takes no mask
    monkeypatch.setattr(network.model, "forward", lambda input_ids, **_: whole(input_ids=input_ids))
    monkeypatch.delitem(network.__dict__, "_ignores_padding")
    assert not network._ignores_padding  # its code takes one and passes over it
