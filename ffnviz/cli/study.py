"""`ffnviz study`: every variant of the small network at its own rate, from several seeds."""

from importlib.metadata import version
from pathlib import Path

import click

from ffnviz.analysis.trainings import FAMILIES, RATE, SEEDS, STEPS, Design, Row, StudyError
from ffnviz.cli.errors import reported
from ffnviz.training.learn.study import study as study_of


@click.command()
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The log, CSV; what is in it already, or in ffnviz's own log, is not trained again.",
)
@click.option("--seeds", type=click.IntRange(1, 1_000), default=SEEDS, show_default=True)
@click.option(
    "--variant",
    "variants",
    type=click.Choice([name for family in FAMILIES for name in family]),
    multiple=True,
    help="Only this one. Repeatable; all if absent.",
)
@click.option("--steps", type=click.IntRange(1, 200_000), default=STEPS, show_default=True)
@click.option("--afresh", is_flag=True, help="Do not begin with ffnviz's own log.")
def study(out: Path, seeds: int, variants: tuple[str, ...], steps: int, *, afresh: bool) -> None:
    """Train each variant at five learning rates, then from each seed at its best, and keep a log.

    A training takes about three minutes of one core. Interrupt it at any time: the same command
    goes on.
    """
    chosen = [tuple(n for n in family if not variants or n in variants) for family in FAMILIES]
    design = Design(tuple(chosen), seeds, steps)

    def report(done: int, row: Row) -> None:
        where = "validation" if row.phase == RATE else "held-out"
        click.echo(
            f"{done} of {design.fewest} or more: {row.variant}, learning rate "
            f"{row.learning_rate:g}, seed {row.seed}: {where} loss {row.loss:.4f} nats"
        )

    with reported(StudyError):
        rows = study_of(out, design, version("ffnviz"), report, afresh=afresh)
    click.echo(f"{out}: {len(rows)} trainings.")
