"""`ffnviz learn`: train a small network in a minute, or two that differ in one thing."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from ffnviz.analysis.number_format import short
from ffnviz.analysis.trainings import FAMILIES, RATE, SEEDS, STEPS, Design, Row, StudyError
from ffnviz.cli import options
from ffnviz.models.encoder.folder import check_place
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.models.text_encoding import read_text
from ffnviz.training.learn import learner as training
from ffnviz.training.learn.study import study as study_of
from ffnviz.training.learn.text import OwnTextError, text_read
from ffnviz.training.learn.variants import VARIANTS


@click.command()
@click.option(
    "--out",
    type=options.NEW_FILE,
    required=True,
    help="The log, CSV; what is in it already, or in ffnviz's own log, is not trained again.",
)
@options.shown_option("--seeds", type=click.IntRange(1, 1_000), default=SEEDS)
@click.option(
    "--variant",
    "variants",
    type=click.Choice([name for family in FAMILIES for name in family]),
    multiple=True,
    help="Only this one. Repeatable; all if absent.",
)
@options.shown_option("--steps", type=click.IntRange(1, 200_000), default=STEPS)
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

    with options.reported(StudyError):
        rows = study_of(out, design, version("ffnviz"), report, afresh=afresh)
    click.echo(f"{out}: {len(rows)} runs.")


PHIS = ("relu", "gelu", "swiglu", "identity")


@click.command()
@options.shown_option(
    "--phi", type=click.Choice(PHIS), default="relu", help="The activation function, φ."
)
@click.option(
    "--against",
    type=click.Choice(list(VARIANTS)),
    help="Train a second network too, with the same initial weights and batches.",
)
@options.shown_option(
    "--minutes",
    type=options.Number(0, 60, min_open=True),
    default=1.0,
    help=f"Minutes for each network: {training.STEPS_A_MINUTE:,} steps a minute, whatever the "
    "clock says.",
)
@click.option("--steps", type=click.IntRange(1, 200_000), help="In place of --minutes.")
@options.shown_option("--seed", type=click.IntRange(0, 2**31 - 1), default=0)
@options.shown_option(
    "--text",
    default=f"She opened the {MASK} and looked out.",
    help=f"A sentence to watch, with a {MASK}.",
)
@click.option(
    "--read",
    "file",
    type=options.FILE,
    help="A .txt of your own to train on, in place of everyday sentences.",
)
@click.option(
    "--out",
    type=options.ANY_PATH,
    help="Save the network as a folder that `ffnviz app --model` opens; if two are trained, as "
    "the folders OUT/PHI and OUT/AGAINST.",
)
@options.json_option("All that was noted, as JSON.")
def learn(
    phi: str,
    against: str | None,
    minutes: float,
    steps: int | None,
    seed: int,
    text: str,
    file: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Train a small network on everyday sentences, and watch it on one of yours.

    The same seed gives the same curve to the bit on the same machine.
    """
    plan = training.Plan(phi, text, steps or max(1, round(minutes * training.STEPS_A_MINUTE)), seed)
    try:
        plan = replace(plan, own=read_text(file) if file else "")
        text_read(plan.own)
    except (OSError, UnicodeDecodeError, OwnTextError) as error:
        raise click.ClickException(f"{file} cannot be read: {error}") from error
    names = [phi, against] if against else [phi]
    if against == phi:
        raise click.BadParameter("that is the same network.", param_hint="--against")
    folders = {name: (out / name if against else out) for name in names if out}
    with options.reported(ValueError):
        for name, folder in folders.items():
            if not VARIANTS[name].can_be_saved:
                raise click.UsageError(
                    f"A network with “{VARIANTS[name].label}” cannot be saved: leave out --out."
                )
            check_place(folder)
        learners = [training.Learner(replace(plan, name=name)) for name in names]
        courses = {learner.plan.name: _trained(learner, quiet=as_json) for learner in learners}
        for learner in learners:
            if learner.plan.name in folders:
                training.save(learner, folders[learner.plan.name])
    if as_json:
        options.show_json(_report(plan, courses))
        return
    for name, records in courses.items():
        click.echo(f"{VARIANTS[name].label}: {_in_words(records[-1])}")
    if against:
        click.echo("One run cannot decide which is better: try other seeds.")


def _trained(learner: training.Learner, *, quiet: bool) -> list[training.Record]:
    """The records of a training, with a line printed at each tenth of it unless `quiet`."""
    records = []
    label, steps = learner.plan.variant.label, learner.plan.steps
    with options.bar(total=steps, desc=label, unit=" steps") as shown:
        for record in learner.learn():
            shown.update(record.step - shown.n)
            tenth = record.step % max(training.STEPS_A_RECORD, steps // 10 // 10 * 10) == 0
            if not quiet and tenth and record.step < steps:
                shown.write(f"{label}, step {record.step:,}: {_in_words(record)}")
            records.append(record)
    return records


def _in_words(record: training.Record) -> str:
    held_out = record.held_out
    return (
        f"loss {short(held_out.loss)} nats, top-5 {held_out.top5:.1%} on held-out sentences; "
        f"{', '.join(record.words)}"
    )


def _report(plan: training.Plan, courses: dict[str, list[training.Record]]) -> dict[str, Any]:
    guessing = training.guessing_by_frequency(plan.own)
    return {
        "text": plan.text,
        "seed": plan.seed,
        "steps": plan.steps,
        "guessing_by_frequency": {"loss": guessing.loss, "top5": guessing.top5},
        "networks": {
            name: [record.to_dict() for record in records] for name, records in courses.items()
        },
    }
