"""The FFN as grouped and depthwise 1 × 1 convolutions: what is lost when channels do not mix.

In g groups a layer's output channels hear only the d_in / g inputs of their own group: W keeps the
blocks on its diagonal, 1 / g of its numbers. With as many groups as inputs it is depthwise (Howard
et al. 2017); shuffling the channels in between lets groups mix again (Zhang et al. 2018).
"""

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
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace

NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
MOST_STEPS = 10  # numbers of groups: 1, 2, 4 …
WORDS = 5


@dataclass(frozen=True)
class Grouped:
    """One plain FFN in growing numbers of groups, its trained weights cut to their blocks."""

    groups: tuple[int, ...]  # how many, (k,); the first is 1, an FFN as it is
    weights: NDArray[np.int64]  # numbers in W₁ and W₂, (k,)
    # share of the input channels that an output channel depends on, (k,)
    heard: NDArray[np.float64]
    # the same with the hidden channels shuffled between the layers, (k,)
    shuffled: NDArray[np.float64]
    # ‖output − the whole FFN's‖ / ‖the whole FFN's‖ over the sentence, (k,)
    errors: NDArray[np.float64]
    times: tuple[Spread, ...]  # milliseconds on the sentence, (k,)
    told: tuple[Prediction, ...]  # what the network then says at the chosen token, (k,)


class GroupedFfn(nn.Module):
    """Conv1d(1, groups) → φ → Conv1d(1, groups), (B, d_model, T) -> (B, d_model, T).

    Args:
        ffn: whose weights it has, of each matrix the blocks on the diagonal.
        groups: dividing d_model and d_ff.
        shuffle: whether the hidden channels are dealt out to all groups of the second layer.
    """

    def __init__(self, ffn: FeedForward, groups: int, shuffle: bool = False) -> None:
        super().__init__()
        self.first, self.second = _blocks(ffn.expand, groups), _blocks(ffn.compress, groups)
        self.phi, self.groups, self.shuffle = ffn.activation.function, groups, shuffle

    def forward(self, x: Tensor) -> Tensor:
        """The output for inputs of one channel a row."""
        hidden = self.phi(self.first(x))
        if self.shuffle:
            dealt = torch.unflatten(hidden, -2, (self.groups, -1)).transpose(-3, -2)
            hidden = dealt.flatten(-3, -2)
        output: Tensor = self.second(hidden)
        return output


@torch.inference_mode()
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
    numbers = group_numbers(ffn.expand.in_features, ffn.expand.out_features)
    ffns = [GroupedFfn(ffn, number) for number in numbers]
    x = record.input.mT[None]  # (1, d_model, T)
    outputs = [each(x)[0].mT for each in ffns]
    tasks = {str(number): partial(each, x) for number, each in zip(numbers, ffns, strict=True)}
    times = in_turn(tasks, repeats, device=model.device, progress=progress)
    length = record.output.norm()
    return Grouped(
        numbers,
        np.array([each.first.weight.numel() + each.second.weight.numel() for each in ffns]),
        np.array([_heard(each) for each in ffns]),
        np.array([_heard(GroupedFfn(ffn, number, shuffle=True)) for number in numbers]),
        np.array([float((output - record.output).norm() / length) for output in outputs]),
        tuple(times[str(number)] for number in numbers),
        tuple(predict_with_ffn_output(model, trace, block, output, token, WORDS)
              for output in outputs) if model.card.has_word_head else (),
    )  # fmt: skip


def group_numbers(d_model: int, d_ff: int) -> tuple[int, ...]:
    """1, 2, 4 … as far as they divide both."""
    most = gcd(d_model, d_ff)
    return tuple(2**k for k in range(MOST_STEPS) if most % 2**k == 0)


def _blocks(layer: nn.Linear, groups: int) -> nn.Conv1d:
    """The blocks on the diagonal of a layer's matrix as a convolution of kernel 1."""
    d_in, d_out = layer.in_features, layer.out_features
    convolution = nn.Conv1d(
        d_in, d_out, 1, groups=groups, bias=layer.bias is not None, device="meta"
    )
    cut = torch.unflatten(torch.unflatten(layer.weight, 0, (groups, -1)), -1, (groups, -1))
    # (groups, d_out / groups, groups, d_in / groups): those where both groups are the same.
    own = cut.diagonal(dim1=0, dim2=2).movedim(-1, 0)
    convolution.weight = nn.Parameter(own.reshape(d_out, d_in // groups, 1), requires_grad=False)
    if layer.bias is not None:
        convolution.bias = nn.Parameter(layer.bias, requires_grad=False)
    return convolution


def _heard(ffn: GroupedFfn) -> float:
    """Share of the pairs of channels in which the output one depends on the input one.

    Followed through the layers' groups by a pass with ones for weights and no φ.
    """
    first, second = ffn.first, ffn.second
    follow = GroupedFfn.__new__(GroupedFfn)
    nn.Module.__init__(follow)
    follow.first, follow.second = (_of_ones(layer) for layer in (first, second))
    follow.phi, follow.groups, follow.shuffle = nn.Identity(), ffn.groups, ffn.shuffle
    one_each = torch.eye(first.in_channels)  # (d_model, inputs): a column an input channel
    return float((follow(one_each[None])[0] > 0).float().mean())


def _of_ones(layer: nn.Conv1d) -> nn.Conv1d:
    convolution = nn.Conv1d(
        layer.in_channels, layer.out_channels, 1, groups=layer.groups, bias=False, device="meta"
    )
    convolution.weight = nn.Parameter(torch.ones(layer.weight.shape), requires_grad=False)
    return convolution
