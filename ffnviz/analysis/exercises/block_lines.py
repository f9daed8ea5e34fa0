"""A pre-LN block as thirteen lines of code that run in any order in which their shapes fit."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.encoder.block import Block

PADDING = 2  # rows of padding behind the sentence, as in a batch; the mask excludes them


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables that the lines read and write.

    Attributes:
        x: the residual stream, (N, d_model); N is T + PADDING.
        y: what the last line that writes y made of it; None before one has run.
        q, k, v: queries, keys and values, (n_heads, N, d_head); None before they are computed.
    """

    x: Tensor
    y: Tensor | None = None
    q: Tensor | None = None
    k: Tensor | None = None
    v: Tensor | None = None


class DoesNotFitError(ValueError):
    """A line cannot run, as a variable is missing or has another shape: says which."""


Line = Callable[[Variables], Variables]  # raises DoesNotFitError

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


def allowed(n_tokens: int, causal: bool) -> Tensor:
    """The attention mask, (N, N): no padding is attended to; causal, no later token either."""
    n = n_tokens + PADDING
    mask = (torch.arange(n) < n_tokens).expand(n, n)
    return mask.tril() if causal else mask


def y_of(given: Variables, *shape: int) -> Tensor:
    """The variable y, of the given shape if one is given.

    Raises:
        DoesNotFitError: if there is none, or it has another shape.
    """
    y = _present(given.y, "y")
    if shape and y.shape != shape:
        raise DoesNotFitError(f"It needs y of shape {shaped(shape)}; y is {shaped(y.shape)}.")
    return y


def _present(value: Tensor | None, name: str) -> Tensor:
    if value is None:
        raise DoesNotFitError(f"{name} is not there yet: no line above makes it.")
    return value


def lines_of(block: Block, n_tokens: int) -> dict[str, Line]:
    """The lines by their ids, made of a block's own modules."""
    attention, ffn = block.attention, block.ffn
    n, d_model, d_ff = n_tokens + PADDING, ffn.expand.in_features, ffn.expand.out_features
    heads = attention.n_heads
    d_head = d_model // heads
    mask = allowed(n_tokens, attention.causal)

    def split(given: Variables) -> Variables:
        projected = attention.project_in(y_of(given, n, d_model)).unflatten(-1, (3, heads, -1))
        q, k, v = (part.transpose(-3, -2) for part in projected.unbind(-3))
        return replace(given, q=q, k=k, v=v)

    def scores(given: Variables) -> Variables:
        q, k = _present(given.q, "q"), _present(given.k, "k")
        return replace(given, y=q @ k.mT / math.sqrt(d_head))

    def mixed(given: Variables) -> Variables:
        v = _present(given.v, "v")
        return replace(given, y=y_of(given, heads, n, n) @ v)

    def joined(given: Variables) -> Variables:
        y = y_of(given, heads, n, d_head).transpose(-3, -2).flatten(-2)
        return replace(given, y=attention.project_out(y))

    def added(given: Variables) -> Variables:
        return replace(given, x=given.x + y_of(given, n, d_model))

    return {
        "a": lambda given: replace(given, y=block.attention_norm(given.x)),
        "b": split,
        "c": scores,
        "d": lambda given: replace(given, y=y_of(given, heads, n, n).masked_fill(~mask, -math.inf)),
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


def shaped(shape: Sequence[int]) -> str:
    """A shape as a page writes it: (10, 2,048)."""
    return f"({', '.join(f'{size:,}' for size in shape)})"


@dataclass(frozen=True, eq=False)
class LineResult:
    """What a line computed.

    Attributes:
        name: the line's id.
        value: the variable it wrote (v of q, k, v), None if it did not run.
        fault: why it did not run; empty if it did, or if a line above did not.
    """

    name: str
    value: Tensor | None
    fault: str = ""


@torch.no_grad()
def run(lines: Mapping[str, Line], order: Sequence[str], x: Tensor) -> list[LineResult]:
    """Run all lines in an order on the block's input, (T, d_model), up to the first fault."""
    variables, results = Variables(F.pad(x, (0, 0, 0, PADDING))), []
    for place, name in enumerate(order):
        try:
            variables = lines[name](variables)
        except DoesNotFitError as error:
            results.append(LineResult(name, None, str(error)))
            return results + [LineResult(later, None) for later in order[place + 1 :]]
        written = "x" if name in WRITES_X else "v" if name in WRITES_HEADS else "y"
        results.append(LineResult(name, getattr(variables, written)))
    return results


def of_sentence(value: Tensor, n_tokens: int) -> Tensor:
    """A line's result without the rows, and of scores the columns, of the padding."""
    n = n_tokens + PADDING
    rows = value[..., :n_tokens, :]
    return rows[..., :n_tokens] if value.shape[-1] == n and value.dim() == 3 else rows


def off_by(value: Tensor, real: Tensor, n_tokens: int) -> float:
    """‖value − real‖ / ‖real‖ over the sentence; infinite if shapes or infinite entries differ."""
    if value.shape != real.shape:
        return math.inf
    a, b = of_sentence(value, n_tokens), of_sentence(real, n_tokens)
    if not torch.equal(a.isfinite(), b.isfinite()):
        return math.inf
    finite = b.isfinite()
    return float((a[finite] - b[finite]).norm() / b[finite].norm())
