"""`ffnviz check`: whether a network can be shown, and how exactly its equations hold."""

import time
from dataclasses import asdict
from functools import partial
from typing import Any

import click
import torch

from ffnviz.cli import options
from ffnviz.models.config import NetworkRequest
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.external.memory import gigabytes
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import open_external
from ffnviz.models.external.proof import EQUATIONS, spread
from ffnviz.models.network import Network
from ffnviz.models.registry import OURS, is_ours, load


@click.command()
@click.argument("path_or_id")
@options.dtype_option
@options.revision_option
@options.device_option
@options.threads_option()
@options.json_option("Print JSON instead of a list.")
def check(
    path_or_id: str, dtype: str | None, revision: str | None, device: torch.device, as_json: bool
) -> None:
    """Check a network's equations numerically: a folder, or a name on the Hugging Face Hub.

    It says how large the network is before it loads it, and then, for every block, the largest
    error of each equation. A network whose equations do not hold is refused, with the block.
    """
    if is_ours(path_or_id):
        with options.reported(ModelFolderError):
            network = load(path_or_id, device)
        if as_json:
            options.show_json(_about(network))
            return
        click.echo(f"{path_or_id}: {OURS}")
        return
    started = time.perf_counter()
    with options.reported(ModelFolderError):
        request = NetworkRequest(path_or_id, dtype, revision)
        network = open_external(request, device, say=partial(click.echo, err=as_json))
    if as_json:
        options.show_json(_report(network) | {"seconds": time.perf_counter() - started})
        return
    click.echo("\n".join(_proof_lines(network)))
    click.echo(
        f"Checked in {time.perf_counter() - started:.1f} s, loading included. To see it: "
        f"ffnviz app --model {path_or_id}"
    )


def _proof_lines(network: ExternalNetwork) -> list[str]:
    """What was found of a network, for a terminal."""
    card, sizes = network.card, network.sizes
    kinds = dict.fromkeys(proved.stream.in_words for proved in network.proof.blocks)
    scales = {proved.stream.scale for proved in network.proof.blocks}
    s = "" if scales == {1} else f"; s = {spread(scales)}"
    head = "predicts words" if card.has_word_head else "has no word head: it predicts no words"
    reads = "reads from left to right" if card.causal else "reads both ways"
    mask = f" and fills in {network.tokenizer.mask}" if card.has_mask else ""
    return [
        f"{sizes.n_blocks} blocks, d_model {sizes.d_model:,}, d_ff {sizes.d_ff:,}, "
        f"{card.phi.label}{' (gated)' if card.gated else ''}, {sizes.vocab_size:,} words",
        f"stream: {'; '.join(kinds)}{s}",
        f"It {reads}{mask}, and {head}.",
        f"It reads {sizes.max_tokens:,} tokens at most; their trace takes "
        f"{gigabytes(sizes.trace_nbytes(sizes.max_tokens))}.",
    ]


def _report(network: ExternalNetwork) -> dict[str, Any]:
    """What was found, with the largest error of each equation as a share of the largest value."""
    proof = network.proof
    return _about(network) | {
        "equations": {
            name: {"says": says, "error": proof.errors[name]} for name, says in EQUATIONS.items()
        },
        "tolerance": proof.tolerance,
        "streams": [proved.stream.in_words for proved in proof.blocks],
        "scales": [proved.stream.scale for proved in proof.blocks],
        "attention_seen": [bool(each.attention and each.attention.heads) for each in proof.blocks],
        "loaded": network.about,
    }


def _about(network: Network) -> dict[str, Any]:
    """What any network says of itself."""
    card = network.card
    return {
        "network": card.id,
        "label": card.label,
        "ours": card.ours,
        **asdict(network.sizes),
        "activation": card.phi.name,
        "gated": card.gated,
        "causal": card.causal,
        "has_mask": card.has_mask,
        "has_word_head": card.has_word_head,
        "pre_norm": card.pre_norm,
        "fingerprint": network.fingerprint,
    }
