"""Which network of somebody else is asked for, and how it is to be loaded."""

from dataclasses import dataclass

import torch

CPU = torch.device("cpu")


@dataclass(frozen=True)
class LoadRequest:
    """Which network, and how it is to be loaded.

    Attributes:
        name: a folder, or a name on the Hugging Face Hub.
        device: where it is to run.
        dtype: None takes float32 for small ones on the CPU, else bfloat16.
        revision: on the Hub; None takes the newest.
    """

    name: str
    device: torch.device = CPU
    dtype: torch.dtype | None = None
    revision: str | None = None
