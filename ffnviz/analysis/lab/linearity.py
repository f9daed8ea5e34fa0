"""Is it linear? Additivity and scaling, tried on every part of a block."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ffnviz.analysis.lab.experiment import Check, Finding, Result, Said, Subject
from ffnviz.analysis.lab.tolerances import gamma
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.attention import SelfAttention
from ffnviz.models.encoder.block import Block

FACTOR = 2.0
SEED = 5
BEFORE, HELD = "all before the FFN", "all before the FFN, both held"
SHARES_HELD, DIVISOR_HELD = "attention, its shares held", "LayerNorm, its divisor held"

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Tried:
    """One map's two tests; 0 is linear."""

    name: str  # of the map
    additivity: float  # ‖f(x + y) − f(x) − f(y)‖ / (‖f(x)‖ + ‖f(y)‖), of f minus f(0)
    scaling: float  # ‖f(a x) − a f(x)‖ / (|a| ‖f(x)‖), likewise
    allowed: float  # what rounding may make of either

    @property
    def check(self) -> Check:
        """Linear if neither test is off by more than rounding."""
        return Check(max(self.additivity, self.scaling), "≤", self.allowed)


@dataclass(frozen=True)
class Additivity:
    """One map and its test of additivity, which no factor changes."""

    f: Map = field(compare=False)
    x: Tensor  # the rows it is tested on, (T, d)
    at_zero: Tensor  # f(0), (T, d_model)
    at_x: Tensor  # f(x), likewise
    off: float  # ‖f(x + y) − f(x) − f(y)‖ / size, of f minus f(0)
    size: float  # ‖f(x)‖ + ‖f(y)‖, likewise
    largest: float  # the largest norm of f's values


@dataclass(frozen=True)
class Linearity(Result):
    """The tests of all maps."""

    tried: tuple[Tried, ...]  # one a map
    additivity: Mapping[str, Additivity]  # one a map, by its name, for a test with another factor


@torch.no_grad()
def try_linearity(
    subject: Subject, factor: float = FACTOR, additivity: Mapping[str, Additivity] | None = None
) -> Linearity:
    """The tests on this sentence's vectors x and the same vectors y in another order.

    A layer with a bias is affine, not linear: f(0) ≠ 0 is subtracted first, so that a bias alone
    fails no test. `additivity` are those of a test with another factor, if there was one.
    """
    additivity = additivity or _try_all(subject)
    ffn = subject.ffn
    inner = ffn.expand.in_features + ffn.expand.out_features + len(subject.ffn_input)
    tried = {name: try_map(name, each, factor, inner) for name, each in additivity.items()}
    return Linearity(tuple(tried.values()), additivity, findings=_findings(tried))


def _try_all(subject: Subject) -> dict[str, Additivity]:
    ffn, x = subject.ffn, subject.ffn_input
    maps: dict[str, tuple[Map, Tensor]] = {
        "FFN": (lambda v: ffn(v).output, x),
        "FFN without φ": (lambda v: ffn.compress(ffn.expand(v)), x),
    }
    if subject.model.card.ours:
        maps |= _of_our_block(subject, len(x))
    return {name: try_additivity(f, each) for name, (f, each) in maps.items()}


def _of_our_block(subject: Subject, n: int) -> dict[str, tuple[Map, Tensor]]:
    block, z = subject.plain, subject.attention_input
    record = subject.trace.blocks[subject.block]
    x, stream = (each[:n].cpu().double() for each in (record.input, record.middle))
    return {
        "attention": (lambda v: block.attention(v).output, z),
        SHARES_HELD: (frozen_attention(block.attention, z), z),
        BEFORE: (lambda v: block.ffn_reads(block.add_attention(v, block.attend(v).output)), x),
        HELD: (frozen_before(block, x), x),
        "LayerNorm": (block.ffn_norm, stream),
        DIVISOR_HELD: (frozen_norm(block.ffn_norm, stream), stream),
    }


def _findings(tried: dict[str, Tried]) -> tuple[Finding, ...]:
    def off(name: str) -> str:
        each = tried[name]
        return f"additivity is off by {short(each.additivity)}, scaling by {short(each.scaling)}"

    ffn = tried["FFN"]
    of_the_ffn = (
        Finding(
            "The FFN is not linear: φ bends.",
            "a bend that rounding cannot explain",
            off("FFN"),
            Check(max(ffn.additivity, ffn.scaling), ">", ffn.allowed),
        ).cited("Goodfellow, Bengio & Courville 2016, section 6.1"),
        Finding(
            "Without φ the FFN is linear, up to its bias.",
            "linear, up to rounding",
            off("FFN without φ"),
            tried["FFN without φ"].check,
        ).by_construction("two matrices, and a bias"),
    )
    if "attention" not in tried:
        return of_the_ffn
    return (
        Finding(
            "Attention, and so all before the FFN, is linear: only φ bends.",
            "no more bend before the FFN than rounding explains",
            f"all before the FFN is off by {short(tried[BEFORE].check.value)}, attention alone by "
            f"{short(tried['attention'].check.value)}; with both held, all of it: "
            + short(tried[HELD].check.value),
            tried[BEFORE].check,
            "attention's shares and what the LayerNorms divide by are held as they are",
            tried[HELD].check,
            said=Said.PEOPLE,
        ),
        *of_the_ffn,
        Finding(
            "LayerNorm is linear: it only shifts and scales.",
            "no more bend than rounding explains",
            f"LayerNorm alone: {off('LayerNorm')}; with its divisor held: "
            + short(tried[DIVISOR_HELD].check.value),
            tried["LayerNorm"].check,
            "what LayerNorm divides by is held as it is",
            tried[DIVISOR_HELD].check,
            said=Said.PEOPLE,
        ),
    )


def try_map(name: str, additivity: Additivity, factor: float, inner: int) -> Tried:
    """One map's two tests; `inner` is the number of terms in its sums."""
    at_multiple, of_x = additivity.f(factor * additivity.x), additivity.at_x - additivity.at_zero
    off = (at_multiple - additivity.at_zero - factor * of_x).norm()
    scaling = float(off / (abs(factor) * of_x.norm()))
    largest = max(additivity.largest, float(at_multiple.norm()))
    allowed = _rounding(largest / additivity.size, inner, of_x.dtype)
    return Tried(name, additivity.off, scaling, allowed)


def try_additivity(f: Map, x: Tensor) -> Additivity:
    """The test of additivity on rows x, (T, d)."""
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(SEED))
    # One token in another order is itself: reverse its components instead.
    y = x[order] if len(x) > 1 else x.flip(-1)
    values = [f(v) for v in (torch.zeros_like(x), x, y, x + y)]
    of_x, of_y, of_sum = (value - values[0] for value in values[1:])
    size = float(of_x.norm() + of_y.norm())
    off = float((of_sum - of_x - of_y).norm()) / size
    largest = max(float(value.norm()) for value in values)
    return Additivity(f, x, values[0], values[1], off, size, largest)


def _rounding(reach: float, inner: int, dtype: torch.dtype) -> float:
    """What rounding may make of the tests on a linear f, as a share of ‖f(x)‖ + ‖f(y)‖.

    Each value of f is off by at most γ of all inner dimensions times the sum of its products'
    magnitudes. That this sum is at most √d_ff·√d_model times the value itself is an assumption,
    which holds where signs are nearly random. Four values enter a test; the largest of them is
    `reach` times as long as that.
    """
    return 4 * gamma(inner, dtype) * inner * max(1.0, reach)


def frozen_attention(attention: SelfAttention, x: Tensor) -> Map:
    """Attention with its weights held as x, (T, d_model), has them."""
    weights = attention(x).weights  # (n_heads, T, T), as this sentence has them

    def mix(v: Tensor) -> Tensor:
        split = attention.project_in(v).unflatten(-1, (3, attention.n_heads, -1))
        values = split.unbind(-3)[2].transpose(-3, -2)
        mixed: Tensor = attention.project_out((weights @ values).transpose(-3, -2).flatten(-2))
        return mixed

    return mix


def frozen_before(block: Block, x: Tensor) -> Map:
    """From the stream x before the block to the FFN's input, all held as x has it."""
    attention, attention_norm, ffn_norm = frozen_parts(block, x)
    if block.norm_first:
        return lambda v: ffn_norm(block.add_attention(v, attention(attention_norm(v))))
    return lambda v: attention_norm(v + attention(v))


def frozen_parts(block: Block, x: Tensor) -> tuple[Map, Map, Map]:
    """A block's attention and its two LayerNorms, held as the stream x, (T, d_model), has them."""
    record = block(x)
    normed = x, record.middle
    if not block.norm_first:
        normed = x + record.attention.output, record.middle + record.ffn.output
    return (
        frozen_attention(block.attention, record.attention.input),
        frozen_norm(block.attention_norm, normed[0]),
        frozen_norm(block.ffn_norm, normed[1]),
    )


def frozen_norm(norm: nn.LayerNorm, x: Tensor) -> Map:
    """A LayerNorm that divides by what it divides x by, (T, d_model); the mean is linear."""
    scale = (x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
    bias = dict(norm.named_parameters()).get("bias", 0.0)
    return lambda v: norm.weight * (v - v.mean(dim=-1, keepdim=True)) / scale + bias
