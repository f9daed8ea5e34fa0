"""Which network of somebody else is asked for, and how it is to be loaded."""

from dataclasses import dataclass

import torch

CPU = torch.device("cpu")


@dataclass(frozen=True)
class LoadRequest:
    """Which network, and how it is to be loaded."""

    name: str  # a folder, or a name on the Hugging Face Hub
    device: torch.device = CPU  # where it is to run
    dtype: torch.dtype | None = None  # None takes float32 for small ones on the CPU, else bfloat16
    revision: str | None = None  # on the Hub; None takes the newest
