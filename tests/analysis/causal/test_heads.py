"""Single heads: their terms of a logit, ablated and patched, against hooks written by hand."""

from pathlib import Path
from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.ablate import ablate
from ffnviz.analysis.causal.attribution import logit_attribution
from ffnviz.analysis.causal.heads import head_attribution, head_map
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.causal.patch import Noise, patch, patch_map
from ffnviz.analysis.features import sae_error
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.sae import Sae
from ffnviz.models.trace import Trace
from tests.analysis.causal.networks import (
    REFERENCE,
    SOURCE,
    TARGET,
    bare,
    by_hand,
    ids_of,
    module_of,
    network_of_kind,
    put,
    seen,
    setup_of,
)
from tests.analysis.causal.test_attribution import OURS, held, words_of
from tests.analysis.networks import ours
from tests.models.external.by_hand import NAMES

ADD_UP = ["GPT-2", "GPT-NeoX", "Llama", "Qwen3", "Granite"]  # neither post-LN nor sandwich
WITH_HEAD = [*ADD_UP, "BERT", "Gemma 2"]
N_HEADS, TOKEN = 4, -1


@pytest.mark.parametrize("family", ["ours", "stranger", *ADD_UP])
def test_each_term_is_w_o_times_its_part(family: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    network = OURS[family](tokenizer) if family in OURS else network_of_kind(family)
    measure, ones = logit_difference(network, 5, 9), torch.ones(network.sizes.d_model)
    weights, trace = words_of(network), network.trace(SOURCE)
    if family in ADD_UP:
        found = head_attribution(trace, measure, token=TOKEN)
        assert found.heads.shape == (2, N_HEADS)
        assert_allclose(found.edits, 0, atol=2e-4)
        for block in range(2):
            ids = ids_of(network_of_kind(family), SOURCE)
            z = seen(family, ids, block, "heads")[TOKEN].double()
            w_o = module_of(bare(family), family, block, NAMES[family].heads).weight.detach()
            w_o = w_o if family == "GPT-2" else w_o.mT  # GPT-2's Conv1D has it as (in, out)
            outputs = torch.unflatten(NAMES[family].r * w_o.double(), 0, (N_HEADS, -1))
            for head, part in enumerate(torch.unflatten(z, 0, (N_HEADS, -1))):
                told = held(network, trace, part @ outputs[head], TOKEN, weights)
                assert found.heads[block, head] == pytest.approx(told, abs=1e-4)
    # Those of an edited trace are of the edited pass.
    off = network.trace(SOURCE, Edit(1, heads=[1], scale=0.0, at="heads"))
    assert not off.blocks[1].attention.z[1].any()
    assert off.blocks[1].attention.z[0].any()
    assert head_attribution(off, measure, token=TOKEN).heads[1, 1] == 0
    for each in (trace, off):
        found = head_attribution(each, measure, token=TOKEN)
        whole = logit_attribution(each, measure, token=TOKEN)
        assert_allclose(found.attention, whole.attention, atol=2e-4)
        assert_allclose(found.edits, 0, atol=2e-4)
    off.save(tmp_path / "off")
    kept = Trace.load(tmp_path / "off")
    assert torch.equal(kept.blocks[1].attention.z, off.blocks[1].attention.z)
    moved = network.trace(SOURCE, Edit(0, add=ones, at="attention"))
    found = head_attribution(moved, measure, token=TOKEN)
    told = held(network, moved, ones, TOKEN, weights)
    assert found.edits[0] == pytest.approx(told, abs=2e-4)


@pytest.mark.parametrize("kind", OURS)
def test_the_heads_of_ours_sum_to_their_attention(kind: str, tokenizer: Tokenizer) -> None:
    network = OURS[kind](tokenizer)
    trace, measure = network.trace(SOURCE), logit_difference(network, 5, 9)
    found = head_attribution(trace, measure, token=TOKEN)
    for number, block in enumerate(trace.blocks):
        heads = network.heads(number).write(block.attention.z)
        bias = network.heads(number).output_bias
        summed = heads.sum(-3) + (0 if bias is None else bias)
        assert_allclose(summed.detach(), block.attention.output, atol=2e-5)
        for head in range(2):
            told = held(network, trace, heads[head, TOKEN], TOKEN, words_of(network))
            assert found.heads[number, head] == pytest.approx(told, abs=1e-4)
        own = 0.0 if bias is None else held(network, trace, bias, TOKEN, words_of(network))
        assert found.bias[number] == pytest.approx(own, abs=1e-4)
    whole = logit_attribution(trace, measure, token=TOKEN).attention
    assert_allclose(found.heads.sum(1) + found.bias, whole, atol=2e-4)


@pytest.mark.parametrize("family", WITH_HEAD)
def test_heads_are_ablated_as_a_hook_by_hand_does(family: str) -> None:
    network, measure, ids = setup_of(family)
    d_head = seen(family, ids, 1, "heads").shape[-1] // N_HEADS
    rows = []
    for text in REFERENCE:
        typed = [i for i, t in enumerate(network.trace(text).tokens) if not t.special]
        rows.append(seen(family, ids_of(network, text), 1, "heads")[typed])
    mean = torch.cat(rows).mean(0)
    for heads, how, fill in (([0, 3], "zero", 0 * mean), ([2], "mean", mean)):
        found = ablate(network, SOURCE, measure, 1, heads=heads, how=how, reference=REFERENCE,
                       token=TOKEN)  # fmt: skip
        places = [head * d_head + at for head in heads for at in range(d_head)]
        logits = by_hand(family, ids, (1, "heads", put(fill[places], slice(None), places)))[TOKEN]
        assert found.ablated == pytest.approx(float(measure(logits)), abs=3e-5)
        assert abs(found.effect) > 1e-4


@pytest.mark.parametrize("family", WITH_HEAD)
def test_a_map_of_heads_is_a_run_with_hooks_for_each(family: str) -> None:
    network, measure, _ = setup_of(family)
    ids = ids_of(network, TARGET)
    found = head_map(network, SOURCE, TARGET, measure, token=TOKEN)
    some = head_map(network, SOURCE, TARGET, measure, tokens=[0, -1], token=TOKEN)
    assert found.values.shape == (2, N_HEADS)
    for block in range(2):
        given = seen(family, ids_of(network, SOURCE), block, "heads")
        for head, part in enumerate(given.chunk(N_HEADS, dim=-1)):
            places = slice(head * part.shape[-1], (head + 1) * part.shape[-1])
            for tokens, told in ((slice(None), found), ([0, len(given) - 1], some)):
                change = put(part[tokens], tokens, places)
                logits = by_hand(family, ids, (block, "heads", change))[TOKEN]
                assert told.values[block, head] == pytest.approx(float(measure(logits)), abs=3e-5)
    assert not found.error.any()
    source = float(measure(network.trace(SOURCE).logits[TOKEN]))
    assert found.source == pytest.approx(source, abs=3e-5)
    assert found.restored.shape == (2, N_HEADS)


def test_one_head_is_patched_alone_and_token_by_token() -> None:
    network = network_of_kind("GPT-2")
    measure = logit_difference(network, 5, 9)
    one = patch(network, SOURCE, TARGET, 1, heads=[2])
    found = head_map(network, SOURCE, TARGET, measure)
    assert float(measure(one.logits_at(-1))) == pytest.approx(float(found.values[1, 2]), abs=1e-5)
    by_token = patch_map(network, SOURCE, TARGET, measure, at="heads", heads=[2])
    each = patch(network, SOURCE, TARGET, 1, heads=[2], tokens=[3])
    assert by_token.values[1, 3] == pytest.approx(float(measure(each.logits_at(-1))), abs=1e-5)
    every = patch_map(network, SOURCE, TARGET, measure, at="heads")
    assert abs(every.values - by_token.values).max() > 1e-5


def test_a_generator_names_as_many_as_a_list_does() -> None:
    """What is iterated more than once is made a tuple first: an empty one would change nothing."""
    network = network_of_kind("GPT-2")
    measure, which = logit_difference(network, 5, 9), [0, 2]

    def logits(**told: Any) -> Tensor:
        return patch(network, SOURCE, TARGET, 1, **told).logits

    plain = network.trace(TARGET).logits
    for told in ({"heads": which}, {"neurons": which, "at": "hidden"}, {"tokens": [4, 6]}):
        by_name = [{name: (each for each in value) if isinstance(value, list) else value
                    for name, value in told.items()}, told]  # fmt: skip
        assert torch.equal(*(logits(**each) for each in by_name))
        assert not torch.equal(logits(**told), plain)
    maps = [
        patch_map(network, SOURCE, Noise([1], draws=2), measure, at="heads", heads=heads)
        for heads in (which, iter(which))
    ]
    assert maps[0] == maps[1]
    effects = [ablate(network, SOURCE, measure, 0, heads=heads) for heads in (which, iter(which))]
    assert effects[0] == effects[1]
    eye, zero = torch.eye(network.sizes.d_model), torch.zeros(network.sizes.d_model)
    sae = Sae("a", 0, "output", "standard", w_enc=eye, w_dec=eye, b_dec=zero, b_enc=zero)
    errors = [sae_error(network, SOURCE, sae, tokens=tokens) for tokens in ([3], iter([3]))]
    assert errors[0].divergence == errors[1].divergence > 0
    assert errors[0].without == errors[1].without > 0


def test_what_is_not_seen_or_does_not_add_up_is_refused(tokenizer: Tokenizer) -> None:
    post = network_of_kind("BERT")
    with pytest.raises(NotForThisNetwork, match="cannot be split"):
        head_attribution(post.trace("the cat"), logit_difference(post, 5), token=0)
    post_ln = ours(tokenizer, norm="post")
    with pytest.raises(NotForThisNetwork, match="post-LN"):
        head_attribution(post_ln.trace("the cat"), logit_difference(post_ln, 5), token=0)
    network = OURS["ours"](tokenizer)
    measure = logit_difference(network, 5)
    with pytest.raises(ValueError, match="no head 2: heads are numbered from 0 to 1"):
        ablate(network, SOURCE, measure, 0, heads=[2], token=0)
    with pytest.raises(ValueError, match='heads = … needs at="heads"'):
        patch(network, SOURCE, SOURCE, 0, heads=[1], at="ffn")
    with pytest.raises(ValueError, match='heads = … needs at="heads"'):
        patch_map(network, SOURCE, SOURCE, measure, heads=[1], token=0)
    with pytest.raises(ValueError, match="no token 99"):
        head_map(network, SOURCE, SOURCE, measure, tokens=[99], token=0)
    assert head_map(network, SOURCE, SOURCE, measure, token=0).values.isfinite().all()
