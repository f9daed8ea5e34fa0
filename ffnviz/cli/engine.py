"""The options that choose between processes of this machine and a Ray cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import click

from ffnviz.cli.network import F
from ffnviz.cli.number import Number
from ffnviz.jobs.indexing.cluster import check_places, joined
from ffnviz.jobs.indexing.local import run_local
from ffnviz.jobs.indexing.ray_data import run_ray
from ffnviz.jobs.indexing.run import Engine

MOST_WORKERS = 512  # on one machine; a cluster may have more


@dataclass(frozen=True)
class EngineOptions:
    """The values of `engine_options`."""

    engine: str
    workers: int
    address: str | None
    cpus_per_worker: float
    gpus_per_worker: float

    @property
    def device(self) -> str | None:
        """The device of the workers, if an option names it; this machine may have no GPU itself."""
        return "cuda" if self.gpus_per_worker else None


def engine_options(command: F) -> F:
    """Add the options that `EngineOptions` holds."""
    options = (
        click.option(
            "--engine", type=click.Choice(("local", "ray")), default="local", show_default=True,
            help="Processes of this machine, or a Ray cluster.",
        ),
        click.option(
            "--workers", type=click.IntRange(1, 2**14), default=1, show_default=True,
            help="Processes, each with the network in it; one thread each.",
        ),
        click.option(
            "--address",
            help="Of a Ray cluster: “auto” on a machine that belongs to it, or its head's "
            "host:port. This machine alone if absent.",
        ),
        click.option(
            "--cpus-per-worker", type=Number(0, 1_024), default=1.0, show_default=True,
            help="Cores that Ray keeps for each worker.",
        ),
        click.option(
            "--gpus-per-worker", type=Number(0, 64), default=0.0, show_default=True,
            help="GPUs that Ray gives to each worker; 0.5 has two share one.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def started_engine(options: EngineOptions) -> Iterator[Engine]:
    """The chosen engine, started; it ends after the block.

    Raises:
        UsageError: for Ray's options without Ray.
        ClusterError: if the cluster is not there, or has no room.
    """
    if options.engine == "local":
        if options.address or options.gpus_per_worker or options.cpus_per_worker != 1:
            raise click.UsageError(
                "--address, --cpus-per-worker and --gpus-per-worker are Ray's: add --engine ray."
            )
        if options.workers > MOST_WORKERS:
            raise click.UsageError(f"--workers: at most {MOST_WORKERS} on one machine.")
        yield partial(run_local, workers=options.workers)
        return
    with joined(options.address):
        n, cpus, gpus = options.workers, options.cpus_per_worker, options.gpus_per_worker
        if waiting := check_places(n, cpus, gpus):
            click.echo(waiting, err=True)
        yield partial(run_ray, workers=n, cpus=cpus, gpus=gpus)
