"""The --threads option."""

import os
from collections.abc import Callable
from typing import Any

import click
import torch

MOST = 4 * (os.cpu_count() or 1)  # more never help, and 100,000 crash PyTorch


def _set(_context: click.Context, _option: click.Parameter, n_threads: int | None) -> None:
    if n_threads is not None:
        torch.set_num_threads(n_threads)


def threads_option(default: int | None = None) -> Callable[[Any], Any]:
    """The --threads option, applied as it is read; without a default, PyTorch's own choice."""
    choice = "" if default else " PyTorch's choice if absent."
    return click.option(
        "--threads",
        type=click.IntRange(1, MOST),
        default=default,
        show_default=default is not None,
        callback=_set,
        expose_value=False,
        help=f"On the CPU; at most 4 for each of its {os.cpu_count()} cores.{choice}",
    )
