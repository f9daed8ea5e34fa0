"""Who does what in a block, found from the values of one pass.

Its FFN (E1, E2), how that is added to the stream (E3), which module writes what the attention
adds, and its heads, where these equations hold:

A1  each row of a pattern sums to one
A2  (pattern · values of all heads) W_O + b_O is what the attention writes
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor, nn

from ffnviz.models.external.compare import TOLERANCE, best_multiple, error, rows, same, wide
from ffnviz.models.external.phi import Phi, candidates, is_elementwise
from ffnviz.models.external.refusal import NotProvedError
from ffnviz.models.external.watch import BlockPass, Call, is_leaf


def is_linear(module: nn.Module) -> bool:
    """Whether it may be a linear layer: a leaf with a matrix."""
    weight = getattr(module, "weight", None)
    is_matrix = isinstance(weight, Tensor) and weight.dim() == 2 and weight.is_floating_point()
    return is_matrix and is_leaf(module)


def as_product(call: Call) -> tuple[Tensor, Tensor | None, float]:
    """W, (in, out), and b of output = input W + b, and its error; nn.Linear stores Wᵀ, others W."""
    # Detached, as the weights of a network in memory may require gradients.
    weight: Tensor = call.module.get_parameter("weight").detach()
    bias = getattr(call.module, "bias", None)
    read, wrote = rows(call.input), rows(call.output)
    bias = bias.detach() if isinstance(bias, Tensor) else None
    best: tuple[Tensor, Tensor | None, float] = (weight, bias, float("inf"))
    for matrix in (weight.mT, weight):
        if matrix.shape == (read.shape[1], wrote.shape[1]) and read.dtype == matrix.dtype:
            product = read @ matrix
            apart = error(product if bias is None else product + bias, wrote)
            if apart < best[2]:
                best = (matrix, bias, apart)
    return best


NEAR_DOWN = 3  # linear layers before the last one, among which the first must be


@dataclass(frozen=True, eq=False)
class FfnRoles:
    """hidden = φ(pre) [· value], written = hidden W2 + b2."""

    down: Call  # the last linear layer; its input is hidden
    up: Call  # makes pre; gated, the value; fused, both side by side
    gate: Call | None  # makes pre, where that is a layer of its own
    half: int | None  # fused, which half is pre: 0 or 1
    phi: Phi  # φ
    values: Tensor  # W2 as (d_ff, d_model)
    output_bias: Tensor | None  # b2
    product_error: float  # the largest error of E1, as a share of the largest value
    phi_error: float  # of E2

    @property
    def gated(self) -> bool:
        """Whether φ(pre) is multiplied by a value."""
        return self.gate is not None or self.half is not None

    @property
    def d_ff(self) -> int:
        """Hidden units."""
        return self.down.input.shape[-1]

    def stages(self, x: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Pre-activation, value if gated, and hidden, (…, d_ff), by the network's own modules."""
        gate = None if self.gate is None else self.gate.module(x)
        pre, value = split(self.up.module(x), gate, self.half)
        hidden = self.phi(pre)
        return pre, value, hidden if value is None else hidden * value

    def projections(self) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
        """Keys, key bias, gated value and its bias, (d_ff, d_model) and (d_ff,) each."""
        matrix, bias, _ = as_product(self.up)
        if self.gate is not None:
            keys, key_bias, _ = as_product(self.gate)
            return keys.mT, key_bias, matrix.mT, bias
        if self.half is None:
            return matrix.mT, bias, None, None
        halves = matrix.mT.chunk(2, 0)
        biases = (None, None) if bias is None else bias.chunk(2, 0)
        other = 1 - self.half
        return halves[self.half], biases[self.half], halves[other], biases[other]


def split(up: Tensor, gate: Tensor | None, half: int | None) -> tuple[Tensor, Tensor | None]:
    """Pre-activation and value from what the first linear layers wrote."""
    if half is not None:
        parts = up.chunk(2, -1)
        return parts[half], parts[1 - half]
    return (up, None) if gate is None else (gate, up)


@torch.no_grad()
def find_ffn(seen: BlockPass) -> FfnRoles:
    """The FFN of a block, found by its last layer, whose input is φ of what earlier ones wrote."""
    tolerance, closest = TOLERANCE[seen.input.dtype], float("inf")
    layers = [call for call in seen.calls if is_linear(call.module)]
    d_model, n_rows = seen.input.shape[-1], len(rows(seen.input))
    for place in range(len(layers) - 1, 0, -1):
        down = layers[place]
        if down.output.shape[-1] != d_model or len(rows(down.input)) != n_rows:
            continue
        for up, gate, half in _layouts(layers[:place], down.input):
            phi_error, phi = _phi_of(seen, down.input, up, gate, half)
            closest = min(closest, phi_error)
            if phi_error <= tolerance:
                values, bias, product_error = as_product(down)
                if product_error > tolerance:
                    raise NotProvedError(
                        "E1",
                        "what its last linear layer writes is not hidden W₂ + b₂ "
                        f"({product_error:.0e} off)",
                    )
                return FfnRoles(down, up, gate, half, phi, values, bias, product_error, phi_error)
    nearest = "" if closest == float("inf") else f" (the nearest is {closest:.0e} off)"
    raise NotProvedError(
        "E2",
        "what a linear layer then reads is neither φ(pre) nor φ(pre) · value. It may be a mixture "
        f"of experts, have a norm inside the FFN, or be no Transformer{nearest}",
    )


def _layouts(before: list[Call], hidden: Tensor) -> Iterator[tuple[Call, Call | None, int | None]]:
    """Each way in which layers before the last may compute pre and value: up, gate and half."""
    width, n_rows = hidden.shape[-1], len(rows(hidden))
    near = [call for call in before[-NEAR_DOWN:] if len(rows(call.output)) == n_rows]
    for call in near:
        if call.output.shape[-1] == 2 * width:
            yield call, None, 0
            yield call, None, 1
    wide = [call for call in near if call.output.shape[-1] == width]
    for gate in wide:
        for up in wide:
            if up is not gate and same(gate.input, up.input):
                yield up, gate, None
    for call in wide:
        yield call, None, None


def _phi_of(
    seen: BlockPass, hidden: Tensor, up: Call, gate: Call | None, half: int | None
) -> tuple[float, Phi]:
    """The function that comes nearest to hidden, behind its error."""
    pre, value = split(up.output, None if gate is None else gate.output, half)
    best: tuple[float, Phi] = (float("inf"), torch.relu)
    for phi in candidates(seen, hidden.shape[-1]):
        try:
            activated = phi(pre)
            apart = error(activated if value is None else activated * value, hidden)
        except (RuntimeError, TypeError):
            continue  # it is not a function of one tensor
        if apart < best[0] and is_elementwise(phi, rows(pre), TOLERANCE[pre.dtype]):
            best = (apart, phi)
        if best[0] <= TOLERANCE[pre.dtype]:
            break
    return best


PRE, POST, PARALLEL = "pre", "post", "parallel"


@dataclass(frozen=True, eq=False)
class StreamRoles:
    """y = m + r w (pre), y = N(m + r w) (post), or y = x + r a + r w (parallel).

    x is the block's input, y its output, m the stream between attention and FFN, a what attention
    wrote, and w what the FFN wrote, or a norm of it. Pre, a block may go on: y = s (m + w + u).
    In Gemma 4, u is what a gate on m + w lets through of a second embedding of the token (its
    per-layer input), and s is learned.
    """

    kind: str  # "pre", "post" or "parallel"
    multiplier: float  # r, fitted
    error: float  # the largest error of E3, as a share of the largest value written
    beyond_rounding: float  # the same without the difference that rounding may make
    norm_before: Call | None  # between the stream and the FFN; None if that reads the stream itself
    middle_norm: Call | None  # post, the norm that made the stream that the FFN reads
    written_norm: Call | None  # the norm of what the FFN wrote, if there is one ("sandwich")
    stream_norm: Call | None = None  # post, the norm of the sum
    attention: Call | None = None  # parallel, what wrote a
    other: Call | None = None  # wrote u
    scale: float = 1.0  # s, fitted

    @property
    def goes_on(self) -> bool:
        """Whether the block changes the stream once more behind its FFN."""
        return self.other is not None or self.scale != 1

    @property
    def other_name(self) -> str:
        """What u is, by the module that writes it, without its norm; empty if there is no u."""
        name = self.other.name.rpartition(".")[2] if self.other else ""
        return re.sub("^post_|_norm$|_layernorm$", "", name).replace("_", " ")

    @property
    def in_words(self) -> str:
        """The equation, for people."""
        r = "" if self.multiplier == 1 else f"{self.multiplier:g} "
        written = f"{r}norm(w)" if self.written_norm else f"{r}w"
        if self.other:
            written += " + u"
        if self.kind == PARALLEL:
            return f"parallel: y = x + {r}a + {written}"
        if self.kind == POST:
            return f"post-norm: y = norm(m + {written})"
        total = f"m + {written}" if self.scale == 1 else f"s (m + {written})"
        named = f", u the {self.other_name} ({self.other.name})" if self.other else ""
        return f"{'sandwich' if self.written_norm else 'pre-norm'}: y = {total}{named}"


def find_stream(seen: BlockPass, ffn: FfnRoles) -> StreamRoles:
    """The first of the equations that holds for a block."""
    tolerance, nearest = TOLERANCE[seen.input.dtype], float("inf")
    for roles in _possible(seen, ffn):
        if roles.beyond_rounding <= tolerance:
            return roles
        nearest = min(nearest, roles.beyond_rounding)
    raise NotProvedError(
        "E3",
        "what the FFN writes is not simply added to the stream, whether before, after or "
        f"beside a norm (the nearest equation is {nearest:.0e} off)",
    )


def _possible(seen: BlockPass, ffn: FfnRoles) -> Iterator[StreamRoles]:
    x, y = rows(seen.input), rows(seen.output)
    place = seen.calls.index(ffn.down)
    norms = [  # leaves that change rows of the stream's width and are not linear layers
        call
        for call in seen.calls
        if is_leaf(call.module)
        and not is_linear(call.module)
        and call.input.shape[-1] == call.output.shape[-1] == x.shape[-1]
        and not same(call.input, call.output)
    ]
    later = [norm for norm in norms if seen.calls.index(norm) > place]
    before = next((norm for norm in norms if same(norm.output, ffn.up.input)), None)
    writes: list[tuple[Tensor, Call | None]] = [(rows(ffn.down.output), None)]
    writes += [(rows(n.output), n) for n in later if same(n.input, ffn.down.output)]
    # The stream between attention and FFN, the norm that reads it, and the one that made it.
    middles: list[tuple[Tensor, Call | None, Call | None]] = [(rows(ffn.up.input), None, before)]
    if before:
        middles.insert(0, (rows(before.input), before, None))
    for middle, norm, made_by in middles:
        for written, after in writes:
            fit = fitted(y, middle, written)
            yield StreamRoles(PRE, *fit, norm, made_by, after)
            for last in later:
                if last is not after and same(last.output, y):
                    fit = fitted(rows(last.input), middle, written)
                    yield StreamRoles(POST, *fit, norm, made_by, after, stream_norm=last)
    shared = before if before and same(before.input, seen.input) else None
    for written, after in writes:
        for call in seen.calls[:place]:
            if call.output.shape[-1] == y.shape[-1] and call.output.numel() == y.numel():
                fit = fitted(y, x, rows(call.output) + written)
                yield StreamRoles(PARALLEL, *fit, shared, None, after, attention=call)
    others = [
        call
        for call in seen.calls[place + 1 :]
        if call.output.shape == seen.output.shape and not same(call.input, ffn.down.output)
    ]
    for (middle, norm, made_by), (written, after) in product(middles, writes):
        for other in (None, *others) if middle.shape == y.shape else ():
            if other is None or not same(other.output, written):
                s, apart, beyond = _fitted_whole(y, middle, written, other)
                yield StreamRoles(
                    PRE, 1.0, apart, beyond, norm, made_by, after, other=other, scale=s
                )


def _fitted_whole(
    y: Tensor, middle: Tensor, written: Tensor, other: Call | None
) -> tuple[float, float, float]:
    """The s for which s (m + w + u) is nearest to y, and two errors as `fitted` has them."""
    w, rest = wide(written), wide(middle)
    if other is not None:
        rest = rest + wide(rows(other.output))
    s = fitted(y, torch.zeros_like(y), rest + w)[0] or 1.0
    change = wide(y) / s - rest
    slack = 4 * torch.finfo(y.dtype).eps * (wide(middle.abs()) + rest.abs() + (wide(y) / s).abs())
    return s, error(change, w), error(change, w, slack)


ROUNDING = 1e-6  # a share; in float64 a number that was written in float32 is kept as it is


@torch.no_grad()
def fitted(sum_: Tensor, first: Tensor, written: Tensor) -> tuple[float, float, float]:
    """The r for which first + r·written is nearest to the sum, and two errors of that.

    They are shares of what was written, so that a large stream hides nothing. The second leaves
    out what rounding of the sum itself may make.
    """
    if first.numel() != sum_.numel() or written.numel() != sum_.numel():
        return 1.0, float("inf"), float("inf")
    change, w = wide(sum_) - wide(first), wide(written)
    r = best_multiple(w, change)
    slack = 4 * torch.finfo(sum_.dtype).eps * wide(first.abs() + sum_.abs())
    round_r = float(f"{r:.3g}")  # as it was written, if that fits as well
    more = min(ROUNDING, 0.1 * TOLERANCE[sum_.dtype])
    if error(change, round_r * w, slack) <= 2 * error(change, r * w, slack) + more:
        r = round_r
    return r, error(change, r * w), error(change, r * w, slack)


@dataclass(frozen=True, eq=False)
class HeadRoles:
    """Where a block's heads are recorded."""

    place: int  # of their product among the block's products of patterns and values
    reads: nn.Module  # the first module that reads what the attention reads
    out: Call  # W_O: what it read and wrote when it was proved
    n_heads: int


@dataclass(frozen=True, eq=False)
class AttentionRoles:
    """m = x + r a, before any norm of the sum."""

    module: nn.Module  # writes a
    multiplier: float  # r, fitted
    heads: HeadRoles | None  # None if A1 and A2 hold for no product of patterns and values


@torch.no_grad()
def find_attention(seen: BlockPass, ffn: FfnRoles, stream: StreamRoles) -> AttentionRoles | None:
    """The last module before the FFN, run once, whose output was added to the stream; or None."""
    if stream.attention is not None:  # parallel
        heads = _find_heads(seen, ffn, stream.attention)
        return AttentionRoles(stream.attention.module, stream.multiplier, heads)
    norm = stream.norm_before or stream.middle_norm
    x, total = rows(seen.input), rows(norm.input if norm else ffn.up.input)
    modules = [call.module for call in seen.calls]
    for call in reversed(seen.calls[: seen.calls.index(ffn.up)]):
        if call.output.numel() == x.numel() and call.output.shape[-1] == x.shape[-1]:
            r, _, apart = fitted(total, x, rows(call.output))
            if apart <= TOLERANCE[seen.input.dtype] and modules.count(call.module) == 1:
                return AttentionRoles(call.module, r, _find_heads(seen, ffn, call))
    return None


def _find_heads(seen: BlockPass, ffn: FfnRoles, wrote: Call) -> HeadRoles | None:
    """The product of patterns and values that what was written, or a norm of it, comes from."""
    of_ffn = (ffn.up, ffn.gate, ffn.down)
    linear = [call for call in seen.calls if is_linear(call.module) and call not in of_ffn]
    for place, mix in enumerate(seen.mixes):
        sums = wide(mix.weights).sum(-1)
        a1 = error(sums, sums.new_ones(sums.shape))
        for call in linear:
            if same(call.output, wrote.output) or same(call.output, wrote.input):
                a2 = max(error(mix.gathered, call.input), as_product(call)[2])
                if max(a1, a2) <= TOLERANCE[seen.input.dtype]:
                    return HeadRoles(place, linear[0].module, call, mix.weights.shape[1])
    return None
