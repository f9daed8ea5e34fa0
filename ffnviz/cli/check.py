"""`ffnviz check`: whether a network can be shown, and what was proved of it."""

import time

import click
import torch

from ffnviz.cli.device import device_option
from ffnviz.cli.network import dtype_option, revision_option
from ffnviz.cli.threads import threads_option
from ffnviz.models.config import NetworkRequest
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.external.memory import gigabytes
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import open_external
from ffnviz.models.registry import is_ours, load_request


@click.command()
@click.argument("path_or_id")
@dtype_option
@revision_option
@device_option
@threads_option()
def check(path_or_id: str, dtype: str | None, revision: str | None, device: torch.device) -> None:
    """Prove the equations of a network's FFNs: a folder, or a name on the Hugging Face Hub.

    It says how large the network is before it loads it, and then, for every block, the largest
    error of each equation. What cannot be proved is refused, with the equation and the block.
    """
    if is_ours(path_or_id):
        click.echo(f"{path_or_id} is one of ours: its modules record what they do themselves.")
        return
    started = time.perf_counter()
    try:
        request = load_request(NetworkRequest(path_or_id, dtype, revision), device)
        network = open_external(request, say=click.echo)
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    click.echo("\n".join(described(network)))
    click.echo(f"Proved in {time.perf_counter() - started:.1f} s, loading included. To see it: "
               f"ffnviz app --model {path_or_id}")  # fmt: skip


def described(network: ExternalNetwork) -> list[str]:
    """The lines that say what was proved of a network."""
    card, sizes = network.card, network.sizes
    kinds = dict.fromkeys(proved.stream.in_words for proved in network.proof.blocks)
    head = "predicts words" if card.has_word_head else "has no word head: it predicts no words"
    reads = "reads from left to right" if card.causal else "reads both ways"
    mask = f" and fills in {network.tokenizer.mask}" if card.has_mask else ""
    return [
        f"{sizes.n_blocks} blocks, d_model {sizes.d_model:,}, d_ff {sizes.d_ff:,}, "
        f"{card.phi.label}{' (gated)' if card.gated else ''}, {sizes.vocab_size:,} words",
        f"stream: {'; '.join(kinds)}",
        f"It {reads}{mask}, and {head}.",
        f"It reads {sizes.max_tokens:,} tokens at most, whose trace keeps "
        f"{gigabytes(sizes.trace_nbytes(sizes.max_tokens))}.",
    ]
