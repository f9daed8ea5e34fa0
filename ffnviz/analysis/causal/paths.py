"""What a neuron does, through the residual stream, to the neurons of a later block."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from ffnviz.analysis.causal.measure import in_whole, judged_at
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.arguments import at_least, at_most, place_of
from ffnviz.models.edit import Edit
from ffnviz.models.external.compare import TOLERANCE, error
from ffnviz.models.network import Network, NotForThisNetwork, network_of
from ffnviz.models.trace import BlockStages, Trace
from ffnviz.models.views import FfnView, Norm

NEEDS = (Capability.PRE_NORM,)


@dataclass(frozen=True, eq=False)
class NeuronPaths(Comparable):
    """What one neuron does to the pre-activations of a later block's neurons, at one token.

    Attributes:
        direct: through the stream alone, the later norm's scale held as it was, (d_ff,).
        total: pre-activation with it minus that without it, all between computed anew, (d_ff,).
        strongest: the neurons with the largest |direct|, the largest first, (k,).

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> paths = ffnviz.neuron_paths(trace, 0, 7, to_block=1, k=3)
        >>> paths.direct.shape, paths.total.shape, paths.rest.shape, paths.strongest.shape
        (torch.Size([2048]), torch.Size([2048]), torch.Size([2048]), torch.Size([3]))
    """

    direct: Float64[Tensor, "d_ff"]
    total: Float64[Tensor, "d_ff"]
    strongest: Int64[Tensor, "k"]

    @property
    def rest(self) -> Float64[Tensor, "d_ff"]:
        """total − direct: by the norm's scale and the blocks in between, (d_ff,)."""
        return self.total - self.direct


@at_most(4)
@torch.no_grad()
def neuron_paths(
    trace: Trace, block: int, neuron: int, to_block: int, token: int | None = None, k: int = 10
) -> NeuronPaths:
    """h value_n · (γ ⊙ (key_m − mean)) / σ for every neuron m of a later block.

    What the neuron wrote at the token, read by each later key through the norm in front of it, with
    σ of the stream there held as it was (Elhage et al. 2021, "virtual weights"). The total is
    measured with the neuron set to zero at that token alone.

    Args:
        trace: of any network whose parts add up; its edits are made without the neuron, too.
        block: of the neuron, from 0.
        neuron: which.
        to_block: a later one.
        token: where; None takes the mask, or a causal network's last token.
        k: how many of the strongest are named.

    Raises:
        ValueError: if there is no such neuron, or that block is not a later one.
        NotForThisNetwork: for a post-LN network, or a norm that is neither LayerNorm nor RMSNorm.

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> neuron = int(trace.blocks[0].ffn.hidden[1].argmax())
        >>> paths = ffnviz.neuron_paths(trace, 0, neuron, to_block=1, k=5)
        >>> paths.direct.shape, paths.strongest.shape
        (torch.Size([2048]), torch.Size([5]))
    """
    n_blocks = network_of(trace).sizes.n_blocks
    block, to_block = (place_of("block", each, n_blocks) for each in (block, to_block))
    if to_block <= block:
        raise ValueError(f"Block {to_block} (from 0) does not come after block {block}.")
    return _paths(trace, block, neuron, [to_block], token, k)[0]


@torch.no_grad()
def paths_to_later(
    trace: Trace, block: int, neuron: int, token: int | None = None, k: int = 10
) -> tuple[NeuronPaths, ...]:
    """The same for every later block, by one pass without the neuron; none for the last block."""
    return _paths(trace, block, neuron, range(block + 1, len(trace.blocks)), token, k)


def _paths(
    trace: Trace, block: int, neuron: int, later: Iterable[int], token: int | None, k: int
) -> tuple[NeuronPaths, ...]:
    network = network_of(trace)
    require(network, NEEDS)
    block, k = place_of("block", block, len(trace.blocks)), at_least("k", k, 0)
    trace, place = in_whole(trace, judged_at(network, trace, token))
    neuron = place_of("neuron", neuron, network.sizes.d_ff, from_end=False)
    off = Edit(block, [neuron], scale=0.0, tokens=[place])
    without = network.run(trace.ids, [*trace.edits, off])
    own = trace.blocks[block].ffn.hidden[place, neuron].double()
    written = (own * network.ffn(block).values[neuron].double()).cpu()
    paths = []
    for number in later:
        view = network.ffn(number)
        norm, stream = _norm_and_stream(network, view, trace.blocks[number])
        read = norm.undivided(written) / norm.scale(stream[place].cpu().double())
        direct = view.keys.cpu().double() @ read
        plain, ablated = (
            each.blocks[number].ffn.pre_activation[place].double() for each in (trace, without)
        )
        total = (plain - ablated).cpu()
        strongest = direct.abs().argsort(descending=True, stable=True)[:k]
        paths.append(NeuronPaths(direct, total, strongest))
    return tuple(paths)


def _norm_and_stream(network: Network, view: FfnView, block: BlockStages) -> tuple[Norm, Tensor]:
    """The norm in front of an FFN, and what it norms: in parallel blocks, the block's input."""
    read = block.ffn.input
    for stream in (block.middle, block.input):
        if view.norm is not None and error(view.norm(stream), read) <= 5 * TOLERANCE[read.dtype]:
            return view.norm.double(), stream
    raise NotForThisNetwork(
        f"Not for {network.card.label}: its FFN reads the stream through something other than one "
        "LayerNorm or RMSNorm."
    )
