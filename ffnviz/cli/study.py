"""`ffnviz study`: every variant of the small network from several seeds, as one table."""

from pathlib import Path

import click

from ffnviz.analysis.trainings.table import Row, StudyError
from ffnviz.cli.errors import reported
from ffnviz.training.learn.learner import STEPS_A_MINUTE
from ffnviz.training.learn.study import study as study_of
from ffnviz.training.learn.variants import VARIANTS


@click.command()
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The table, CSV; what is in it already is not trained again.",
)
@click.option("--seeds", type=click.IntRange(1, 1_000), default=10, show_default=True)
@click.option(
    "--variant",
    "variants",
    type=click.Choice(list(VARIANTS)),
    multiple=True,
    help="Only this one. Repeatable; all if absent.",
)
@click.option("--steps", type=click.IntRange(1, 200_000), default=STEPS_A_MINUTE, show_default=True)
def study(out: Path, seeds: int, variants: tuple[str, ...], steps: int) -> None:
    """Train each variant from each seed, and keep losses and sparsities in a table.

    A training takes about a minute of one core. Interrupt it at any time: the same command goes on.
    """

    def report(done: int, total: int, row: Row) -> None:
        click.echo(f"{done} of {total}: {row.variant}, seed {row.seed}: loss {row.loss:.4f} nats")

    with reported(StudyError):
        rows = study_of(out, variants or list(VARIANTS), range(seeds), report, steps)
    click.echo(f"{out}: {len(rows)} trainings.")
