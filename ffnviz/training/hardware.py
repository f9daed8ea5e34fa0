"""What a run was made on, in words."""

import torch

from ffnviz.model.device import device_name


def hardware(device: torch.device) -> str:
    """The device in words, with the software that matters for the numbers."""
    return f"{device_name(device)}; PyTorch {torch.__version__}; bfloat16 autocast"
