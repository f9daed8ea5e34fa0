"""`ffnviz flips`: sentences in which the FFN decides which word wins."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ffnviz.analysis.journey import Flip, find_flips
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.analysis.prediction import Prediction
from ffnviz.cli import options
from ffnviz.models.encoder.folder import ModelFolderError
from ffnviz.models.encoder.model import TWINS, load
from ffnviz.models.text_encoding import read_text


@click.command()
@click.option(
    "--sentences",
    type=options.FILE,
    help="A text file with a sentence on each line. Our own probe sentences if absent.",
)
@options.shown_option(
    "--least",
    type=options.Number(0, 1),
    default=0.25,
    help="How likely the hidden word must be, from 0 to 1.",
)
@options.threads_option(default=1)
@options.json_option("As JSON instead of a list.")
def flips(sentences: Path | None, least: float, as_json: bool) -> None:
    """Find sentences in which the last FFN of both twins decides which word wins.

    Each word of each sentence is hidden in turn. It lists those in which both twins find the
    word, and would say another without this FFN.
    """
    with options.reported(ModelFolderError):
        networks = [load(twin) for twin in TWINS]
    lines = _read(sentences) if sentences else [probe.text for probe in read_probes()]
    flips_found = options.with_bar("sentences", lambda p: find_flips(networks, lines, least, p))
    if as_json:
        options.show_json(
            {"sentences": len(lines), "flips": [_values(flip) for flip in flips_found]}
        )
        return
    click.echo(f"{len(flips_found):,} found in {len(lines):,} sentences, the surest first.")
    for flip in flips_found:
        words = "; ".join(
            f"{twin} {_in_words(one)}, without {_in_words(other)}"
            for twin, one, other in zip(TWINS, flip.with_ffn, flip.without, strict=True)
        )
        click.echo(f"{flip.sentence}\n    {words}")


def _read(path: Path) -> Sequence[str]:
    try:
        return [line for line in read_text(path).splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{path} cannot be read as text ({error}).") from error


def _in_words(prediction: Prediction) -> str:
    return f"{prediction.words[0]} {prediction.probabilities[0]:.0%}"


def _values(flip: Flip) -> dict[str, Any]:
    def best(prediction: Prediction) -> dict[str, Any]:
        return {"word": prediction.words[0], "probability": float(prediction.probabilities[0])}

    return {
        "sentence": flip.sentence,
        "word": flip.word,
        "with_ffn": dict(zip(TWINS, map(best, flip.with_ffn), strict=True)),
        "without": dict(zip(TWINS, map(best, flip.without), strict=True)),
    }
