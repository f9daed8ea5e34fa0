"""The --device option."""

import click
import torch


def _usable(_context: click.Context, _option: click.Parameter, name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # unknown name, no such device, no driver
        reason = str(error).splitlines()[0]
        raise click.BadParameter(f"{name} cannot be used ({reason}).") from error


device_option = click.option(
    "--device", default="cpu", show_default=True, callback=_usable, help="cpu, cuda or mps."
)
