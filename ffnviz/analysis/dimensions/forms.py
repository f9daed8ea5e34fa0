"""One FFN written in four ways, with the same result: rows, columns, NumPy, and a batch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.spread import Progress, Spread, in_turn
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.PLAIN_FFN,)
BATCH, TOKENS = 32, 128  # as in the usual example, (32, 128, 512)
SEED = 31

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """One way of writing the FFN."""

    n_tokens: int  # computed together
    shapes: tuple[Shape, Shape, Shape]  # of the input, the hidden layer, and the output
    # the largest difference to the network's own output; for the batch, to its texts one by one
    difference: float
    time: Spread  # in milliseconds


@torch.no_grad()
def forms(
    model: Network,
    trace: ForwardPass,
    block: int,
    repeats: int,
    progress: Progress = lambda _: None,
) -> dict[str, Form]:
    """Run each way: "rows", "columns" and "numpy" on the sentence, "batch" on random values.

    "numpy" is left out for a φ without a NumPy expression.

    Raises:
        NotForThisNetwork: for a gated FFN.
    """
    require(model, NEEDS)
    record, widths = trace.blocks[block].ffn, (model.sizes.d_model, model.sizes.d_ff)
    x, n = record.input, len(record.input)
    generator = torch.Generator().manual_seed(SEED)
    batch = torch.randn(BATCH, TOKENS, widths[0], generator=generator).to(model.device)
    rows, columns, by_numpy = _ways(model, block)
    tasks: dict[str, Callable[[], Tensor]] = {
        "rows": lambda: rows(x),
        "columns": lambda: columns(x.mT).mT,
        "numpy": lambda: by_numpy(x),
        "batch": lambda: rows(batch),
    }
    if not model.ffn(block).phi.numpy:
        del tasks["numpy"]
    outputs = {name: task() for name, task in tasks.items()}
    expected = dict.fromkeys(tasks, record.output)
    expected["batch"] = torch.stack([rows(text) for text in batch])
    times = in_turn(tasks, repeats, 1, model.device, progress)

    def shape(name: str, width: int) -> Shape:
        by_name: dict[str, Shape] = {"columns": (width, n), "batch": (BATCH, TOKENS, width)}
        return by_name.get(name, (n, width))

    return {
        name: Form(
            BATCH * TOKENS if name == "batch" else n,
            (shape(name, widths[0]), shape(name, widths[1]), shape(name, widths[0])),
            float((outputs[name] - expected[name]).abs().max()),
            times[name],
        )
        for name in tasks
    }


def _ways(
    model: Network, block: int
) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """φ(X W₁ + b₁) W₂ + b₂; W₂ᵀ φ(W₁ᵀ X + b₁) + b₂, tokens as columns; the first in NumPy."""
    ffn = model.ffn(block)
    phi, w1, w2 = ffn.phi.function, ffn.keys.mT, ffn.values
    b1 = w1.new_zeros(w1.shape[1]) if ffn.key_bias is None else ffn.key_bias
    b2 = w2.new_zeros(w2.shape[1]) if ffn.output_bias is None else ffn.output_bias
    arrays = [weights.detach().cpu().float().numpy() for weights in (w1, b1, w2, b2)]

    def rows(x: Tensor) -> Tensor:
        return phi(x @ w1 + b1) @ w2 + b2

    def columns(x: Tensor) -> Tensor:
        return w2.mT @ phi(w1.mT @ x + b1[:, None]) + b2[:, None]

    def by_numpy(x: Tensor) -> Tensor:
        w1, b1, w2, b2 = arrays
        z = x.cpu().numpy() @ w1 + b1
        output = ffn.phi.in_numpy(z).astype(np.float32) @ w2 + b2
        return torch.from_numpy(output).to(x.device)

    return rows, columns, by_numpy
