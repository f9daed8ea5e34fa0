"""What a network must be like to be proved: asked when it is opened, and mostly at each pass."""

import torch
from torch import nn

from ffnviz.models.external.compare import TOLERANCE
from ffnviz.models.external.memory import dtype_name
from ffnviz.models.external.refusal import CannotOpenError


def check_mode(in_training: bool, name: str) -> None:
    """Check that each pass is like the one before.

    Raises:
        CannotOpenError: in training mode.
    """
    if in_training:
        raise CannotOpenError(
            name, "it is in training mode, in which dropout makes each pass another one. Call "
            "model.eval() first",
        )  # fmt: skip


def check_weights(model: nn.Module, name: str) -> None:
    """Check that all weights are on one device, and of a kind that equations are tested in.

    Raises:
        CannotOpenError: if they are not.
    """
    kinds = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    where = {weight.device for weight in model.parameters()}
    if torch.device("meta") in where or len(where) != 1:
        raise CannotOpenError(
            name, "its weights are not all on one device. Load it without a device map"
        )
    if not kinds or not kinds <= set(TOLERANCE):
        names = ", ".join(sorted(map(dtype_name, kinds))) or "no floating-point weights"
        raise CannotOpenError(
            name, f"its weights are of a kind that the equations are not tested in ({names})"
        )


@torch.no_grad()
def check_numbers(model: nn.Module, name: str) -> None:
    """Check that all weights are numbers.

    Raises:
        CannotOpenError: naming the first that is not.
    """
    for weight_name, weight in model.named_parameters():
        if not torch.isfinite(weight.sum(dtype=torch.float32)) and not weight.isfinite().all():
            raise CannotOpenError(
                name, f"its weight {weight_name} has values that are NaN or infinite. A training "
                "that diverged leaves such, and a damaged file: open an earlier checkpoint",
            )  # fmt: skip
