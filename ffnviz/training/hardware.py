"""What a run was made on, in words."""

import os
import platform
from pathlib import Path

import torch


def hardware(device: torch.device) -> str:
    """The device in words, with the software that matters for the numbers."""
    if device.type == "cuda":
        where = torch.cuda.get_device_name(device)
    else:
        where = f"{processor()}, {torch.get_num_threads()} of {os.cpu_count()} cores"
    return f"{where}; PyTorch {torch.__version__}; bfloat16 autocast"


def processor() -> str:
    """The processor's name, as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
