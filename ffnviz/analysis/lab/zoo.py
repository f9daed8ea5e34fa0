"""The activation functions: curves, slopes, GELU's minimum, and gates at equal parameters."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.cost import PRESETS, Preset
from ffnviz.analysis.lab.experiment import NEEDS, Check, Finding, Result, Said, Subject
from ffnviz.analysis.lab.local_map import derivative
from ffnviz.analysis.needs import require
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import divergence
from ffnviz.analysis.sparsity import with_activation
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.feed_forward import FeedForward, GatedFeedForward, feed_forward
from ffnviz.models.torch_shortcuts import draws_from, no_draws

SEED = 29
SHARE = 2 / 3  # of the plain d_ff: a third matrix, and as many weights
NEAR = 0.1


@dataclass(frozen=True)
class Gated:
    """The stages of an untrained gated FFN on one token."""

    gate: NDArray[np.float64]  # x W₁ + b₁, before φ, (d_ff,)
    value: NDArray[np.float64]  # x V + c, (d_ff,)
    hidden: NDArray[np.float64]  # φ(gate) · value, (d_ff,)
    closed: float  # share of the hidden values that are exactly zero, from 0 to 1
    near_zero: float  # share of those at most NEAR from zero
    turned: float  # share of those whose sign is not their value's, as φ is below zero there


@torch.no_grad()
def through_gate(subject: Subject, name: str) -> Gated:
    """This block's FFN input at the chosen token, through a gated FFN of d_ff × 2/3 units.

    The weights are PyTorch's own initialisation, the same for every φ (Shazeer 2020, eq. 6).
    """
    config = subject.ours.encoder.config
    d_ff = round(config.d_ff * SHARE)
    with draws_from(torch.Generator().manual_seed(SEED)):
        ffn = GatedFeedForward(config.d_model, d_ff, name, bias=config.bias)
    x = subject.trace.blocks[subject.block].ffn.input[subject.token].cpu().double()
    record = ffn.double()(x[None])
    gate, value, hidden = (
        stage[0].numpy() for stage in (record.pre_activation, record.value, record.hidden)
    )
    return Gated(
        gate,
        value,
        hidden,
        closed=float((hidden == 0).mean()),
        near_zero=float((np.abs(hidden) <= NEAR).mean()),
        turned=float((hidden * value < 0).mean()),
    )


REACH = 4.0
POINTS = 1_601


@dataclass(frozen=True)
class Curve:
    """One plain φ."""

    name: str  # of the activation
    value: NDArray[np.float64]  # φ(x), (POINTS,)
    slope: NDArray[np.float64]  # φ′(x), (POINTS,)


@dataclass(frozen=True)
class Zoo(Result):
    """All activations."""

    x: NDArray[np.float64]  # of the curves, (POINTS,)
    curves: tuple[Curve, ...]  # one a plain φ
    # a gated variant's name → φ(g)·v over g (columns) and v (rows), (n, n)
    gated: dict[str, NDArray[np.float64]]
    axis: NDArray[np.float64]  # the values of g and of v, (n,)
    minimum: tuple[float, float]  # where GELU is least, and its value there
    apart: tuple[float, float]  # the largest difference between GELU exact and tanh, and where
    parameters: dict[str, tuple[int, int]]  # a φ's name → d_ff and parameters at this d_model


CLAIMS: list[Callable[[Subject, Zoo], Finding]] = []


def claim(function: Callable[[Subject, Zoo], Finding]) -> Callable[[Subject, Zoo], Finding]:
    """Register a claim: `visit_zoo` adds its finding, of the subject and the result, to its own."""
    CLAIMS.append(function)
    return function


def visit_zoo(subject: Subject) -> Zoo:
    """Every activation here (Hendrycks & Gimpel 2016, Ramachandran et al. 2017, Shazeer 2020)."""
    require(subject.model, NEEDS)
    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    curves = tuple(
        Curve(phi.name, phi.function(x).numpy(), derivative(phi, x).numpy())
        for phi in ACTIVATIONS.values()
        if not phi.gated
    )
    axis = torch.linspace(-REACH, REACH, 81, dtype=torch.float64)
    gates = [phi for phi in ACTIVATIONS.values() if phi.gated]
    gated = {phi.name: (phi.function(axis)[None] * axis[:, None]).numpy() for phi in gates}
    parameters = _parameters(subject, gated)
    zoo = Zoo(x.numpy(), curves, gated, axis.numpy(), _minimum(), _apart(), parameters)
    return replace(zoo, findings=tuple(each(subject, zoo) for each in CLAIMS))


def _minimum() -> tuple[float, float]:
    """GELU's, found by ever finer steps."""
    low, high = -REACH, 0.0
    for _ in range(6):
        x = torch.linspace(low, high, 1_001, dtype=torch.float64)
        at = int(ACTIVATIONS["gelu"].function(x).argmin())
        low, high = float(x[max(0, at - 1)]), float(x[min(1_000, at + 1)])
    best = torch.tensor([(low + high) / 2], dtype=torch.float64)
    return float(best), float(ACTIVATIONS["gelu"].function(best))


def _apart() -> tuple[float, float]:
    x = torch.linspace(-6, 6, 120_001, dtype=torch.float64)
    difference = (ACTIVATIONS["gelu"].function(x) - ACTIVATIONS["gelu_tanh"].function(x)).abs()
    at = int(difference.argmax())
    return float(difference[at]), float(x[at])


def _parameters(subject: Subject, gated: Iterable[str]) -> dict[str, tuple[int, int]]:
    config = subject.ours.encoder.config
    sizes = {config.activation: config.d_ff}
    sizes |= {name: round(config.d_ff * SHARE) for name in gated}
    counts = {}
    for name, d_ff in sizes.items():
        with torch.device("meta"), no_draws():
            ffn = feed_forward(config.d_model, d_ff, name, bias=config.bias)
        counts[name] = (d_ff, sum(parameter.numel() for parameter in ffn.parameters()))
    return counts


@claim
def _equal_size(subject: Subject, zoo: Zoo) -> Finding:
    config, parameters = subject.ours.encoder.config, zoo.parameters
    plain = parameters[config.activation][1]
    name = max(parameters, key=lambda each: abs(parameters[each][1] - plain))
    d_ff, count = parameters[name]
    one_unit = 3 * config.d_model + 2  # what rounding d_ff to a whole number may change
    # A gate has biases of its own; the paper's FFN has none at all.
    biases = 2 * config.d_ff * config.bias
    return Finding(
        "A gated FFN with d_ff × 2/3 has as many parameters as a plain one.",
        "as many, but for biases and a rounded d_ff",
        f"{ACTIVATIONS[name].label}: {count:,} with d_ff = {d_ff:,}, plain: {plain:,} with "
        f"{config.d_ff:,}",
        Check(abs(count - plain), "≤", one_unit + biases, "parameters"),
    ).by_construction("2/3 is chosen for that: three matrices in place of two")


@claim
def _who_uses_gelu(_: Subject, __: Zoo) -> Finding:
    """The φ of published networks, looked up and not measured."""
    bert, gpt, first, later = (PRESETS[name] for name in ("bert", "gpt2", "t5", "t5v11"))

    def all_use_gelu(*networks: Preset) -> Check:
        without = sum(each.phi not in ("gelu", "gelu_tanh", "geglu") for each in networks)
        return Check(without, "≤", 0.0, words=("all of them do", "not all of them do"))

    named = {"BERT has": bert, "GPT-2": gpt, "the first T5": first, "T5 v1.1": later}
    found = [f"{name} {ACTIVATIONS[each.phi].label}" for name, each in named.items()]
    return Finding(
        "BERT, GPT and T5 use GELU.",
        "GELU as the φ of all three",
        f"looked up, not measured: {', '.join(found)}",
        all_use_gelu(bert, gpt, first),
        "T5 v1.1 is meant, where GELU is the gate of a gated FFN",
        all_use_gelu(bert, gpt, later),
        said=Said.PEOPLE,
    )


@claim
def _monotone(_: Subject, zoo: Zoo) -> Finding:
    at, value = zoo.minimum
    return Finding(
        "GELU, like ReLU, never falls as its input grows.",
        "no minimum: the larger x, the larger GELU",
        f"GELU is least, {short(value, 5)}, at x = {short(at, 4)}",
        Check(
            float(ACTIVATIONS["gelu"].function(torch.tensor([-REACH]).double())) - value, "≤", 0.0
        ),
        said=Said.PEOPLE,
    )


@claim
def _same_gelu(subject: Subject, zoo: Zoo) -> Finding:
    model, trace, token, apart = subject.ours, subject.trace, subject.token, zoo.apart
    with torch.no_grad():
        runs = [
            swapped.encoder.unembed(swapped.encoder.stream(trace.ids).final[token])
            for swapped in (with_activation(model, name) for name in ("gelu", "gelu_tanh"))
        ]
    changed = divergence(*runs)
    rounding = float(torch.finfo(torch.float32).eps)
    return Finding(
        "GELU and its tanh formula are the same function.",
        "no difference beyond rounding",
        f"they differ by up to {short(apart[0])} (at x = ±{abs(apart[1]):.2f}); between "
        f"the two, the predictions of these weights diverge by {short(changed, 1)} nats",
        Check(apart[0], "≤", rounding),
        f"differences of {short(apart[0], 1)} do not matter, as here for the likeliest word",
        Check(
            float(runs[0].argmax() != runs[1].argmax()), "≤", 0.0, words=("it stays", "it changes")
        ),
        said=Said.PEOPLE,
    )


@claim
@torch.no_grad()
def _tokens_related(subject: Subject, _: Zoo) -> Finding:
    """The FFN with GELU: whether another token's output changes with one token's input."""
    ffn, x = _with_gelu(subject), subject.ffn_input
    token = min(subject.token, len(x) - 1)
    changed = x.clone()
    changed[token] = x[token].flip(0)
    others = torch.arange(len(x)) != token
    moved = (ffn(changed).output - ffn(x).output)[others].abs()
    largest = float(moved.max()) if len(moved) else 0.0
    return Finding(
        "GELU fine-tunes relationships between tokens.",
        "another token's output that changes with one token's input",
        f"with another vector at one token, the others' outputs change by {short(largest)}",
        Check(largest, ">", 0.0),
        untestable="" if len(moved) else "there is one token only",
        said=Said.PEOPLE,
        scope="anywhere in an FFN, whatever φ: tokens meet in attention",
    )


@claim
@torch.no_grad()
def _subtle_patterns(subject: Subject, _: Zoo) -> Finding:
    """What GELU lets through below zero, and ReLU does not: its part in the FFN's output."""
    ffn, x = _with_gelu(subject), subject.ffn_input
    record = ffn(x)
    below = torch.where(record.pre_activation < 0, record.hidden, 0.0)
    written = below @ ffn.compress.weight.mT
    share = float((written.norm(dim=-1) / record.output.norm(dim=-1).clamp_min(1e-300)).mean())
    return Finding(
        "GELU finds subtle patterns that ReLU misses.",
        "an output that neurons below zero have a part in",
        f"neurons below zero write a vector {share:.0%} as long as the output, on average",
        Check(share, ">", 0.01, "of the output's length"),
        unproved="GELU lets a little through below zero, but nobody says what “subtle” means",
        said=Said.PEOPLE,
    )


def _with_gelu(subject: Subject) -> FeedForward:
    """The block's FFN, with GELU whatever its own φ is."""
    ffn = copy.copy(subject.ffn)  # with the same weights
    ffn.activation = ACTIVATIONS["gelu"]
    return ffn
