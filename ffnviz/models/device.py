"""Where a network runs, in words."""

import os
import platform
from pathlib import Path

import torch


def usable_device(name: str | torch.device) -> torch.device:
    """The device by its name, once it has computed something.

    Raises:
        RuntimeError: in a sentence, if there is no such device, or it cannot compute.
    """
    try:
        number = torch.zeros(1, device=name)
        number.item()  # a device that only knows shapes has none
    except Exception as error:  # unknown name, no such device, no driver: each another kind
        reason = str(error).partition("\n")[0].partition(". ")[0]
        short = 0 < len(reason) < 80  # else it is PyTorch's own affairs
        because = f" ({reason})" if short else ""
        raise RuntimeError(
            f"{str(name)!r} cannot be used here{because}: give cpu, cuda or mps."
        ) from error
    return number.device


def device_name(device: torch.device) -> str:
    """The GPU's name, or the processor's with how many of its cores PyTorch uses."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "mps":
        return f"Apple GPU of {processor()}"
    return f"{processor()}, {torch.get_num_threads()} of {os.cpu_count()} cores"


def processor() -> str:
    """The processor's name, as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
