"""The devices that networks run on."""

import os
import platform
from pathlib import Path

import torch


def usable_device(name: str | torch.device) -> torch.device:
    """The device of a name, after a first computation on it."""
    try:
        number = torch.zeros(1, device=name)
        number.item()  # the meta device, which knows shapes alone, has none
    except Exception as error:  # unknown name, no such device, no driver: each raises another type
        reason = str(error).partition("\n")[0].partition(". ")[0]
        because = f" ({reason})" if 0 < len(reason) < 80 else ""  # a longer one is for developers
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


def cpu_has(*instructions: str) -> bool:
    """Whether the processor has any of these, by PyTorch's names; PyTorch 2.5 does not tell."""
    told: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(told.get(each, False) for each in instructions)


def processor() -> str:
    """The processor's name, as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
