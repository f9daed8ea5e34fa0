"""`ffnviz index`: what wakes each neuron, on our probe sentences or on a folder of books."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import torch
from tqdm import tqdm

from ffnviz.analysis.neurons.index_file import INDEXES, write_index
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe, ProbesError, read_probes, split
from ffnviz.commands.device import device_option
from ffnviz.commands.network import model_option, opened
from ffnviz.commands.progress import bar
from ffnviz.commands.threads import threads_option
from ffnviz.model.atomic import check_writable
from ffnviz.model.folder import ModelFolderError
from ffnviz.model.model import TWINS
from ffnviz.model.network import Network
from ffnviz.training.corpus import CorpusError, book_paths, check_book, reading


@click.command()
@click.option(
    "--corpus",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of .txt files, a paragraph a line; our probe sentences if absent.",
)
@click.option("--twin", type=click.Choice(TWINS), help="Both twins if absent.")
@model_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=INDEXES,
    help="Folder to write <network>.npz to; where the page reads it if absent.",
)
@threads_option()
@device_option
def index(
    corpus: Path | None,
    twin: str | None,
    model: str | None,
    dtype: str | None,
    revision: str | None,
    out: Path,
    device: torch.device,
) -> None:
    """Find each neuron's strongest examples, and count where it fires.

    Texts are read one after the other, so a corpus may be of any size. Each book of a corpus is a
    tag; a probe sentence has tags of its own, and every fourth is held back for the page's tests.
    """
    try:
        check_writable(out)
        books = [] if corpus is None else book_paths(corpus)
        for book in books:  # rather now than after an hour
            check_book(book)
        if twin and model:
            raise click.UsageError("Give --twin or --model, not both.")
        chosen = model or twin
        for name in [chosen] if chosen else TWINS:
            _make(opened(name, device, dtype, revision), corpus, books, out)
    except (ModelFolderError, ProbesError, CorpusError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def _make(model: Network, corpus: Path | None, books: list[Path], out: Path) -> None:
    if corpus is None:
        probes, _ = split(read_probes())
        tags = tuple(sorted({tag for probe in probes for tag in probe.tags}))
        texts, source = iter(probes), f"{len(probes):,} sentences of our probe set"
        size = sum(len(probe.text) for probe in probes)
    else:
        tags = tuple(sorted({book.stem for book in books}))
        shelf = os.fsencode(corpus.resolve().name).decode(errors="replace")
        texts, source = _paragraphs(books), f"{len(books)} books of {shelf}"
        size = sum(book.stat().st_size for book in books)
    with bar(total=size, unit="B", unit_scale=True, desc=model.card.id) as read:
        made = build_index(
            model,
            _told(texts, read),
            tags,
            source,
            lambda tokens: read.set_postfix(tokens=f"{tokens:,}", refresh=False),
        )
    path = out / f"{model.card.id}.npz"
    write_index(made, path)
    click.echo(
        f"{path}: {made.n_texts:,} texts, {made.n_tokens:,} tokens, "
        f"{path.stat().st_size / 1e6:.1f} MB."
    )


def _paragraphs(books: list[Path]) -> Iterator[Probe]:
    for book in books:
        with reading(book), book.open(encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield Probe(" ".join(line.split()), (book.stem,))


def _told(texts: Iterator[Probe], read: "tqdm[None]") -> Iterator[Probe]:
    for probe in texts:
        read.update(len(probe.text.encode()))
        yield probe
