"""The device of a training run, and the arithmetic that is fast there."""

import torch

from ffnviz.models.device import cpu_has, device_name

BFLOAT16 = ("amx_bf16", "avx512_bf16")  # without, a step took 93 s on an AMD EPYC; with float32, 3


def fast_bfloat16(device: torch.device) -> bool:
    """Whether matrices of bfloat16 are multiplied faster than of float32, and their gradients."""
    if device.type == "cpu":
        return cpu_has(*BFLOAT16)
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return True


def hardware(device: torch.device) -> str:
    """The device in words, with the software and arithmetic that matter for the numbers."""
    arithmetic = "bfloat16 autocast" if fast_bfloat16(device) else "float32"
    return f"{device_name(device)}; PyTorch {torch.__version__}; {arithmetic}"
