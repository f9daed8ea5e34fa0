"""What `ffnviz index` says of the indexes that it wrote."""

from pathlib import Path
from typing import Any

import click

from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.models.external.memory import gigabytes
from ffnviz.models.network import Network


def write_tables(index: NeuronIndex, path: Path, ending: str | None) -> list[Path]:
    """Write the index as tables beside it, if an ending is given, and return their paths."""
    if ending is None:
        return []
    neurons, examples = (
        path.with_name(f"{path.stem}{name}.{ending}") for name in ("", "-examples")
    )
    index.save_table(neurons)
    index.save_table(examples, examples=True)
    return [neurons, examples]


def report_of(index: NeuronIndex, network: Network, files: list[Path]) -> dict[str, Any]:
    """What --json prints of an index."""
    return {
        "network": network.card.id,
        "files": {str(path): path.stat().st_size for path in files},
        "source": index.source,
        "texts": index.n_texts,
        "tokens": index.n_tokens,
        "blocks": [number + 1 for number in index.numbers],
        "neurons": sum(block.values.shape[1] for block in index.blocks),
        "tags": list(index.tags),
        "fires_beyond": index.threshold,
        "both_sides": index.both_sides,
        "problems": dict(index.problems),
        "fingerprint": index.network,
    }


def print_written(index: NeuronIndex, path: Path, shown_with: str, files: list[Path]) -> None:
    """Say what was written, and how to see it."""
    for problem, times in index.problems.items():
        click.echo(f"{problem}: {times:,}")
    click.echo(
        f"{path}: {index.n_texts:,} texts, {index.n_tokens:,} tokens, "
        f"{gigabytes(path.stat().st_size)}. To see it: ffnviz app {shown_with}--index {path}"
    )
    if files:
        click.echo(f"Beside it: {', '.join(map(str, files))}")
