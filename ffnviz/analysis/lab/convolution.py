"""The FFN as two convolutions with kernel 1."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.lab.experiment import Finding, Result, Subject, within_rounding
from ffnviz.analysis.lab.tolerances import ffn_bound
from ffnviz.analysis.number_format import short
from ffnviz.analysis.timing.growth import convolution_of


@dataclass(frozen=True)
class AsConvolution(Result):
    """The same weights as Linear and as Conv1d."""

    difference: NDArray[np.float64]  # of the outputs, in float64, (T, d_model)
    allowed: NDArray[np.float64]  # its bound by rounding, (T, d_model)
    size: float  # the largest |output|
    shapes: tuple[tuple[int, ...], ...]  # of the input, the hidden values and the output
    refused: str  # PyTorch's error without the transposes


@torch.no_grad()
def try_convolution(subject: Subject) -> AsConvolution:
    """Linear on (B, L, d) against Conv1d(kernel 1) on (B, d, L) (Vaswani et al. 2017, 3.3)."""
    ffn, x = subject.ffn, subject.ffn_input
    first, second = convolution_of(ffn.expand), convolution_of(ffn.compress)
    turned = x[None].mT  # (B, L, d_model) -> (B, d_model, L)
    hidden = ffn.activation.function(first(turned))  # (B, d_ff, L)
    output = second(hidden)  # (B, d_model, L)
    linear = ffn(x).output
    difference = (output.mT[0] - linear).abs()
    allowed = ffn_bound(ffn, x)
    largest = float(linear.abs().max())
    refused = ""
    try:
        first(x[None])
    except RuntimeError as error:
        refused = str(error).split("Given ")[-1].splitlines()[0][:160]
    findings = (
        Finding(
            "The FFN is two convolutions with kernel 1.",
            "equal outputs, up to rounding",
            f"largest difference {short(float(difference.max()))}, where rounding may cause "
            f"{short(float(allowed.max()))} and outputs reach {short(largest)}",
            within_rounding(difference, allowed),
        ).by_construction("a kernel of width 1 is W₁ at each position"),
    )
    shapes = tuple(tuple(stage.shape) for stage in (turned, hidden, output))
    return AsConvolution(
        difference.numpy(), allowed.numpy(), largest, shapes, refused, findings=findings
    )
