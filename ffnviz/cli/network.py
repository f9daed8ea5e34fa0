"""The options that name a network, and opening it for a command."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
import torch

from ffnviz.cli.errors import reported
from ffnviz.models.encoder.model import TWINS, Model
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.network import Network
from ffnviz.models.registry import DTYPES, load

F = TypeVar("F", bound=Callable[..., Any])

SENTENCE = "She opened the [MASK] and looked out."
revision_option = click.option(
    "--revision", help="A branch, tag or commit on the Hugging Face Hub; the newest if absent."
)
dtype_option = click.option(
    "--dtype",
    type=click.Choice(list(DTYPES)),
    help="Of networks that are not ours; what their size suggests if absent.",
)


def model_option(command: F) -> F:
    """--model with --dtype and --revision: a network of somebody else, or a folder of ours."""
    named = click.option(
        "--model",
        metavar="PATH_OR_ID",
        help="A network of your own instead: a folder, or a name on the Hugging Face Hub.",
    )
    return named(dtype_option(revision_option(command)))


def sentence_options(command: F) -> F:
    """--text and the network that reads it: --twin, or as `model_option` has it."""
    text = click.option("--text", default=SENTENCE, show_default=True)
    twin = click.option("--twin", type=click.Choice(TWINS), default=TWINS[0], show_default=True)
    return text(twin(model_option(command)))


def network_of(
    device: torch.device, twin: str, model: str | None, dtype: str | None, revision: str | None
) -> Model | ExternalNetwork:
    """Open the network that `sentence_options` name."""
    return opened(model or twin, device, dtype, revision)


def block_of(network: Network, block: int | None) -> int:
    """The number that --block gives, or the last block's.

    Raises:
        BadParameter: if there are fewer blocks.
    """
    n_blocks = network.sizes.n_blocks
    if block is not None and block > n_blocks:
        raise click.BadParameter(f"there are {n_blocks} blocks.", param_hint="--block")
    return block or n_blocks


@reported(ValueError)
def opened(
    name: str, device: torch.device, dtype: str | None = None, revision: str | None = None
) -> Model | ExternalNetwork:
    """Open a network by its name."""
    return load(name, device, dtype=dtype, revision=revision)
