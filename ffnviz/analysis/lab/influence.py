"""Who hears whom: how much each output depends on each input, by automatic differentiation."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.analysis.lab.experiment import Check, Finding, Subject
from ffnviz.analysis.spread import Progress
from ffnviz.model.attention import SelfAttention

DIRECTIONS = 3
SEED = 11
LENGTH, LONGEST_MAP = 10, 24
DEPTH, DEEPEST = 3, 6

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Heard:
    """One layer, or a stack of them.

    Attributes:
        name: of the layer.
        trained: whether its weights are the twin's.
        share: of all that output i hears, what it hears of input j, (n, n); 0 is exactly nothing.
        steps: that must run one after the other, for n tokens.
    """

    name: str
    trained: bool
    share: NDArray[np.float64]
    steps: int

    @property
    def receptive_field(self) -> int:
        """The most inputs that one output hears."""
        return int((self.share > 0).sum(axis=1).max())

    @property
    def by_distance(self) -> NDArray[np.float64]:
        """The mean share at each distance |i − j|, (n,)."""
        n = len(self.share)
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        return np.array([self.share[distance == d].mean() for d in range(n)])


@dataclass(frozen=True)
class Influence:
    """All layers.

    Attributes:
        heard: one a layer.
        memory: what the decoder block's outputs hear of the sentence that was read, (n, n).
        depth: how often each layer is stacked.
        findings: the verdicts.
    """

    heard: tuple[Heard, ...]
    memory: NDArray[np.float64]
    depth: int
    findings: tuple[Finding, ...]


def who_hears_whom(
    subject: Subject,
    length: int = LENGTH,
    depth: int = DEPTH,
    progress: Progress = lambda _: None,
) -> Influence:
    """‖∂ output_i / ∂ input_j‖ of each layer, stacked `depth` times, on the first tokens.

    The inputs are what the block gets of this sentence; a sentence shorter than `length` gives
    what it has. Attention and FFN stand behind their LayerNorm, which mixes no tokens, and so
    stay on the scale they know. A Frobenius norm is estimated from DIRECTIONS random directions
    (Hutchinson 1989): a derivative that is exactly zero stays so.
    """
    # Cloned, as what an inference made takes no part in differentiation.
    x = subject.trace.blocks[subject.block].input[:length].to("cpu", torch.float32).clone()
    decoder, read = _decoder(subject, depth), _read(subject, x)
    layers = _layers(subject, x, depth, lambda v: decoder(v, read.expand(len(v), -1, -1)))
    heard = []
    for place, (name, (f, trained, steps)) in enumerate(layers.items()):
        heard.append(Heard(name, trained, _shares(f, x), steps))
        progress((place + 1) / (len(layers) + 1))
    memory = _shares(lambda asked: decoder(x.expand(len(asked), -1, -1), asked), read)
    progress(1.0)
    found = {each.name: each for each in heard}
    return Influence(tuple(heard), memory, depth, _findings(found, memory, len(x), depth))


def _layers(
    subject: Subject, x: Tensor, depth: int, decoder: Map
) -> dict[str, tuple[Map, bool, int]]:
    """Each layer as a map (B, n, d) -> (B, n, d), whether it is the twin's, and its steps."""
    n, d = x.shape
    encoder = subject.model.encoder
    if subject.model.device.type != "cpu":
        encoder = copy.deepcopy(encoder).cpu()
    blocks = [encoder.blocks[(subject.block + k) % len(encoder.blocks)] for k in range(depth)]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        single = nn.Conv1d(d, d, 3, padding=1)
        stack = [nn.Conv1d(d, d, 3, padding=1) for _ in range(depth)]
        rnn, lstm = (kind(d, d, depth, batch_first=True) for kind in (nn.RNN, nn.LSTM))
    return {
        "FFN": (_stacked([nn.Sequential(b.ffn_norm, b.ffn) for b in blocks]), True, depth),
        "attention": (
            _stacked([nn.Sequential(b.attention_norm, b.attention) for b in blocks]),
            True,
            depth,
        ),
        "causal attention": (
            _stacked([nn.Sequential(b.attention_norm, _causal(b.attention)) for b in blocks]),
            True,
            depth,
        ),
        "encoder block": (_stacked(blocks), True, depth),
        "decoder block": (decoder, False, depth),
        "convolution, width 3": (lambda v: single(v.mT).mT, False, 1),
        f"{depth} convolutions": (_convolutions(stack), False, depth),
        "RNN": (lambda v: rnn(v)[0], False, n + depth - 1),
        "LSTM": (lambda v: lstm(v)[0], False, n + depth - 1),
    }


def _stacked(layers: Sequence[nn.Module]) -> Map:
    def run(v: Tensor) -> Tensor:
        for layer in layers:
            v = layer(v).output
        return v

    return run


def _causal(layer: SelfAttention) -> SelfAttention:
    """The same weights, shared and not copied, that see nothing of what comes later."""
    made = copy.deepcopy(layer, {id(weight): weight for weight in layer.parameters()})
    made.causal = True
    return made


def _convolutions(layers: list[nn.Conv1d]) -> Map:
    def run(v: Tensor) -> Tensor:
        for layer in layers[:-1]:
            v = layer(v.mT).mT.relu()
        return layers[-1](v.mT).mT  # type: ignore[no-any-return]

    return run


def _decoder(subject: Subject, depth: int) -> Callable[[Tensor, Tensor], Tensor]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        blocks = [DecoderBlock(subject.model.encoder.config).eval() for _ in range(depth)]

    def run(v: Tensor, memory: Tensor) -> Tensor:
        for block in blocks:
            v = block(v, memory).output
        return v

    return run


def _read(subject: Subject, x: Tensor) -> Tensor:
    """What the twin made of the sentence: the decoder's memory, as many tokens as x has."""
    return subject.trace.final[: len(x)].to("cpu", torch.float32).clone()


def _shares(f: Map, x: Tensor) -> NDArray[np.float64]:
    n, d = x.shape
    generator = torch.Generator().manual_seed(SEED)
    # One copy of the sentence an output: what copy i gets back, it gets for output i alone.
    copies = x.expand(n, n, d).clone().requires_grad_()
    with torch.enable_grad():
        output = f(copies)[torch.arange(n), torch.arange(n)]  # (n, d): output i of copy i
    squares = torch.zeros(n, n)
    for k in range(DIRECTIONS):
        direction = torch.randn(output.shape, generator=generator)
        (slope,) = torch.autograd.grad(
            output, copies, direction, retain_graph=k < DIRECTIONS - 1, materialize_grads=True
        )  # what the output does not hear at all has a slope of 0
        squares += slope.square().sum(dim=-1)
    heard = squares.sqrt().double()
    return (heard / heard.sum(dim=1, keepdim=True).clamp_min(1e-300)).numpy()


def _findings(
    heard: dict[str, Heard], memory: NDArray[np.float64], n: int, depth: int
) -> tuple[Finding, ...]:
    alone = "it takes two tokens at least" if n < 2 else ""
    off = ~np.eye(n, dtype=bool)
    future = np.triu(np.ones((n, n), dtype=bool), 1)

    def most(name: str, where: NDArray[np.bool_]) -> float:
        return float(heard[name].share[where].max(initial=0.0))

    def least(name: str, where: NDArray[np.bool_]) -> float:
        return float(heard[name].share[where].min(initial=1.0))

    def nothing(claim: str, name: str, where: NDArray[np.bool_]) -> Finding:
        return Finding(claim, "exactly 0", f"the most it hears of these: {most(name, where):.2g}",
                       Check(most(name, where), "≤", 0.0), untestable=alone)  # fmt: skip

    def everything(claim: str, name: str) -> Finding:
        return Finding(claim, "more than 0 everywhere",
                       f"the least it hears of any: {least(name, off):.2g} of all",
                       Check(least(name, off), ">", 0.0), untestable=alone)  # fmt: skip

    reach = min(n, 2 * depth + 1)
    stack = next(name for name in heard if name.endswith("convolutions"))
    ends = n - 1
    fades = {name: heard[name].by_distance[ends] for name in ("RNN", "LSTM")}
    return (
        nothing("FFN: an output hears its own input and no other.", "FFN", off),
        everything("Attention: every output hears every input.", "attention"),
        nothing("Causal attention: no output hears what comes later.", "causal attention", future),
        everything("Encoder block: every output hears every input.", "encoder block"),
        nothing("Decoder block: no output hears a later token of its own.", "decoder block",
                future),
        Finding("Decoder block: every output hears all of the sentence that was read.",
                "more than 0 everywhere", f"the least of any: {memory.min():.2g} of all",
                Check(float(memory.min()), ">", 0.0)),
        Finding(f"{depth} convolutions of width 3 hear {2 * depth + 1} tokens.",
                f"{reach} of these {n}", f"{heard[stack].receptive_field} tokens",
                Check(abs(heard[stack].receptive_field - reach), "≤", 0.0)),
        nothing("RNN and LSTM: no output hears what comes later.",
                max(("RNN", "LSTM"), key=lambda name: most(name, future)), future),
        Finding("An RNN forgets what is far away; an LSTM (untrained, too) forgets less.",
                "a larger share at the far end for the LSTM",
                f"over a distance of {ends}: RNN {fades['RNN']:.1g}, LSTM {fades['LSTM']:.1g}",
                Check(float(fades["LSTM"]), ">", float(fades["RNN"])), untestable=alone),
    )  # fmt: skip
