"""The --device option."""

import click
import torch


def _usable(_context: click.Context, _option: click.Parameter, name: str) -> torch.device:
    try:
        number = torch.zeros(1, device=name)
        number.item()  # a device that only knows shapes has none
    except Exception as error:  # unknown name, no such device, no driver: each another kind
        reason = str(error).partition("\n")[0].partition(". ")[0]
        because = (
            f" ({reason})" if reason and len(reason) < 80 else ""
        )  # else PyTorch's own affairs
        raise click.BadParameter(
            f"{name!r} cannot be used here{because}: give cpu, cuda or mps."
        ) from error
    return number.device


device_option = click.option(
    "--device", default="cpu", show_default=True, callback=_usable, help="cpu, cuda or mps."
)
