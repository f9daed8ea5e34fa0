"""Weights as float32 in a file that all processes of a server map, so that memory has them once.

The process that starts the others names a folder in the environment; the first that reads a network
writes the file. Model folders hold float16, which each process would convert for itself.
"""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor

FOLDER = "FFNVIZ_SHARED_WEIGHTS"  # names a folder of this server's own, removed when it ends
ALIGNED = 16  # numbers: each tensor begins where PyTorch would have it begin, at 64 bytes


def shared_file(name: str) -> Path | None:
    """The file in which this server's processes share weights; None if they do not."""
    folder = os.environ.get(FOLDER)
    return Path(folder) / f"{name}.f32" if folder else None


def mapped(weights: Mapping[str, Tensor], file: Path) -> dict[str, Tensor]:
    """The same float32 tensors, read from a mapped file, which is written if it is not there.

    Args:
        weights: the file's name must tell them from all others.
        file: from `shared_file`.

    Raises:
        OSError: if it cannot be written.
    """
    tensors = [(name, weights[name]) for name in sorted(weights)]  # safetensors has no order
    lengths = [tensor.numel() + -tensor.numel() % ALIGNED for _, tensor in tensors]
    if not file.exists():
        whole = torch.zeros(sum(lengths))
        for piece, (_, tensor) in zip(torch.split(whole, lengths), tensors, strict=True):
            piece[: tensor.numel()] = tensor.flatten()
        _write(whole, file)
    # A private mapping, so that a write here could reach no other process; none is made.
    whole = torch.from_file(str(file), shared=False, size=sum(lengths), dtype=torch.float32)
    pieces = zip(tensors, torch.split(whole, lengths), strict=True)
    return {name: piece[: tensor.numel()].view(tensor.shape) for (name, tensor), piece in pieces}


def _write(values: Tensor, file: Path) -> None:
    """Write under a temporary name; the first process to finish links the file's own name."""
    with tempfile.NamedTemporaryFile(dir=file.parent) as draft:
        values.numpy().tofile(draft)
        draft.flush()
        with suppress(FileExistsError):
            os.link(draft.name, file)
