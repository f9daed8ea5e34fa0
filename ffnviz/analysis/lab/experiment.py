"""What an experiment of the Lab is: a claim, a number measured, and the verdict that follows."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, ours, require
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network
from ffnviz.models.token_slice import full_trace, index_in_full
from ffnviz.models.torch_shortcuts import no_draws
from ffnviz.models.trace import Trace
from ffnviz.models.views import FfnView


@torch.inference_mode(mode=False)
def ffn_in_double(view: FfnView) -> FeedForward:
    """φ(x W1 + b1) W2 + b2 with the weights of a plain view; if one bias is missing, it is zero."""
    d_ff, d_model = view.keys.shape
    biased = view.key_bias is not None or view.output_bias is not None
    with torch.device("meta"), no_draws():  # the weights follow
        ffn = FeedForward(d_model, d_ff, "identity", bias=biased)
    ffn.activation = view.phi
    ffn.expand.weight = _parameter(view.keys)
    ffn.compress.weight = _parameter(view.values.mT.contiguous())
    if biased:
        ffn.expand.bias = _parameter(view.keys.new_zeros(d_ff), view.key_bias)
        ffn.compress.bias = _parameter(view.keys.new_zeros(d_model), view.output_bias)
    return ffn.eval()


def _parameter(default: Tensor, given: Tensor | None = None) -> nn.Parameter:
    values = default if given is None else given
    return nn.Parameter(values.detach().cpu().double().clone(), requires_grad=False)


Module = TypeVar("Module", bound=nn.Module)
NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
FFN_NEEDS = (Capability.PLAIN_FFN,)  # of a claim about the FFN alone
BOUND = "× what rounding may cause"  # a unit: at most 1 for a correct computation
LONGEST = 32  # tokens, of an experiment that goes through them one by one


class Said(StrEnum):
    """Who makes a claim."""

    TEXTBOOKS = "what textbooks say"
    PEOPLE = "what people often think"
    CONSTRUCTION = "what holds by construction"  # shown, and not counted: no test of it can fail


class Verdict(StrEnum):
    """What a measurement says about a claim."""

    HOLDS = "holds"
    ONLY_IF = "holds only if"
    FAILS = "does not hold"
    UNDECIDED = "cannot be decided here"

    @property
    def kind(self) -> str:
        """Its short name: "holds", "only if", "fails" or "undecided"."""
        return self.name.lower().replace("_", " ")

    @property
    def sign(self) -> str:
        """One character for it."""
        return {"holds": "✓", "only if": "◐", "fails": "✗", "undecided": "–"}[self.kind]


@dataclass(frozen=True)
class Check:
    """One number against a limit that it must not exceed, or must."""

    value: float  # the number measured
    relation: str  # "≤" or ">"
    tolerance: float  # the limit, which the experiment explains
    unit: str = ""  # of both
    words: tuple[str, str] | None = None  # the text if it passes and if not, if numbers say less

    @property
    def passed(self) -> bool:
        """Whether the relation is true; with NaN it is not."""
        if self.relation == "≤":
            return self.value <= self.tolerance
        return self.value > self.tolerance

    def __str__(self) -> str:
        if self.words is not None:
            return self.words[0] if self.passed else self.words[1]
        if self.unit == BOUND:
            if self.value <= 1:
                return f"{short(100 * self.value)}% of what rounding may cause"
            return f"{short(self.value)} times what rounding may cause"
        unit = f" {self.unit}" if self.unit else ""
        value, tolerance = f"{short(self.value, 3)}{unit}", f"{short(self.tolerance, 3)}{unit}"
        if self.relation == ">":
            return f"{value}, {'' if self.passed else 'not '}more than {tolerance}"
        if self.tolerance == 0:
            return "exactly 0" if self.passed else f"{value}, not 0"
        if self.passed:
            return f"{value}, no more than {tolerance}"
        return f"{value}, more than the {tolerance} allowed"


def within_rounding(difference: Tensor, bound: Tensor) -> Check:
    """The check that no difference exceeds its own bound: the worst of all counts."""
    return Check(float((difference / bound.clamp_min(1e-300)).max()), "≤", 1.0, BOUND)


@dataclass(frozen=True)
class Finding:
    """A claim and its verdict."""

    claim: str  # as a textbook has it, or as people have it who misunderstood
    expected: str  # what one sees if it is true
    measured: str  # what was seen, with the number; it quotes no typed word
    check: Check  # decides the claim
    condition: str = ""  # under which it may still hold, to follow "holds only if"
    under: Check | None = None  # the same check under that condition
    untestable: str = ""  # why it cannot be tested on this sentence, if so
    unproved: str = ""  # why passing the check proves nothing, if so: the check can only refute
    said: Said = Said.TEXTBOOKS  # who makes it
    scope: str = ""  # what the verdict is limited to, to follow it
    because: str = ""  # why it holds by construction, if it does
    source: str = ""  # where one reads it: authors, year and section of a paper or a book

    def by_construction(self, because: str) -> "Finding":
        """The same as a demonstration of what must hold, with the reason in half a line."""
        return replace(self, said=Said.CONSTRUCTION, because=because)

    def cited(self, source: str) -> "Finding":
        """The same with where one reads it."""
        return replace(self, source=source)

    @property
    def verdict(self) -> Verdict:
        """What follows from the checks alone."""
        if self.untestable:
            return Verdict.UNDECIDED
        if self.check.passed:
            return Verdict.UNDECIDED if self.unproved else Verdict.HOLDS
        if self.under is not None and self.under.passed:
            return Verdict.ONLY_IF
        return Verdict.FAILS

    @property
    def verdict_text(self) -> str:
        """The verdict with its condition."""
        if self.verdict is Verdict.ONLY_IF:
            return f"{self.verdict} {self.condition}"
        if self.verdict is Verdict.UNDECIDED:
            return f"{self.verdict}: {self.untestable or self.unproved}"
        if self.because and self.verdict is Verdict.HOLDS:
            return f"{self.verdict} by construction: {self.because}"
        return f"{self.verdict} {self.scope}".rstrip()


@dataclass(frozen=True)
class Result:
    """What every experiment returns, with what its picture needs in subclasses."""

    findings: tuple[Finding, ...] = field(default=(), kw_only=True)  # one a claim


@torch.inference_mode(mode=False)
def in_double(module: Module) -> Module:
    """A copy of a module in float64 on the CPU."""
    return copy.deepcopy(module).cpu().double()


@dataclass(frozen=True)
class Subject:
    """What an experiment is made on."""

    model: Network  # whose claims are tested; most need a plain FFN, and say so
    trace: Trace  # of the sentence
    block: int  # from 0
    token: int  # from 0
    # a value that depends on the network alone, by its name: kept for further experiments, or not
    per_network: Callable[[str, Callable[[], Any]], Any] = lambda _name, compute: compute()

    @property
    def ours(self) -> Model:
        """The model, for claims about more than its FFNs."""
        return ours(self.model)

    @cached_property
    def own(self) -> Encoder:
        """The encoder in float64 on the CPU."""
        return in_double(self.ours.encoder)

    @property
    def whole(self) -> Trace:
        """The trace of all tokens, of which `trace` may leave some out."""
        return full_trace(self.trace)

    @property
    def place(self) -> int:
        """The token's place in `whole`."""
        return index_in_full(self.trace, self.token)

    @cached_property
    def ffn(self) -> FeedForward:
        """The block's FFN in float64 on the CPU, of any network."""
        require(self.model, FFN_NEEDS)
        if self.model.card.ours:
            return self.plain.ffn
        return ffn_in_double(self.model.ffn(self.block))

    @property
    def plain(self) -> Block:
        """The block in float64 on the CPU, for claims about a plain FFN."""
        require(self.model, NEEDS)
        return self.double

    @cached_property
    def double(self) -> Block:
        """The block in float64 on the CPU, which other experiments may be using too."""
        block: Block = self.per_network(
            f"block {self.block} in float64",
            lambda: in_double(self.ours.encoder.blocks[self.block]),
        )
        return block

    @property
    def ffn_input(self) -> Tensor:
        """The input of the block's FFN, at most LONGEST tokens of it, (T, d_model) in float64."""
        return self.trace.blocks[self.block].ffn.input[:LONGEST].cpu().double()

    @property
    def attention_input(self) -> Tensor:
        """The input of its attention, as many tokens, (T, d_model) in float64."""
        return self.trace.blocks[self.block].attention.input[:LONGEST].cpu().double()


@dataclass(frozen=True)
class Experiment:
    """One experiment, as the Lab lists it."""

    name: str  # in a URL and in JSON
    title: str  # on a button
    measure: Callable[[Subject, Progress], Result]  # with the default settings
    needs: tuple[Capability, ...] = NEEDS  # of the network
