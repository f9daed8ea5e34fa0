"""Who does what in a block's FFN, found from the values of one pass: equations E1 and E2."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ffnviz.models.external.compare import TOLERANCE, error, rows, same
from ffnviz.models.external.linear import as_product, is_linear
from ffnviz.models.external.phi import Phi, candidates, is_elementwise
from ffnviz.models.external.refusal import NotProvedError
from ffnviz.models.external.watch import BlockPass, Call

NEAR_DOWN = 3  # linear layers before the last one, among which the first must be


@dataclass(frozen=True, eq=False)
class FfnRoles:
    """hidden = φ(pre) [· value], written = hidden W2 + b2."""

    down: Call  # the last linear layer; its input is hidden
    up: Call  # makes pre; gated, the value; fused, both side by side
    gate: Call | None  # makes pre, where that is a layer of its own
    half: int | None  # fused, which half is pre: 0 or 1
    phi: Phi  # φ
    # values, output_bias: W2 as (d_ff, d_model), and b2
    values: Tensor
    output_bias: Tensor | None
    product_error: float  # the largest error of E1, as a share of the largest value
    phi_error: float  # of E2

    @property
    def gated(self) -> bool:
        """Whether φ(pre) is multiplied with a value."""
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
def find_ffn(seen: BlockPass, number: int) -> FfnRoles:
    """The FFN of a block, found by its last layer: its input is φ of what layers before it wrote.

    Raises:
        NotProvedError: E2 if there is none, E1 if what it writes is not hidden W2 + b2.
    """
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
                        "E1", "what its last linear layer writes is not hidden W₂ + b₂ "
                        f"({product_error:.0e} off)", number,
                    )  # fmt: skip
                return FfnRoles(down, up, gate, half, phi, values, bias, product_error, phi_error)
    nearest = "" if closest == float("inf") else f" (the nearest is {closest:.0e} off)"
    raise NotProvedError(
        "E2", "no φ(pre) or φ(pre) · value is what a linear layer then reads. It may be a mixture "
        f"of experts, have a norm inside the FFN, or be no Transformer{nearest}", number,
    )  # fmt: skip


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
            continue  # it is no function of one tensor
        if apart < best[0] and is_elementwise(phi, rows(pre), TOLERANCE[pre.dtype]):
            best = (apart, phi)
        if best[0] <= TOLERANCE[pre.dtype]:
            break
    return best
