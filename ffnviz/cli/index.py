"""`ffnviz index`: what wakes each neuron, on our probe sentences or on any corpus."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import torch

from ffnviz.analysis.neurons import neuron_index
from ffnviz.analysis.neurons.descriptions import write_descriptions
from ffnviz.analysis.neurons.gathering import LONGEST
from ffnviz.analysis.neurons.index_file import write_index
from ffnviz.analysis.neurons.probes import read_probes, split
from ffnviz.cli import options
from ffnviz.cli.options import opened
from ffnviz.jobs.indexing import run as indexing
from ffnviz.jobs.indexing.files import Address, Place, StoreError, parse_place
from ffnviz.jobs.indexing.on_ray import check_places, joined, run_ray
from ffnviz.jobs.indexing.run import counted
from ffnviz.jobs.indexing.sources import Piece, cut, piece_bytes, pieces_of
from ffnviz.models.encoder.atomic import check_writable
from ffnviz.models.encoder.linear import onednn_is_quicker
from ffnviz.models.encoder.model import TWINS
from ffnviz.models.external.memory import free_bytes, gigabytes
from ffnviz.models.network import Network


def report_of(
    index: neuron_index.NeuronIndex, network: Network, files: list[Path]
) -> dict[str, Any]:
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


def print_written(
    index: neuron_index.NeuronIndex, path: Path, shown_with: str, files: list[Path]
) -> None:
    """Say what was written, and how to see it."""
    for problem, times in index.problems.items():
        click.echo(f"{problem}: {times:,}")
    click.echo(
        f"{path}: {index.n_texts:,} texts, {index.n_tokens:,} tokens, "
        f"{gigabytes(path.stat().st_size)}. To see it: ffnviz app {shown_with}--index {path}"
    )
    if files:
        click.echo(f"Beside it, with blocks from 0: {', '.join(map(str, files))}")


MOST_WORKERS = 512  # on one machine; a cluster may have more


@contextmanager
def started_engine(
    engine: str, workers: int, address: str | None, cpus: float, gpus: float
) -> Iterator[indexing.Engine]:
    """The chosen engine, started; it ends after the block.

    Raises UsageError for Ray's options without Ray, and ClusterError if the cluster is not there,
    or has no room.
    """
    if engine == "local":
        if address or gpus or cpus != 1:
            raise click.UsageError(
                "--address, --cpus-per-worker and --gpus-per-worker are Ray's: add --engine ray."
            )
        if workers > MOST_WORKERS:
            raise click.UsageError(f"--workers: at most {MOST_WORKERS} on one machine.")
        yield partial(indexing.run_local, workers=workers)
        return
    with joined(address):
        if waiting := check_places(workers, cpus, gpus):
            click.echo(waiting, err=True)
        yield partial(run_ray, workers=workers, cpus=cpus, gpus=gpus)


MOST_TAGS = 256  # files that are tags; of more, a tag says little


class Corpus(click.Path):
    """An existing file or folder, or s3://…, gs://… or file://…, which is checked later."""

    name = "path or address"

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path or address."""
        if isinstance(value, str) and "://" in value:  # as no path of this machine has it
            try:
                value = parse_place(value)
            except StoreError as error:
                self.fail(str(error), param, ctx)
        if isinstance(value, Address):
            return value
        if not Path(value).exists():
            self.fail(f"there is no such path: {click.format_filename(value)}", param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@click.option(
    "--corpus",
    type=Corpus(),
    multiple=True,
    help="A .txt, .jsonl, .jsonl.gz, .jsonl.zst or .parquet file, or a folder of them, on this "
    "machine or in a store: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER. May be given again. Our probe "
    "sentences if absent.",
)
@options.shown_option(
    "--column", default="text", help="The text column of .jsonl and .parquet files."
)
@click.option("--twin", type=click.Choice(TWINS), help="Both ReLU and GELU if absent.")
@options.shown_option(
    "--longest",
    type=click.IntRange(1, 2**17),
    default=LONGEST,
    help="How many tokens of a text are read at once, at most as many as the network "
    "reads; a longer text is read in pieces, each counted as a text. More tokens: more memory.",
)
@click.option("--blocks", help=f"{options.FROM_1}: “2” or “3,7,11”. All if absent.")
@options.shown_option(
    "--engine",
    type=click.Choice(("local", "ray")),
    default="local",
    help="Processes of this machine, or a Ray cluster.",
)
@options.shown_option(
    "--workers",
    type=click.IntRange(1, 2**14),
    default=1,
    help="Processes, each with the network in it; one thread each.",
)
@click.option(
    "--address",
    help="Of a Ray cluster: “auto” on a machine that belongs to it, or its head's host:port. This "
    "machine alone if absent.",
)
@options.shown_option(
    "--cpus-per-worker",
    type=options.Number(0, 1_024),
    default=1.0,
    help="Cores that Ray keeps for each worker.",
)
@options.shown_option(
    "--gpus-per-worker",
    type=options.Number(0, 64),
    default=0.0,
    help="GPUs that Ray gives to each worker; 0.5 lets two share one.",
)
@options.model_option
@options.shown_option(
    "--out",
    type=options.NEW_FOLDER,
    default=Path("ffnviz-index"),
    help="Folder to write <network>.npz to; `ffnviz app --index` shows it.",
)
@click.option(
    "--table",
    type=click.Choice([ending[1:] for ending in neuron_index.FORMATS]),
    help="Write each index also as tables, <network>.csv and <network>-examples.csv, or .parquet. "
    "In these, blocks are counted from 0, as in Python.",
)
@click.option(
    "--describe",
    is_flag=True,
    help="Write what tags and words say of each neuron to <network>.jsonl, as Neuronpedia does; "
    "`ffnviz app --descriptions` shows it. In it, layers are counted from 0.",
)
@options.json_option("What was written, as JSON; its blocks are counted from 1.")
@options.threads_option()
@options.device_option
def index(
    corpus: tuple[Place, ...],
    column: str,
    twin: str | None,
    model: str | None,
    dtype: str | None,
    revision: str | None,
    longest: int,
    blocks: str | None,
    engine: str,
    workers: int,
    address: str | None,
    cpus_per_worker: float,
    gpus_per_worker: float,
    out: Path,
    table: str | None,
    describe: bool,
    as_json: bool,
    device: torch.device,
) -> None:
    """Find each neuron's strongest examples, and count where it fires.

    A corpus may be of any size: memory does not grow with it. White space within a text is read as
    single spaces, and a text that is too long is cut between words. What cannot be read is counted
    and named at the end. A run that was stopped goes on where it was: give the same command again.
    Each file is a tag; a probe sentence has tags of its own, and every fourth is held back for the
    page's tests.
    """
    with options.reported(ImportError, ValueError):
        check_writable(out)
        if table:
            neuron_index.check_format(out / f"index.{table}")
        if twin and model:
            raise click.UsageError("Give --twin or --model, not both.")
        if engine != "local" and not corpus:
            raise click.UsageError("--engine ray counts a corpus: say which with --corpus.")
        chosen, reports = model or twin, []
        pieces, problems = pieces_of(corpus) if corpus else ((), {})
        # The process that adds up holds the network too, if only to know its shapes.
        adds_up = workers > 1 or engine == "ray"
        n_processes = 1 if address else workers + adds_up
        with started_engine(engine, workers, address, cpus_per_worker, gpus_per_worker) as run:
            for name in [chosen] if chosen else TWINS:
                network = opened(name, device, dtype, revision)
                path = out / f"{network.card.id}.npz"
                numbers = _numbers(blocks, network.sizes.n_blocks)
                if corpus:
                    # This machine may have no GPU itself.
                    where = "cuda" if gpus_per_worker else device.type
                    values = (name, where, dtype, revision, numbers, _tags(pieces), column, longest)
                    job = indexing.IndexingJob(*values, onednn=onednn_is_quicker())
                    indexing.hold(job, network)
                    _print_memory(network, job, n_processes)
                    fitting = cut(pieces, piece_bytes(network.sizes, where))
                    index = _count(job, fitting, run, path, problems, _source(pieces, corpus))
                else:
                    index = _of_probes(network, numbers)
                write_index(index, path)
                files = []
                if table:
                    names = (f"{path.stem}.{table}", f"{path.stem}-examples.{table}")
                    files = [path.with_name(name) for name in names]
                    index.save_table(files[0])
                    index.save_table(files[1], examples=True)
                if describe:
                    files.append(path.with_suffix(".jsonl"))
                    write_descriptions(neuron_index.described(index, network), files[-1])
                reports.append(report_of(index, network, [path, *files]))
                if not as_json:
                    print_written(index, path, f"--model {model} " if model else "", files)
    if as_json:
        options.show_json({"indexes": reports})


def _numbers(blocks: str | None, n_blocks: int) -> tuple[int, ...] | None:
    """The blocks asked for, from 0."""
    if blocks is None:
        return None
    try:
        numbers = tuple(int(each) - 1 for each in blocks.split(","))
    except ValueError:
        numbers = (-1,)
    if not all(0 <= number < n_blocks for number in numbers):
        raise ValueError(f"--blocks {blocks}: give numbers from 1 to {n_blocks}, with commas.")
    return numbers


def _print_memory(network: Network, job: indexing.IndexingJob, n_processes: int) -> None:
    """Print how much memory the job takes, or that this machine has too little."""
    n_blocks = len(job.blocks or range(network.sizes.n_blocks))
    on_cpu = job.device == "cpu"
    weight = network.ffn(0).keys.dtype.itemsize if on_cpu else 0
    signed, n_tags = network.card.signed, len(job.tags)
    memory = indexing.estimated_memory(
        network.sizes, n_blocks, n_tags, weight, n_processes, signed, job.longest
    )
    available = free_bytes(torch.device("cpu")) + memory.weights  # the weights are loaded already
    click.echo(indexing.too_much(memory, n_blocks, available) or memory.in_words, err=True)


def _tags(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    names = sorted({piece.tag for piece in pieces})
    return tuple(names) if 1 < len(names) <= MOST_TAGS else ()


def _source(pieces: tuple[Piece, ...], corpus: tuple[Place, ...]) -> str:
    files = len({piece.path for piece in pieces})
    names = ", ".join(
        place.name if isinstance(place, Address) else place.resolve().name for place in corpus
    )
    shown = names.encode(errors="replace").decode()
    return shown if files == 1 else f"{files:,} files of {shown}"


def _of_probes(model: Network, blocks: tuple[int, ...] | None) -> neuron_index.NeuronIndex:
    probes, _ = split(read_probes())
    tags = tuple(sorted({tag for probe in probes for tag in probe.tags}))
    source = f"{len(probes):,} sentences of our probe set"
    with options.bar(unit=" tokens", unit_scale=True, desc=model.card.id) as read:
        return neuron_index.build_index(
            model, probes, tags, source, lambda n: read.update(n - read.n), blocks
        )


def _count(
    job: indexing.IndexingJob,
    pieces: tuple[Piece, ...],
    engine: indexing.Engine,
    path: Path,
    problems: dict[str, int],
    source: str,
) -> neuron_index.NeuronIndex:
    # With `miniters=0` the bar shows new tokens before a piece is done.
    with options.bar(
        total=len(pieces), unit=" pieces", desc=job.network, miniters=0, mininterval=1
    ) as shown:

        def show(report: indexing.IndexingReport) -> None:
            shown.set_postfix(tokens=f"{report.tokens:,}", refresh=False)
            shown.update(report.done - shown.n)

        kept = path.with_suffix(".part.npz")
        try:
            part = counted(job, pieces, engine, kept, show)
        except KeyboardInterrupt:
            if kept.exists():
                click.echo(
                    f"\n{kept} holds the counts so far: the same command goes on from there.",
                    err=True,
                )
            raise
    # What was found while reading comes first, then what was found when listing the files.
    part = replace(part, problems=dict(Counter(part.problems) + Counter(problems)))
    return neuron_index.finish(part, source, job.tags, indexing.gatherer_of(job))
