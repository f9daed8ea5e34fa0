"""From neuron to neuron, against LayerNorm written out and a pass with a hook."""

import pytest
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.paths import neuron_paths
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import (
    KINDS,
    SOURCE,
    by_hand,
    ids_of,
    module_of,
    network_of_kind,
    seen,
)
from tests.analysis.networks import Stranger, ours
from tests.models.external.by_hand import hooked, logits_of

FIRST = {"GPT-2": "mlp.c_fc", "GPT-NeoX": "mlp.dense_h_to_4h", "Llama": "mlp.gate_proj",
         "Granite": "mlp.gate_proj"}  # fmt: skip
NORMS = {"GPT-2": "ln_2", "GPT-NeoX": "post_attention_layernorm",
         "Llama": "post_attention_layernorm", "Granite": "post_attention_layernorm"}  # fmt: skip
PLACE, NEURON = 3, 11


def pre_activation(family: str, ids: Tensor, without: bool) -> tuple[Tensor, Tensor]:
    """Block 1's pre-activations, (d_ff,), and the stream that its norm reads, by hooks."""

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, PLACE, NEURON] *= 0 if without else 1
        return x

    model, found = hooked(family, 0, "hidden", change), dict[str, Tensor]()
    module_of(model, family, 1, FIRST[family]).register_forward_hook(
        lambda _, __, told: found.update(pre=told[0, PLACE].clone())
    )
    module_of(model, family, 1, NORMS[family]).register_forward_pre_hook(
        lambda _, args: found.update(stream=args[0][0, PLACE].clone())
    )
    logits_of(model, ids)
    return found["pre"].double(), found["stream"].double()


@pytest.mark.parametrize("family", KINDS)
def test_direct_and_total_are_what_hooks_and_the_norm_written_out_give(family: str) -> None:
    network: ExternalNetwork = network_of_kind(family)
    ids, trace = ids_of(network, SOURCE), network.trace(SOURCE)
    found = neuron_paths(trace, 0, NEURON, 1, token=PLACE, k=4)
    (pre, stream), (bare, _) = (pre_activation(family, ids, each) for each in (False, True))
    assert_allclose(found.total, pre - bare, atol=2e-5)
    model = hooked(family, 0, "hidden", lambda x: x)
    norm, first = (module_of(model, family, 1, name) for name in (NORMS[family], FIRST[family]))
    hidden = seen(family, ids, 0, "hidden")[PLACE, NEURON].double()
    wrote = hidden * network.ffn(0).values[NEURON].double()
    if hasattr(norm, "bias"):
        part, x = wrote - wrote.mean(), stream - stream.mean()
        sigma = (x.square().mean() + norm.eps).sqrt()
    else:
        part, sigma = wrote, (stream.square().mean() + norm.variance_epsilon).sqrt()
    weight = first.weight.double()
    weight = weight if weight.shape[0] == len(pre) else weight.T
    assert_allclose(found.direct, weight @ (norm.weight.double() * part / sigma), atol=1e-5)
    assert_allclose(found.direct + found.rest, found.total)
    assert set(found.strongest.tolist()) == set(abs(found.direct).argsort()[-4:].tolist())
    assert by_hand(family, ids, 0, "hidden", lambda x: x).shape[0] == len(trace.tokens)


@pytest.mark.parametrize("family", KINDS)
def test_an_edited_trace_is_compared_with_a_pass_that_has_its_edits(family: str) -> None:
    network = network_of_kind(family)

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[..., 5] = 3.0
        return x

    trace = network.trace(SOURCE, [Edit(0, [5], value=3.0)])
    found = neuron_paths(trace, 0, NEURON, 1, token=PLACE)
    told: list[Tensor] = []
    for without in (False, True):

        def both(x: Tensor, without: bool = without) -> Tensor:
            x = change(x)
            x[:, PLACE, NEURON] *= 0 if without else 1
            return x

        model = hooked(family, 0, "hidden", both)
        module_of(model, family, 1, FIRST[family]).register_forward_hook(
            lambda _, __, out: told.append(out[0, PLACE].clone().double())
        )
        logits_of(model, ids_of(network, SOURCE))
    assert_allclose(found.total, told[0] - told[1], atol=1e-5)


def test_with_nothing_between_the_rest_is_the_norms_scale_alone(tokenizer: Tokenizer) -> None:
    """The later attention writes nothing, and the neuron next to nothing: a derivative."""
    network = ours(tokenizer)
    encoder = network.encoder
    encoder.blocks[1].attention.project_out.weight.zero_()
    encoder.blocks[0].ffn.compress.weight[:, 5] *= 1e-3
    trace = network.trace("The cat sat on the mat")
    found = neuron_paths(trace, 0, 5, 1, token=2)
    length = abs(found.total).max()
    middle = trace.blocks[1].middle[2].double()
    wrote = trace.blocks[0].ffn.hidden[2, 5].double() * network.ffn(0).values[5].double()
    norm = network.ffn(1).norm
    assert norm is not None
    keys = network.ffn(1).keys.double()
    apart = keys @ (norm.double()(middle) - norm.double()(middle - wrote))
    assert_allclose(found.total, apart, atol=2e-6)
    assert abs(found.rest).max() <= length


def test_what_cannot_be_is_said(tokenizer: Tokenizer) -> None:
    network = ours(tokenizer)
    trace = network.trace("The [MASK]")
    with pytest.raises(ValueError, match=r"Block 0 \(from 0\) does not come after block 0"):
        neuron_paths(trace, 0, 1, 0)
    with pytest.raises(ValueError, match="There is no block 2"):
        neuron_paths(trace, 0, 1, 2)
    with pytest.raises(ValueError, match="no neuron 32"):
        neuron_paths(trace, 0, 32, 1)
    with pytest.raises(NotForThisNetwork, match="post-LN"):
        neuron_paths(ours(tokenizer, norm="post").trace("[MASK]"), 0, 1, 1)
    stranger = Stranger(tokenizer).trace("the cat")
    assert neuron_paths(stranger, 0, 1, 2, token=-1).direct.isfinite().all()
