"""A pre-LN block as thirteen lines that can be put in any order; each is a module that runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from ffnviz.models.encoder.block import Block

PADDING = 2  # rows that only fill the sentence up, as in a batch; the mask leaves them out


@dataclass(frozen=True, eq=False)
class Variables:
    """What the lines read and write.

    Attributes:
        x: the residual stream, (N, d_model); N is T and the padding.
        y: whatever the last line made; None before one has.
        q, k, v: queries, keys and values, (n_heads, N, d_head); None before they are made.
    """

    x: Tensor
    y: Tensor | None = None
    q: Tensor | None = None
    k: Tensor | None = None
    v: Tensor | None = None


class DoesNotFitError(ValueError):
    """A line cannot run on what it is given: the message says why."""


class Line(nn.Module):
    """One line of the program, made of the block's own modules."""

    def __init__(self, code: str, step: Callable[[Variables], Variables]) -> None:
        super().__init__()
        self.code = code
        self.step = step

    def forward(self, given: Variables) -> Variables:
        """The variables after the line.

        Raises:
            DoesNotFitError: if a variable is missing, or has another shape than the line needs.
        """
        return self.step(given)


RIGHT = "abcdefghijklm"  # the ids of the lines, in the right order

CODE: Mapping[str, str] = {
    "a": "y = norm_1(x)",
    "b": "q, k, v = heads(y @ W_qkv + b_qkv)",
    "c": "y = q @ k.mT / sqrt(d_head)",
    "d": "y = y.masked_fill(~allowed, -inf)",
    "e": "y = y.softmax(dim=-1)",
    "f": "y = y @ v",
    "g": "y = join(y) @ W_o + b_o",
    "h": "x = x + y",
    "i": "y = norm_2(x)",
    "j": "y = y @ W_1 + b_1",
    "k": "y = phi(y)",
    "l": "y = y @ W_2 + b_2",
    "m": "x = x + y",
}
WRITES_X = "hm"
WRITES_HEADS = "b"


def padded(x: Tensor) -> Tensor:
    """The sentence's rows, (T, d_model), filled up with rows of noughts."""
    return torch.cat([x, x.new_zeros(PADDING, x.shape[-1])])


def allowed(n_tokens: int, causal: bool) -> Tensor:
    """Who may attend to whom, (N, N): nobody to padding; causal, nobody to what comes later."""
    n = n_tokens + PADDING
    there = (torch.arange(n) < n_tokens).expand(n, n)
    return there.tril() if causal else there


def lines_of(block: Block, n_tokens: int) -> dict[str, Line]:
    """The lines by their ids, with a block's weights."""
    attention, ffn = block.attention, block.ffn
    n, d_model, d_ff = n_tokens + PADDING, ffn.expand.in_features, ffn.expand.out_features
    heads = attention.n_heads
    d_head = d_model // heads
    may = allowed(n_tokens, attention.causal)

    def y_of(given: Variables, *shape: int) -> Tensor:
        if given.y is None:
            raise DoesNotFitError("y is not there yet: no line above makes it.")
        if shape and given.y.shape != torch.Size(shape):
            raise DoesNotFitError(
                f"It needs y of shape {shaped(shape)}; y is {shaped(given.y.shape)}."
            )
        return given.y

    def head_of(tensor: Tensor | None, name: str) -> Tensor:
        if tensor is None:
            raise DoesNotFitError(f"{name} is not there yet: no line above makes it.")
        return tensor

    def split(given: Variables) -> Variables:
        projected = attention.project_in(y_of(given, n, d_model)).unflatten(-1, (3, heads, -1))
        q, k, v = (each.transpose(-3, -2) for each in projected.unbind(-3))
        return replace(given, q=q, k=k, v=v)

    def scores(given: Variables) -> Variables:
        q, k = head_of(given.q, "q"), head_of(given.k, "k")
        return replace(given, y=q @ k.mT / math.sqrt(d_head))

    def masked(given: Variables) -> Variables:
        return replace(given, y=y_of(given, heads, n, n).masked_fill(~may, -math.inf))

    def mixed(given: Variables) -> Variables:
        v = head_of(given.v, "v")
        return replace(given, y=y_of(given, heads, n, n) @ v)

    def joined(given: Variables) -> Variables:
        y = y_of(given, heads, n, d_head).transpose(-3, -2).flatten(-2)
        return replace(given, y=attention.project_out(y))

    def added(given: Variables) -> Variables:
        return replace(given, x=given.x + y_of(given, n, d_model))

    steps: dict[str, Callable[[Variables], Variables]] = {
        "a": lambda given: replace(given, y=block.attention_norm(given.x)),
        "b": split,
        "c": scores,
        "d": masked,
        "e": lambda given: replace(given, y=y_of(given).softmax(dim=-1)),
        "f": mixed,
        "g": joined,
        "h": added,
        "i": lambda given: replace(given, y=block.ffn_norm(given.x)),
        "j": lambda given: replace(given, y=ffn.expand(y_of(given, n, d_model))),
        "k": lambda given: replace(given, y=ffn.activation.function(y_of(given))),
        "l": lambda given: replace(given, y=ffn.compress(y_of(given, n, d_ff))),
        "m": added,
    }
    return {name: Line(CODE[name], step) for name, step in steps.items()}


def shaped(shape: Sequence[int]) -> str:
    """A shape as a page writes it: (10, 2,048)."""
    return f"({', '.join(f'{size:,}' for size in shape)})"


@dataclass(frozen=True, eq=False)
class Ran:
    """What a line did.

    Attributes:
        name: the line's id.
        value: what it made, None if it did not run.
        fault: why it did not; empty if it did, or if a line above did not.
    """

    name: str
    value: Tensor | None
    fault: str = ""


@torch.inference_mode()
def run(lines: Mapping[str, Line], order: Sequence[str], x: Tensor) -> list[Ran]:
    """Every line in an order, on the block's input, (T, d_model); behind a fault nothing runs."""
    given, done = Variables(padded(x)), []
    for at, name in enumerate(order):
        try:
            given = lines[name](given)
        except DoesNotFitError as error:
            done.append(Ran(name, None, str(error)))
            return done + [Ran(other, None) for other in order[at + 1 :]]
        result = given.x if name in WRITES_X else given.v if name in WRITES_HEADS else given.y
        done.append(Ran(name, result))
    return done


def of_sentence(value: Tensor, n_tokens: int) -> Tensor:
    """The part of a line's result that is about the sentence's own tokens."""
    n = n_tokens + PADDING
    rows = value[..., :n_tokens, :]
    return rows[..., :n_tokens] if value.shape[-1] == n and value.dim() == 3 else rows


def off_by(value: Tensor, real: Tensor, n_tokens: int) -> float:
    """‖value − real‖ / ‖real‖ over the sentence; infinite if the shapes, or what is −∞, differ."""
    if value.shape != real.shape:
        return math.inf
    a, b = of_sentence(value, n_tokens), of_sentence(real, n_tokens)
    if not torch.equal(a.isfinite(), b.isfinite()):
        return math.inf
    some = b.isfinite()
    return float((a[some] - b[some]).norm() / b[some].norm())
