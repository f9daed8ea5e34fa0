"""A norm of any class as the equation gain ⊙ (x − mean) / scale + bias, found from values."""

import copy

import torch
from torch import Tensor, nn

from ffnviz.models.external.compare import error
from ffnviz.models.views import Norm

FAR, NEAR = 1e4, 1e-3  # factors that make ε negligible, or noticeable
FITS = 1e-4


@torch.no_grad()
def fitted_norm(module: nn.Module, d_model: int) -> Norm | None:
    """The LayerNorm or RMSNorm that the module is; None if it is neither.

    Gain and bias are found from long rows, for which ε is negligible: N(x) + N(−x) is twice the
    bias, and the rest is linear in the normalised row. ε is found from short rows.
    """
    try:
        kinds = {weight.dtype for weight in module.parameters()}
        kind = torch.float64 if kinds == {torch.float64} else torch.float32
        norm = copy.deepcopy(module).to(kind).cpu()
        x = torch.randn(64, d_model, generator=torch.Generator().manual_seed(0)).to(kind) + 0.5
        written = norm(FAR * x)
        bias = (written + norm(-FAR * x)).mean(0) / 2
        gain_and_shift = _closest(x, written - bias)
        if gain_and_shift is None:
            return None
        gain, centred = gain_and_shift
        eps = _eps(norm, x, gain, bias, centred)
        fitted = Norm(gain, bias if bool(bias.abs().max() > FITS) else None, eps, centred)
        tried = torch.cat([x, 0.1 * x, NEAR * x])
        if error(fitted(tried), norm(tried)) > FITS:
            return None
    except (RuntimeError, TypeError, ValueError):
        return None  # it does not even take such rows
    device = next(module.parameters(), gain).device
    bias_on_device = None if fitted.bias is None else fitted.bias.to(device)
    return Norm(gain.to(device), bias_on_device, eps, centred)


def _normalised(x: Tensor, centred: bool) -> Tensor:
    rest = x - x.mean(-1, keepdim=True) if centred else x
    return rest / rest.square().mean(-1, keepdim=True).sqrt()


def _closest(x: Tensor, written: Tensor) -> tuple[Tensor, bool] | None:
    for centred in (True, False):
        unit = _normalised(x, centred)
        gain = (written * unit).sum(0) / unit.square().sum(0)
        if error(gain * unit, written) < FITS:
            return gain, centred
    return None


def _eps(norm: nn.Module, x: Tensor, gain: Tensor, bias: Tensor, centred: bool) -> float:
    """ε, from how much shorter a short row becomes than it would be without ε."""
    unit = _normalised(x, centred)
    expected = (gain * unit).double()
    short = (norm(NEAR * unit) - bias).double()
    share = float((short * expected).sum() / expected.square().sum())
    eps = NEAR**2 * (1 / share**2 - 1)
    return max(0.0, float(f"{eps:.3g}")) if eps > 1e-13 else 0.0
