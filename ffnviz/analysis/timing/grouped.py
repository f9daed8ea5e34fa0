"""The FFN as grouped and depthwise 1 × 1 convolutions: what is lost when channels do not mix.

In g groups a layer's output channels see only the d_in / g inputs of their own group: W keeps the
blocks on its diagonal, 1 / g of its numbers. With as many groups as inputs it is depthwise (Howard
et al. 2017); shuffling the channels in between lets groups mix again (Zhang et al. 2018).
"""

import copy
from dataclasses import dataclass
from functools import partial
from math import gcd

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.analysis.prediction import Prediction, predict_with_ffn_output
from ffnviz.analysis.spread import Progress, Spread, in_turn
from ffnviz.analysis.timing.pointwise import as_convolution
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace

NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
MOST_STEPS = 10  # numbers of groups: 1, 2, 4 …
WORDS = 5


@dataclass(frozen=True)
class Grouped:
    """One plain FFN in growing numbers of groups, of whose trained weights the blocks are kept."""

    groups: tuple[int, ...]  # how many, (k,); the first is 1, the whole FFN
    weights: NDArray[np.int64]  # numbers in W₁ and W₂, (k,)
    # share of the input channels that an output channel depends on, (k,)
    reach: NDArray[np.float64]
    # the same with the hidden channels shuffled between the layers, (k,)
    reach_shuffled: NDArray[np.float64]
    # ‖output − the whole FFN's‖ / ‖the whole FFN's‖ over the sentence, (k,)
    errors: NDArray[np.float64]
    times: tuple[Spread, ...]  # milliseconds on the sentence, (k,)
    # what the network then predicts at the chosen token, (k,); empty without a word head
    predictions: tuple[Prediction, ...]


class GroupedFfn(nn.Module):
    """Conv1d(1, groups) → φ → Conv1d(1, groups), (B, d_model, T) -> (B, d_model, T).

    Args:
        ffn: whose weights it has, of each matrix the blocks on the diagonal.
        groups: dividing d_model and d_ff.
        shuffle: whether the hidden channels are dealt out to all groups of the second layer.
    """

    def __init__(self, ffn: FeedForward, groups: int, shuffle: bool = False) -> None:
        super().__init__()
        self.first = as_convolution(ffn.expand, groups)
        self.second = as_convolution(ffn.compress, groups)
        self.phi, self.groups, self.shuffle = ffn.activation.function, groups, shuffle

    def forward(self, x: Tensor) -> Tensor:
        """The output for x, (B, d_model, T)."""
        hidden = self.phi(self.first(x))
        if self.shuffle:
            in_groups = torch.unflatten(hidden, -2, (self.groups, -1))
            hidden = in_groups.transpose(-3, -2).flatten(-3, -2)
        output: Tensor = self.second(hidden)
        return output


@torch.no_grad()
def grouped(
    model: Model,
    trace: Trace,
    block: int,
    token: int,
    repeats: int,
    progress: Progress = lambda _: None,
) -> Grouped:
    """Cut one block's FFN into 1, 2, 4 … groups and run each on a sentence.

    Raises:
        NotForThisNetwork: for a gated FFN, or a network that is not ours.
    """
    require(model, NEEDS)
    ffn = encoder_of(model).blocks[block].ffn
    record = trace.blocks[block].ffn
    group_counts = group_numbers(ffn.expand.in_features, ffn.expand.out_features)
    ffns = [GroupedFfn(ffn, n) for n in group_counts]
    x = record.input.mT[None]  # (1, d_model, T)
    outputs = [cut(x)[0].mT for cut in ffns]
    tasks = {str(cut.groups): partial(cut, x) for cut in ffns}
    times = in_turn(tasks, repeats, device=model.device, progress=progress)
    norm = record.output.norm()
    return Grouped(
        group_counts,
        np.array([cut.first.weight.numel() + cut.second.weight.numel() for cut in ffns]),
        np.array([_reach(cut) for cut in ffns]),
        np.array([_reach(GroupedFfn(ffn, n, shuffle=True)) for n in group_counts]),
        np.array([float((output - record.output).norm() / norm) for output in outputs]),
        tuple(times.values()),
        tuple(predict_with_ffn_output(model, trace, block, output, token, WORDS)
              for output in outputs) if model.card.has_word_head else (),
    )  # fmt: skip


def group_numbers(d_model: int, d_ff: int) -> tuple[int, ...]:
    """1, 2, 4 … as far as they divide both."""
    most = gcd(d_model, d_ff)
    return tuple(2**k for k in range(MOST_STEPS) if most % 2**k == 0)


def _reach(ffn: GroupedFfn) -> float:
    """Share of the pairs of channels in which the output one depends on the input one.

    Followed through the layers' groups by a pass with ones for weights and no φ.
    """
    connections = copy.deepcopy(ffn)
    connections.phi = nn.Identity()
    for layer in (connections.first, connections.second):
        layer.weight.fill_(1)
        layer.bias = None
    d_model = ffn.first.in_channels
    one_hot = torch.eye(d_model, device=ffn.first.weight.device)  # a column an input channel
    return float((connections(one_hot[None])[0] > 0).float().mean())
