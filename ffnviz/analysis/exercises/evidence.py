"""What twelve misconceptions meet: an experiment each, whose numbers choose the right answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.dimensions.cost import multiply_adds, shape_of
from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.rounding import ffn_bound
from ffnviz.analysis.number_format import short
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.models.encoder.attention import SelfAttention
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.network import NotForThisNetwork

SEED = 11
ROUNDING = 1e-9  # of results in float64, as a share of their norm
NEAR = 0.1
LOUDER = 10.0  # times as long a stream, and logits so much larger


@dataclass(frozen=True)
class Evidence:
    """What an experiment found.

    Attributes:
        answer: the option that the numbers are for, from 0.
        rows: name, number in words, and a share from 0 to 1 to be drawn; None draws nothing.
    """

    answer: int
    rows: tuple[tuple[str, str, float | None], ...]


Experiment = Callable[[Subject], Evidence]


def _shares(*rows: tuple[str, float]) -> tuple[tuple[str, str, float | None], ...]:
    """Numbers that are compared with one another: the largest fills its row."""
    most = max((value for _, value in rows), default=0.0) or 1.0
    return tuple((name, short(value), max(0.0, value) / most) for name, value in rows)


@torch.inference_mode()
def tokens_related(subject: Subject) -> Evidence:
    """The token's vector at the FFN's input is replaced: which outputs change?"""
    at = min(subject.token, len(subject.ffn_input) - 1)
    own, others = _when_replaced(subject.ffn, subject.ffn_input, at)
    rows = [("FFN: the token's own output", own), ("FFN: another token's, at most", others)]
    if subject.model.card.ours:
        heard = _when_replaced(subject.plain.attention, subject.attention_input, at)[1]
        rows.append(("attention: another token's, at most", heard))
    return Evidence(0 if others == 0 else 1, _shares(*rows))


def _when_replaced(
    layer: FeedForward | SelfAttention, x: Tensor, token: int
) -> tuple[float, float]:
    """How far the token's own output moves, and another's at most, as shares of their norms."""
    changed = x.clone()
    changed[token] = x[token].flip(-1)  # as long as it was
    before = layer(x).output
    moved = (layer(changed).output - before).norm(dim=-1) / before.norm(dim=-1)
    others = torch.cat([moved[:token], moved[token + 1 :]])
    return float(moved[token]), float(others.max()) if len(others) else 0.0


@torch.inference_mode()
def own_ffn(subject: Subject) -> Evidence:
    """One vector at every token's place: are the outputs the same?"""
    ffn, x = subject.ffn, subject.ffn_input
    copies = x[min(subject.token, len(x) - 1)].expand(max(2, len(x)), -1)
    outputs = ffn(copies).output
    apart = float((outputs - outputs[0]).norm(dim=-1).max() / outputs[0].norm())
    allowed = float((ffn_bound(ffn, copies).norm(dim=-1) / outputs.norm(dim=-1)).max())
    weights = f"{sum(each.numel() for each in ffn.parameters()):,}"
    return Evidence(0 if apart <= allowed else 1, (
        (f"largest difference over {len(copies)} places, in norms", short(apart), apart),
        ("weights of this FFN for one token", weights, None),
        (f"for all {len(x)} tokens of the sentence", weights, None),
    ))  # fmt: skip


@torch.inference_mode()
def without_phi(subject: Subject) -> Evidence:
    """The FFN without φ against one matrix of d_model × d_model."""
    ffn, x = subject.ffn, subject.ffn_input
    first, second = ffn.expand.weight.mT, ffn.compress.weight.mT
    flat, whole = ffn.compress(ffn.expand(x)), ffn(x).output
    bias = ffn.compress(ffn.expand(torch.zeros_like(x[:1])))
    one = x @ (first @ second) + bias
    off, bent = (float((each - one).norm() / each.norm()) for each in (flat, whole))
    numbers = f"{first.numel() + second.numel():,}"
    return Evidence(0 if off < ROUNDING else 1, (
        ("without φ, against one matrix: off by", short(off), min(1.0, off)),
        ("with φ, against the same matrix: off by", short(bent), min(1.0, bent)),
        (f"numbers in that matrix; in W₁ and W₂ {numbers}", f"{len(first) ** 2:,}", None),
    ))  # fmt: skip


def words_stored(subject: Subject) -> Evidence:
    """How many neurons are active on the token, and how many of these elsewhere too?"""
    hidden, threshold = _hidden(subject)
    awake = active(hidden, threshold)
    here = awake[subject.token]
    n, d_ff = int(here.sum()), hidden.shape[-1]
    elsewhere = awake.clone()
    elsewhere[subject.token] = False
    shared = int((here & elsewhere.any(dim=0)).sum())
    return Evidence(0 if n <= 1 else 2 if n == d_ff else 1, (
        ("neurons active on this token", f"{n:,} of {d_ff:,}", n / d_ff),
        ("of these, active on another token too", f"{shared:,}", shared / d_ff),
        ("entries of the vocabulary", f"{subject.model.sizes.vocab_size:,}", None),
    ))  # fmt: skip


@torch.inference_mode()
def attention_linear(subject: Subject) -> Evidence:
    """Attention's input is doubled: is its output, its bias taken away?"""
    attention, x = subject.double.attention, subject.attention_input
    once, twice, zero = (attention(each) for each in (x, 2 * x, torch.zeros_like(x)))
    # The weights as they were, and the values of what was doubled; both without their biases.
    held = once.weights @ (twice.values - zero.values)
    mixed = F.linear(held.transpose(-3, -2).flatten(-2), attention.project_out.weight)
    goal = 2 * (once.output - zero.output)
    off, frozen = (float((each - goal).norm() / goal.norm())
                   for each in (twice.output - zero.output, mixed))  # fmt: skip
    rows = _shares(("attention: off by", off), ("attention, its weights held: off by", frozen))
    return Evidence(0 if off < ROUNDING else 1, rows)


def gelu_sparse(subject: Subject) -> Evidence:
    """The same values before φ through ReLU and through GELU: how many are exactly 0 after it?"""
    before = subject.trace.blocks[subject.block].ffn.pre_activation.cpu()
    # z Φ(z) by its logarithm: what is tiny stays above 0, where an error function rounds it away.
    exact = before.double() * torch.special.log_ndtr(before.double()).exp()
    relu, gelu, rounded = (float((each == 0).double().mean())
                           for each in (F.relu(before), exact, F.gelu(before)))  # fmt: skip
    near = float((exact.abs() < NEAR).double().mean())
    return Evidence(1 if gelu < 0.01 else 0, (
        ("exactly 0 after ReLU", f"{relu:.1%}", relu),
        ("exactly 0 after GELU", f"{gelu:.1%}", gelu),
        ("GELU so near to 0 that float32 rounds it to 0", f"{rounded:.1%}", rounded),
        (f"nearer to 0 than {NEAR} after GELU", f"{near:.1%}", near),
    ))  # fmt: skip


def silent_is_dead(subject: Subject) -> Evidence:
    """Of the neurons that are not active on the token, how many are on no other either?"""
    hidden, threshold = _hidden(subject)
    awake = active(hidden, threshold)
    silent = ~awake[subject.token]
    n, never = int(silent.sum()), int((silent & ~awake.any(dim=0)).sum())
    d_ff = hidden.shape[-1]
    return Evidence(0 if never == n else 2 if never == 0 else 1, (
        ("not active on this token", f"{n:,} of {d_ff:,}", n / d_ff),
        (f"of these, active on no token of the {len(hidden)}", f"{never:,}", never / d_ff),
    ))  # fmt: skip


def stream_replaced(subject: Subject) -> Evidence:
    """What leaves the block, against what the FFN wrote, the sum, and the larger of the two."""
    block = subject.trace.blocks[subject.block]
    streams = (block.middle, block.ffn.output, block.output)
    middle, wrote, leaves = (each[subject.token].double() for each in streams)
    larger = torch.where(middle.abs() > wrote.abs(), middle, wrote)
    off = [float((leaves - each).norm() / leaves.norm())
           for each in (wrote, middle + wrote, larger)]  # fmt: skip
    names = ("what the FFN wrote", "the sum", "the larger of the two, entry by entry")
    rows = _shares(*((f"distance to {name}", each) for name, each in zip(names, off, strict=True)))
    return Evidence(min(range(3), key=off.__getitem__), rows)


def norm_scales(subject: Subject) -> Evidence:
    """The stream ten times as long: what does the norm before the FFN put out?

    Raises:
        NotForThisNetwork: if there is no norm before the FFN.
    """
    norm = subject.model.ffn(subject.block).norm
    if norm is None:
        raise NotForThisNetwork(f"Not for {subject.model.card.label}: no norm before its FFN.")
    x = subject.trace.blocks[subject.block].middle[subject.token]
    lengths = [float(each.norm()) for each in (x, LOUDER * x, norm(x), norm(LOUDER * x))]
    times = lengths[3] / lengths[2]
    answer = min(range(3), key=lambda at: abs((LOUDER, 1.0, 1 / LOUDER)[at] - times))
    names = ("stream", "stream, ten times as long", "norm of the stream", "norm of the longer one")
    return Evidence(answer, _shares(*zip(names, lengths, strict=True)))


def most_work(subject: Subject) -> Evidence:
    """Multiply-adds of this sentence in attention and in the FFNs."""
    shape = shape_of(subject.ours.encoder.config, len(subject.trace.tokens))
    work = multiply_adds(shape)
    attention, ffn = float(work["attention"]), float(work["FFN"])
    both = attention + ffn
    longest = 2.0 * subject.model.sizes.max_tokens
    longer = multiply_adds(replace(shape, n_tokens=int(longest)))
    share = longer["FFN"] / (longer["FFN"] + longer["attention"])
    return Evidence(1 if ffn > attention else 0 if attention > ffn else 2, (
        ("attention", f"{attention / both:.0%}", attention / both),
        ("FFNs", f"{ffn / both:.0%}", ffn / both),
        (f"FFNs, were it {longest:,.0f} tokens", f"{share:.0%}", share),
    ))  # fmt: skip


@torch.inference_mode()
def neuron_order(subject: Subject) -> Evidence:
    """The hidden neurons change places: in both matrices, and in W₁ alone."""
    ffn, x = subject.ffn, subject.ffn_input
    hidden, whole = ffn.hidden(x), ffn(x).output
    order = torch.randperm(hidden.shape[-1], generator=torch.Generator().manual_seed(SEED))
    weight, bias = ffn.compress.weight, ffn.compress.bias
    both, first = (F.linear(hidden[..., order], each, bias) for each in (weight[:, order], weight))
    off = [float((each - whole).norm() / whole.norm()) for each in (both, first)]
    rows = _shares(("shuffled in W₁ and W₂ alike: off by", off[0]),
                   ("shuffled in W₁ alone: off by", off[1]))  # fmt: skip
    return Evidence(0 if off[0] < ROUNDING else 1, rows)


def logits_shifted(subject: Subject) -> Evidence:
    """10 is added to every logit: what becomes of the likeliest word's probability?"""
    logits = subject.trace.logits_at(subject.token).double()
    chances = [float(each.softmax(dim=-1).max()) for each in (logits, logits + LOUDER, 2 * logits)]
    same = abs(chances[1] - chances[0]) < 1e-9
    names = ("as it is", "10 added to every logit", "every logit doubled")
    rows = tuple((name, f"{each:.1%}", each) for name, each in zip(names, chances, strict=True))
    return Evidence(1 if same else 0 if chances[1] > chances[0] else 2, rows)


def _hidden(subject: Subject) -> tuple[Tensor, float]:
    hidden = subject.trace.blocks[subject.block].ffn.hidden
    return hidden, threshold_for(subject.model.card.phi)
