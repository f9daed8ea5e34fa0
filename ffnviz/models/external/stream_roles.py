"""How a block's FFN is added to the stream, found from the values of one pass: equation E3."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from ffnviz.models.external.compare import TOLERANCE, best_multiple, error, rows, same, wide
from ffnviz.models.external.ffn_roles import FfnRoles
from ffnviz.models.external.linear import is_linear
from ffnviz.models.external.refusal import NotProvedError
from ffnviz.models.external.watch import BlockPass, Call, is_leaf

PRE, POST, PARALLEL = "pre", "post", "parallel"


@dataclass(frozen=True, eq=False)
class StreamRoles:
    """y = m + r w (pre), y = N(m + r w) (post), or y = x + r a + r w (parallel).

    x is the block's input, y its output, m the stream between attention and FFN, a what attention
    wrote, and w what the FFN wrote, or a norm of it.
    """

    kind: str  # "pre", "post" or "parallel"
    # between the stream and the FFN; None if the FFN reads the stream itself
    norm_before: Call | None
    middle_norm: Call | None  # post, the norm that made the stream that the FFN reads
    written_norm: Call | None  # the norm of what the FFN wrote, if there is one ("sandwich")
    stream_norm: Call | None  # post, the norm of the sum
    attention: Call | None  # parallel, what wrote a
    multiplier: float  # r, fitted
    error: float  # the largest error of E3, as a share of the largest value written
    beyond_rounding: float  # the same without the difference that rounding may make

    @property
    def in_words(self) -> str:
        """The equation, for people."""
        r = "" if self.multiplier == 1 else f"{self.multiplier:g} "
        written = f"{r}norm(w)" if self.written_norm else f"{r}w"
        if self.kind == PARALLEL:
            return f"parallel: y = x + {r}a + {written}"
        if self.kind == POST:
            return f"post-norm: y = norm(m + {written})"
        return f"{'sandwich' if self.written_norm else 'pre-norm'}: y = m + {written}"


def find_stream(seen: BlockPass, ffn: FfnRoles, number: int) -> StreamRoles:
    """The first of the equations that holds for a block.

    Raises:
        NotProvedError: E3 if none does.
    """
    tolerance, nearest = TOLERANCE[seen.input.dtype], float("inf")
    for roles in _possible(seen, ffn):
        if roles.beyond_rounding <= tolerance:
            return roles
        nearest = min(nearest, roles.beyond_rounding)
    more = _more_summands(seen, ffn)
    if more:
        raise NotProvedError("E3", more, number)
    raise NotProvedError(
        "E3", "what the FFN writes is not simply added to the stream; before, after or beside a "
        f"norm (the nearest equation is {nearest:.0e} off)", number,
    )  # fmt: skip


def _more_summands(seen: BlockPass, ffn: FfnRoles) -> str:
    """A sentence where y = s (m + w + u), u by a later module; empty where none makes that sum.

    Of Gemma 4's small networks u is what a gate on the new stream lets through of a second
    embedding of the token (per-layer inputs), so it is no part of the FFN.
    """
    y, place = rows(seen.output), seen.calls.index(ffn.down)
    later = [call for call in seen.calls[place + 1 :] if call.output.shape == seen.output.shape]
    middles = [ffn.up.input, *(n.input for n in _norms(seen) if same(n.output, ffn.up.input))]
    writes = [ffn.down, *(call for call in later if same(call.input, ffn.down.output))]
    for middle, written, more in product(middles, writes, later):
        if more in writes:
            continue
        w, rest = wide(rows(written.output)), wide(rows(middle)) + wide(rows(more.output))
        s = best_multiple(rest + w, wide(y))
        if error(wide(y) - s * rest, s * w) <= TOLERANCE[y.dtype]:
            scaled = "" if abs(s - 1) <= TOLERANCE[y.dtype] else f", and multiplies all by {s:.3g}"
            return (f"behind the FFN it adds what {more.name} writes to the stream, too{scaled}. "
                    "What a block adds is then not attention and FFN alone, as pages here say "
                    "(per-layer inputs of Gemma 4 are of this kind)")  # fmt: skip
    return ""


def _possible(seen: BlockPass, ffn: FfnRoles) -> Iterator[StreamRoles]:
    x, y = rows(seen.input), rows(seen.output)
    read, place = rows(ffn.up.input), seen.calls.index(ffn.down)
    norms = _norms(seen)
    later = [norm for norm in norms if seen.calls.index(norm) > place]
    before = next((norm for norm in norms if same(norm.output, read)), None)
    writes: list[tuple[Tensor, Call | None]] = [(rows(ffn.down.output), None)]
    writes += [(rows(n.output), n) for n in later if same(n.input, ffn.down.output)]
    middles = [(rows(before.input), before)] if before else []
    for middle, norm in [*middles, (read, None)]:
        made_by = before if norm is None else None
        for written, after in writes:
            fit = fitted(y, middle, written)
            yield StreamRoles(PRE, norm, made_by, after, None, None, *fit)
            for last in later:
                if last is not after and same(last.output, y):
                    fit = fitted(rows(last.input), middle, written)
                    yield StreamRoles(POST, norm, made_by, after, last, None, *fit)
    shared = before if before and same(before.input, seen.input) else None
    for written, after in writes:
        for call in seen.calls[:place]:
            if call.output.shape[-1] == y.shape[-1] and call.output.numel() == y.numel():
                fit = fitted(y, x, rows(call.output) + written)
                yield StreamRoles(PARALLEL, shared, None, after, None, call, *fit)


def _norms(seen: BlockPass) -> list[Call]:
    """Leaves that change rows of the stream's width and are no linear layers."""
    width = seen.input.shape[-1]
    return [
        call
        for call in seen.calls
        if is_leaf(call.module)
        and not is_linear(call.module)
        and call.input.shape[-1] == call.output.shape[-1] == width
        and not same(call.input, call.output)
    ]


ROUNDING = 1e-6  # a share


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
    if error(change, round_r * w, slack) <= 2 * error(change, r * w, slack) + ROUNDING:
        r = round_r
    return r, error(change, r * w), error(change, r * w, slack)
