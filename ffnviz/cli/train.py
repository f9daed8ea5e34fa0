"""`ffnviz train`: make a twin from a folder of books."""

from dataclasses import replace
from pathlib import Path

import click
import torch

from ffnviz.cli.device import device_option
from ffnviz.cli.progress import bar
from ffnviz.cli.threads import threads_option
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.atomic import check_writable
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.folder import ModelFolderError, check_place
from ffnviz.training.corpus import CorpusError
from ffnviz.training.loop import CheckpointError, Progress
from ffnviz.training.recipe import HELD_OUT, Recipe
from ffnviz.training.twin import make_twin, prepare


@click.command()
@click.option(
    "--corpus",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder of .txt books, a paragraph a line.",
)
@click.option(
    "--activation", type=click.Choice(list(ACTIVATIONS)), default="relu", show_default=True
)
@click.option("--out", type=click.Path(path_type=Path), help="Model folder to write.")
@click.option(
    "--work",
    type=click.Path(path_type=Path),
    default=Path(".training"),
    show_default=True,
    help="Folder for the tokenizer and the checkpoint; a run goes on from what is there.",
)
@click.option("--steps", type=click.IntRange(1, 10**9), default=Recipe.steps, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=Recipe.seed, show_default=True)
@click.option(
    "--hold-out",
    multiple=True,
    default=HELD_OUT,
    show_default=True,
    help="Name of a book kept for validation; may be given more than once.",
)
@threads_option()
@device_option
def train(
    corpus: Path,
    activation: str,
    out: Path | None,
    work: Path,
    steps: int,
    seed: int,
    hold_out: tuple[str, ...],
    device: torch.device,
) -> None:
    """Train the tokenizer and a twin on a folder of books.

    Interrupt it at any time: the same command goes on from its last checkpoint.
    """
    recipe = replace(Recipe(), steps=steps, seed=seed, held_out=tuple(hold_out))
    config = EncoderConfig(activation=activation)
    checkpoint = work / f"{activation}.checkpoint"
    out = out or Path("assets/models") / activation
    try:
        check_place(out)
        check_writable(work)
        click.echo("Reading the books …")
        tokenizer, encoded = prepare(corpus, recipe, config.vocab_size, work)
        click.echo(
            f"{len(encoded.training):,} tokens to train on, {len(encoded.validation):,} held out."
        )
        with _ProgressBar(recipe) as shown:
            record = make_twin(
                config, recipe, tokenizer, encoded, checkpoint, out, device, shown.show
            )
    except (CorpusError, CheckpointError, ModelFolderError) as error:
        raise click.ClickException(str(error)) from error
    final = record["final"]
    click.echo(
        f"{out}: loss {final['loss']:.3f} nats, top-1 {final['top1']:.1%}, "
        f"top-5 {final['top5']:.1%} on {final['n_masked']:,} masked tokens of unseen books."
    )


class _ProgressBar:
    """A progress bar of tokens, tokens a second, and the loss."""

    def __init__(self, recipe: Recipe) -> None:
        total = recipe.steps * recipe.batch_tokens
        self._bar = bar(total=total, unit=" tokens", unit_scale=True, smoothing=0.05)
        self._last: Progress | None = None

    def show(self, progress: Progress) -> None:
        if self._last is None:  # a resumed run starts where it was
            self._bar.initial = self._bar.n = progress.tokens
        else:
            self._bar.update(progress.tokens - self._last.tokens)
        self._bar.set_postfix(step=progress.step, loss=f"{progress.loss:.3f}")
        self._last = progress

    def __enter__(self) -> "_ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
