"""Edits at every place of other people's blocks, against hooks written by hand."""

from collections.abc import Callable

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.models.edit import PLACES, Edit
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import NotForThisNetwork
from tests.models.external.by_hand import NAMES, hooked, logits_of
from tests.models.external.families import two_texts

IDS = two_texts().clone()
DRAWN = torch.randn(3, 4, generator=torch.Generator().manual_seed(5))
WHICH, TOKENS = [1, 7, 30, 2], [0, 5, 6]


def fixed(x: Tensor) -> Tensor:
    x = x.clone()
    x[:, torch.tensor(TOKENS)[:, None], torch.tensor(WHICH)] = DRAWN
    return x


def moved(x: Tensor) -> Tensor:
    x = x.clone()
    x[..., torch.tensor(WHICH)] += DRAWN[0]
    return x


def scaled(x: Tensor) -> Tensor:
    x = x.clone()
    x[:, 5] *= -0.5
    return x


CHANGES = {
    "fixed by token": (fixed, {"neurons": WHICH, "tokens": TOKENS, "value": DRAWN}),
    "moved": (moved, {"neurons": WHICH, "add": DRAWN[0]}),
    "scaled": (scaled, {"tokens": [5], "scale": -0.5}),
}


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("family", NAMES)
def test_an_edit_is_what_a_hook_by_hand_does(
    family: str, at: str, network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of(family)
    if at == "middle" and not NAMES[family].middle:  # attention and FFN side by side
        with pytest.raises(NotForThisNetwork, match="side by side"):
            network.run(IDS, [Edit(1, scale=0.0, at=at)])
        return
    for change, how in CHANGES.values():
        run = network.run(IDS, [Edit(1, at=at, **how)])  # type: ignore[arg-type]
        by_hand = logits_of(hooked(family, 1, at, change), IDS)
        if network.head is None:  # then it gives the stream behind its last norm
            made = network.model.encoder.final_layer_norm(run.final)  # type: ignore[union-attr,operator]
        else:
            made = run.logits
        assert_allclose(made, by_hand, atol=3e-5)
        plain = network.run(IDS)
        assert not torch.allclose(run.final, plain.final, atol=1e-4)


def test_what_a_trace_shows_is_what_was_edited(external_network: ExternalNetwork) -> None:
    """At each place: fixed values are found there, and streams before it are as they were."""
    network, d_model = external_network, external_network.sizes.d_model
    plain = network.run(IDS)
    values = torch.randn(8, d_model, generator=torch.Generator().manual_seed(6))
    for at in ("input", "middle", "output", "ffn"):
        if at == "middle" and network.proof.blocks[1].stream.kind == "parallel":
            continue
        run = network.run(IDS, [Edit(1, value=values, at=at)])
        block = run.blocks[1]
        found = block.ffn.output if at == "ffn" else getattr(block, at)
        assert_allclose(found, values.expand(2, 8, -1), atol=1e-5)
        assert torch.equal(run.blocks[0].output, plain.blocks[0].output)
        assert torch.equal(run.blocks[1].input, block.input)
        if at in ("output", "ffn"):
            assert torch.equal(block.middle, plain.blocks[1].middle)


def test_what_is_added_to_the_attention_comes_into_the_stream(
    external_network: ExternalNetwork,
) -> None:
    plain = external_network.run(IDS)
    direction = torch.arange(32.0)
    edits = [Edit(0, add=direction, tokens=[3], at="attention")]
    if external_network.proof.blocks[0].attention is None:
        with pytest.raises(NotForThisNetwork, match="no one module writes"):
            external_network.run(IDS, edits)
        return
    run = external_network.run(IDS, edits)
    if external_network.card.pre_norm:
        apart = run.blocks[0].middle - plain.blocks[0].middle
        assert_allclose(apart[:, 3], direction.expand(2, -1), atol=1e-5)
        assert not apart[:, :3].any()
    assert not torch.equal(run.blocks[0].middle[:, 3], plain.blocks[0].middle[:, 3])


def test_every_family_has_a_module_that_writes_what_attention_adds(
    external_network: ExternalNetwork,
) -> None:
    assert all(proved.attention is not None for proved in external_network.proof.blocks)
