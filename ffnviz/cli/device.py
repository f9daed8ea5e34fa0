"""The --device option."""

import click
import torch

from ffnviz.models.device import usable_device


def _usable(_context: click.Context, _option: click.Parameter, name: str) -> torch.device:
    try:
        return usable_device(name)
    except RuntimeError as error:
        raise click.BadParameter(str(error)) from error


device_option = click.option(
    "--device", default="cpu", show_default=True, callback=_usable, help="cpu, cuda or mps."
)
