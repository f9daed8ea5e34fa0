"""The files of --descriptions: what they hold, and for which network each is shown."""

from collections import Counter
from pathlib import Path

import click

from ffnviz.analysis.neurons.descriptions import Descriptions, DescriptionsError, read_descriptions
from ffnviz.cli.errors import reported
from ffnviz.models.registry import available_networks, open_network, usual_device

SHOWN = 3  # authors, and lines that were left out


def look_at_descriptions(network: str, path: Path) -> tuple[str, str]:
    """The network whose neurons a file describes, unless one is named, and a line on what it holds.

    Raises:
        ClickException: in a sentence, if it cannot be read, or describes no network here.
    """
    with reported(DescriptionsError):
        descriptions = read_descriptions(path)
    network = network or _meant(descriptions, path)
    return network, _line(descriptions, network, path)


def _meant(descriptions: Descriptions, path: Path) -> str:
    """The network that most rows name, of those here."""
    models = Counter(row.model for row in descriptions.rows)
    here = [model for model, _ in models.most_common() if model in available_networks()]
    if here:
        return here[0]
    usual = next(iter(available_networks()))
    raise click.ClickException(
        f"{path} describes “{models.most_common(1)[0][0]}”; here are "
        f"{', '.join(available_networks())}. If it is one of these: --descriptions {usual}={path}"
    )


def _line(descriptions: Descriptions, network: str, path: Path) -> str:
    opened = open_network(network, usual_device())
    sizes = opened.sizes
    neurons = {
        (row.block, row.index)
        for row in descriptions.rows
        if row.block is not None and row.block < sizes.n_blocks and row.index < sizes.d_ff
    }
    if not neurons:
        layer = "".join(row.layer for row in descriptions.rows[:1])
        raise click.ClickException(
            f"{path} describes no neuron of {opened.card.label}: its first layer is “{layer}”, "
            "where a block's number from 0 is expected."
        )
    authors = Counter(row.who or "somebody" for row in descriptions.rows).most_common(SHOWN)
    n_left_out, left_out = descriptions.n_left_out, "; ".join(descriptions.left_out[:SHOWN])
    skipped = f" Left out: {n_left_out:,} ({left_out})" if n_left_out else ""
    return (
        f"{opened.card.label}: descriptions of {len(neurons):,} neurons in {path}, by "
        f"{', '.join(name for name, _ in authors)}.{skipped}"
    )
