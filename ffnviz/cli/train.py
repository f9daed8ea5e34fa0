"""`ffnviz train`: make a twin from a folder of books."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import torch

from ffnviz.analysis.facts import FactsError, read_facts
from ffnviz.cli import options
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.atomic import check_writable
from ffnviz.models.encoder.config import ConfigError, EncoderConfig
from ffnviz.models.encoder.folder import ModelFolderError, check_place
from ffnviz.training.corpus import Corpus, CorpusError, fact_ids, read_sentences
from ffnviz.training.loop import CheckpointError, Progress
from ffnviz.training.masking import HELD_OUT, Recipe
from ffnviz.training.twin import make_twin, prepare, read_earlier

SIZES = ("d_model", "d_ff", "n_blocks", "n_heads", "vocab_size")
share_option = partial(options.shown_option, type=options.Number(0, 1))


@click.command()
@click.option(
    "--corpus",
    type=options.FOLDER,
    required=True,
    help="Folder of .txt books, one paragraph on each line.",
)
@click.option(
    "--sentences", type=options.FILE, help="File of single sentences, one a line, to train on too."
)
@share_option(
    "--sentence-share", default=0.5, help="Share of the training steps that read --sentences."
)
@click.option(
    "--facts",
    type=options.FILE,
    help="File of facts in several wordings to train on too, such as assets/facts/facts.toml.",
)
@share_option("--fact-share", default=0.2, help="Share of the steps made of --facts.")
@click.option(
    "--from",
    "earlier",
    type=options.FOLDER,
    help="Folder of a trained model to go on from: its weights, tokenizer and activation, "
    "whatever --activation says. Needs --out.",
)
@share_option(
    "--keep",
    default=0.0,
    help="With --from: how much of the earlier weights is mixed into what is written.",
)
@options.shown_option("--activation", type=click.Choice(list(ACTIVATIONS)), default="relu")
@click.option("--d-model", type=click.IntRange(1), help="Width of the stream [default: 512].")
@click.option("--d-ff", type=click.IntRange(1), help="Hidden neurons of each FFN [default: 2048].")
@click.option("--blocks", "n_blocks", type=click.IntRange(1), help="Blocks [default: 2].")
@click.option("--heads", "n_heads", type=click.IntRange(1), help="Attention heads [default: 8].")
@click.option(
    "--vocabulary", "vocab_size", type=click.IntRange(1), help="Tokens in it [default: 8192]."
)
@click.option("--out", type=options.ANY_PATH, help="Model folder to write.")
@options.shown_option(
    "--work",
    type=options.ANY_PATH,
    default=Path(".training"),
    help="Folder for the tokenizer and the checkpoint; a run goes on from what is there.",
)
@options.shown_option("--steps", type=click.IntRange(1, 10**9), default=Recipe.steps)
@options.shown_option(
    "--learning-rate",
    type=options.Number(0, 1, min_open=True),
    default=Recipe.learning_rate,
    help="The highest learning rate, after the warm-up.",
)
@options.shown_option("--warmup-steps", type=click.IntRange(0), default=Recipe.warmup_steps)
@options.shown_option(
    "--points",
    type=click.IntRange(2),
    default=Recipe.points,
    help="How often the held-out text is looked at on the way.",
)
@options.shown_option("--seed", type=click.IntRange(0, 2**63 - 1), default=Recipe.seed)
@options.shown_option(
    "--hold-out",
    multiple=True,
    default=HELD_OUT,
    help="Name of a book kept for validation; may be given more than once.",
)
@options.threads_option()
@options.device_option
def train(
    corpus: Path,
    sentences: Path | None,
    sentence_share: float,
    facts: Path | None,
    fact_share: float,
    earlier: Path | None,
    keep: float,
    activation: str,
    out: Path | None,
    work: Path,
    device: torch.device,
    hold_out: tuple[str, ...],
    **values: Any,
) -> None:
    """Train the tokenizer and a twin on a folder of books.

    Interrupt it at any time: the same command goes on from its last checkpoint.
    """
    sizes = {name: size for name in SIZES if (size := values.pop(name)) is not None}
    share = sentence_share if sentences else 0.0
    of_facts = fact_share if facts else 0.0
    recipe = Recipe(sentence_share=share, fact_share=of_facts, held_out=hold_out, **values)
    if earlier and (out is None or out.resolve() == earlier.resolve()):
        raise click.UsageError(
            "--from needs --out: the network that it goes on from is not overwritten."
        )
    if keep and not earlier:
        raise click.UsageError("--keep needs --from: there are no earlier weights to keep.")
    if earlier and sizes:
        raise click.UsageError(
            "With --from the sizes are those of the network that it goes on "
            "from: leave out the options for sizes."
        )
    with options.reported(ConfigError, CorpusError, FactsError, CheckpointError, ModelFolderError):
        first = read_earlier(earlier) if earlier else None
        config = first.encoder.config if first else EncoderConfig(activation=activation, **sizes)
        checkpoint = work / f"{config.activation}.checkpoint"
        out = out or Path("assets/models") / config.activation
        check_place(out)
        check_writable(work)
        click.echo("Reading the books …")
        tokenizer, encoded = prepare(
            corpus, recipe, config.vocab_size, work, first.tokenizer if first else None
        )
        if sentences:
            single = read_sentences(sentences, tokenizer, config.max_tokens)
            encoded = replace(encoded, sentences=single)
        if facts:
            encoded = replace(encoded, facts=fact_ids(read_facts(facts), tokenizer))
        click.echo(_counts(encoded))
        with _progress_bar(recipe) as show:
            record = make_twin(
                config, recipe, tokenizer, encoded, checkpoint, out, device, show, first, keep
            )
    final = record["final"]
    click.echo(f"{out}: {_in_words(final)} on {final['n_masked']:,} masked tokens of unseen books.")
    asked = {
        "sentences": "one masked word in each of {:,} sentences",
        "facts": "the answers in {:,} wordings that it never read",
    }
    for name, words in asked.items():
        if name in final:
            scores = final[name]
            click.echo(f"{_in_words(scores)} on {words.format(scores['n_masked'])}.")


def _counts(corpus: Corpus) -> str:
    tokens = f"{len(corpus.training):,} tokens to train on, {len(corpus.validation):,} held out."
    if corpus.sentences:
        n_training, n_held_out = corpus.sentences.training_ids, corpus.sentences.held_out_ids
        tokens += f" In sentences: {len(n_training):,} and {len(n_held_out):,}."
    if corpus.facts:
        counts = corpus.facts.to_dict()
        tokens += (
            f" Facts: {counts['n']:,}, in {counts['training_wordings']:,} wordings to train on and "
            f"{counts['held_out_wordings']:,} held out."
        )
    return tokens


def _in_words(scores: dict[str, Any]) -> str:
    return f"loss {scores['loss']:.3f} nats, top-1 {scores['top1']:.1%}, top-5 {scores['top5']:.1%}"


@contextmanager
def _progress_bar(recipe: Recipe) -> Iterator[Callable[[Progress], None]]:
    """A bar of tokens, tokens a second and the loss; yields the function that moves it."""
    total = recipe.steps * recipe.batch_tokens
    with options.bar(total=total, unit=" tokens", unit_scale=True, smoothing=0.05) as shown:

        def show(progress: Progress) -> None:
            if not shown.n:  # a resumed run starts where it was
                shown.initial = shown.n = progress.tokens
            shown.update(progress.tokens - shown.n)
            shown.set_postfix(step=progress.step, loss=f"{progress.loss:.3f}")

        yield show
