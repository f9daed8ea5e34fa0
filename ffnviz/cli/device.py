"""The --device and --threads options: where a command computes."""

import os
from collections.abc import Callable
from typing import Any

import click
import torch

from ffnviz.models.device import usable_device

MOST_THREADS = 4 * (os.cpu_count() or 1)  # more never help, and 100,000 crash PyTorch


def _usable(_context: click.Context, _option: click.Parameter, name: str) -> torch.device:
    try:
        return usable_device(name)
    except RuntimeError as error:
        raise click.BadParameter(str(error)) from error


device_option = click.option(
    "--device", default="cpu", show_default=True, callback=_usable, help="cpu, cuda or mps."
)


def threads_option(default: int | None = None) -> Callable[[Any], Any]:
    """The --threads option, applied as it is read; without a default, PyTorch's own choice."""
    choice = "" if default else " PyTorch's choice if absent."
    return click.option(
        "--threads",
        type=click.IntRange(1, MOST_THREADS),
        default=default,
        show_default=default is not None,
        callback=_set_threads,
        expose_value=False,
        help=f"On the CPU; at most 4 for each of its {os.cpu_count()} cores.{choice}",
    )


def _set_threads(_context: click.Context, _option: click.Parameter, n_threads: int | None) -> None:
    if n_threads is not None:
        torch.set_num_threads(n_threads)
