"""What an experiment of the Lab is: a claim, a number measured, and the verdict that follows."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

import torch
from torch import Tensor, nn

from ffnviz.analysis.lab import any_ffn
from ffnviz.analysis.needs import Capability, encoder_of, ours, require
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace, full_trace, index_in_full

Module = TypeVar("Module", bound=nn.Module)
NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
FFN_NEEDS = (Capability.PLAIN_FFN,)  # of a claim about the FFN alone
BOUND = "× what rounding may make"  # a unit: at most 1 for a correct computation
LONGEST = 32  # tokens that an experiment takes up one by one


class Said(StrEnum):
    """By whom a claim is made."""

    TEXTBOOKS = "what textbooks say"
    PEOPLE = "what people often think"


class Verdict(StrEnum):
    """What a measurement says of a claim."""

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
    """One number against what it must not exceed, or must."""

    value: float  # the number measured
    relation: str  # "≤" or ">"
    tolerance: float  # what it is compared with; where it comes from stands with the experiment
    unit: str = ""  # of both, if they have one
    # what is said if it passes and if not, where numbers would say less
    words: tuple[str, str] | None = None

    @property
    def passed(self) -> bool:
        """Whether the relation is true; with a value that is no number it is not."""
        if self.relation == "≤":
            return self.value <= self.tolerance
        return self.value > self.tolerance

    def __str__(self) -> str:
        if self.words is not None:
            return self.words[0] if self.passed else self.words[1]
        if self.unit == BOUND:
            return f"{_times(self.value)} what rounding may make"
        unit = f" {self.unit}" if self.unit else ""
        value, tolerance = f"{short(self.value, 3)}{unit}", f"{short(self.tolerance, 3)}{unit}"
        if self.relation == ">":
            return f"{value}, {'' if self.passed else 'not '}more than {tolerance}"
        if self.tolerance == 0:
            return "exactly 0" if self.passed else f"{value}, not 0"
        if self.passed:
            return f"{value}, no more than {tolerance}"
        return f"{value}, more than the {tolerance} allowed"


def _times(value: float) -> str:
    return f"{short(100 * value)}% of" if value <= 1 else f"{short(value)} times"


@dataclass(frozen=True)
class Finding:
    """A claim and what came of it."""

    claim: str  # as a textbook has it; or as people have it who got it wrong
    expected: str  # what one should see if it is true
    measured: str  # what was seen, with the number in it; no word that anybody typed
    check: Check  # what the claim stands or falls with
    condition: str = ""  # under which it may still hold, to follow "holds only if"
    under: Check | None = None  # the same check under that condition
    untestable: str = ""  # why it cannot be tested on this sentence, if so
    unproved: str = ""  # why passing the check proves nothing, if so: the check can only refute
    said: Said = Said.TEXTBOOKS  # by whom. What people often think is no textbook's fault
    scope: str = ""  # to what the verdict is limited, to follow it

    @property
    def verdict(self) -> Verdict:
        """What follows from the checks, and from nothing else."""
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
        return f"{self.verdict} {self.scope}".rstrip()


@dataclass(frozen=True)
class Result:
    """What every experiment returns, beside what its picture needs."""

    # the verdicts, a finding a claim
    findings: tuple[Finding, ...] = field(default=(), kw_only=True)


def in_double(model: Model) -> Encoder:
    """A copy of the encoder in float64 on the CPU.

    Raises:
        NotForThisNetwork: if the network is not made of our own modules.
    """
    return _copy_in_double(encoder_of(model))


@torch.inference_mode(mode=False)
def _copy_in_double(module: Module) -> Module:
    return copy.deepcopy(module).cpu().double()


@dataclass(frozen=True)
class Subject:
    """What the experiments are made on."""

    model: Network  # whose claims are tested; most need a plain FFN, and say so
    trace: Trace  # of the sentence
    block: int  # from 0
    token: int  # from 0

    @property
    def ours(self) -> Model:
        """The model, for claims about more than its FFNs.

        Raises:
            NotForThisNetwork: if it is not made of our own modules.
        """
        return ours(self.model)

    @cached_property
    def own(self) -> Encoder:
        """The encoder in float64 on the CPU, where rounding hides nothing.

        Raises:
            NotForThisNetwork: if the network is not made of our own modules.
        """
        return in_double(self.ours)

    @property
    def whole(self) -> Trace:
        """The trace of all tokens, where `trace` is a part of it."""
        return full_trace(self.trace)

    @property
    def place(self) -> int:
        """The token's place in that."""
        return index_in_full(self.trace, self.token)

    @cached_property
    def ffn(self) -> FeedForward:
        """The block's FFN in float64 on the CPU, of any network.

        Raises:
            NotForThisNetwork: if it is gated.
        """
        require(self.model, FFN_NEEDS)
        if self.model.card.ours:
            return self.plain.ffn
        return any_ffn.in_double(self.model.ffn(self.block))

    @property
    def plain(self) -> Block:
        """The block in float64 on the CPU, for claims about a plain FFN.

        Raises:
            NotForThisNetwork: if the FFN is gated.
        """
        require(self.model, NEEDS)
        return self.double

    @cached_property
    def double(self) -> Block:
        """The block in float64 on the CPU."""
        return _copy_in_double(self.ours.encoder.blocks[self.block])

    @property
    def ffn_input(self) -> Tensor:
        """What the block's FFN got, at most LONGEST tokens of it, (T, d_model) in float64."""
        return self.trace.blocks[self.block].ffn.input[:LONGEST].cpu().double()

    @property
    def attention_input(self) -> Tensor:
        """What its attention got, as many tokens, (T, d_model) in float64."""
        return self.trace.blocks[self.block].attention.input[:LONGEST].cpu().double()


@dataclass(frozen=True)
class Experiment:
    """One experiment, as the Lab lists it."""

    name: str  # in a URL and in JSON
    title: str  # on a button
    measure: Callable[[Subject, Progress], Result]  # makes it with the settings it has by default
    needs: tuple[Capability, ...] = NEEDS  # of the network
