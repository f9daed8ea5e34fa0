"""One FFN written in four ways: rows, columns, NumPy, and a batch; the same numbers from each."""

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
BATCH, TOKENS = 32, 128  # of the usual example, (32, 128, 512)
SEED = 31

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """One way of writing the FFN."""

    n_tokens: int  # how many go through together
    shapes: tuple[Shape, Shape, Shape]  # of what goes in, of the hidden layer, of what comes out
    # the largest from what the network computed; of the batch, from its texts alone
    difference: float
    time: Spread  # in milliseconds


@torch.inference_mode()
def forms(
    model: Network,
    trace: ForwardPass,
    block: int,
    repeats: int,
    progress: Progress = lambda _: None,
) -> dict[str, Form]:
    """Each way run: "rows", "columns" and "numpy" on the sentence, "batch" on random values.

    "numpy" is left out for a φ that is not known in NumPy.

    Raises:
        NotForThisNetwork: for a gated FFN.
    """
    require(model, NEEDS)
    record, d_model, d_ff = trace.blocks[block].ffn, model.sizes.d_model, model.sizes.d_ff
    x, n = record.input, len(record.input)
    generator = torch.Generator().manual_seed(SEED)
    many = torch.randn(BATCH, TOKENS, d_model, generator=generator).to(model.device)
    rows, columns, by_numpy = _ways(model, block)
    tasks: dict[str, Callable[[], Tensor]] = {
        "rows": lambda: rows(x),
        "columns": lambda: columns(x.mT).mT,
        "numpy": lambda: by_numpy(x),
        "batch": lambda: rows(many),
    }
    if not model.ffn(block).phi.numpy:
        del tasks["numpy"]
    outputs = {name: task() for name, task in tasks.items()}
    expected = dict.fromkeys(tasks, record.output)
    expected["batch"] = torch.stack([rows(text) for text in many])
    times = in_turn(tasks, repeats, 1, model.device, progress)
    shapes: dict[str, tuple[Shape, Shape, Shape]] = dict.fromkeys(
        tasks, ((n, d_model), (n, d_ff), (n, d_model))
    )
    shapes["columns"] = ((d_model, n), (d_ff, n), (d_model, n))
    of_many = (BATCH, TOKENS)
    shapes["batch"] = ((*of_many, d_model), (*of_many, d_ff), (*of_many, d_model))
    return {
        name: Form(
            BATCH * TOKENS if name == "batch" else n,
            shapes[name],
            float((outputs[name] - expected[name]).abs().max()),
            times[name],
        )
        for name in tasks
    }


def _ways(
    model: Network, block: int
) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """φ(X W₁ + b₁) W₂ + b₂; W₂ᵀ φ(W₁ᵀ X + b₁) + b₂ with a token a column; the first in NumPy."""
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
