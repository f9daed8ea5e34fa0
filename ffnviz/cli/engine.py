"""The options that choose between processes of this machine and a Ray cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import click

from ffnviz.cli.number import Number
from ffnviz.jobs.indexing.cluster import check_room, joined
from ffnviz.jobs.indexing.local import run_local
from ffnviz.jobs.indexing.ray_data import run_ray
from ffnviz.jobs.indexing.run import Engine

F = TypeVar("F", bound=Callable[..., Any])
A_MACHINE = 512  # processes of one; a cluster may have more


@dataclass(frozen=True)
class Hands:
    """The values of these options."""

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
    """Add the options that `Hands` holds."""
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
def started(hands: Hands) -> Iterator[Engine]:
    """Start the chosen engine, and end it after the block.

    Raises:
        UsageError: for Ray's options without Ray.
        ClusterError: if the cluster is not there, or has no room.
    """
    if hands.engine == "local":
        if hands.address or hands.gpus_per_worker or hands.cpus_per_worker != 1:
            raise click.UsageError(
                "--address, --cpus-per-worker and --gpus-per-worker are Ray's: add --engine ray."
            )
        if hands.workers > A_MACHINE:
            raise click.UsageError(f"--workers: at most {A_MACHINE} on one machine.")
        yield partial(run_local, workers=hands.workers)
        return
    with joined(hands.address):
        each = hands.cpus_per_worker, hands.gpus_per_worker
        waiting = check_room(hands.workers, *each)
        if waiting:
            click.echo(waiting, err=True)
        yield partial(run_ray, workers=hands.workers, cpus=each[0], gpus=each[1])
