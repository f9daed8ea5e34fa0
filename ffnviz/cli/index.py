"""`ffnviz index`: what wakes each neuron, on our probe sentences or on any corpus."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import torch

from ffnviz.analysis.neurons.descriptions import write_descriptions
from ffnviz.analysis.neurons.gathering import LONGEST
from ffnviz.analysis.neurons.index_file import write_index
from ffnviz.analysis.neurons.index_tables import FORMATS, check_format, described
from ffnviz.analysis.neurons.neuron_index import NeuronIndex, build_index, finish
from ffnviz.analysis.neurons.probes import read_probes, split
from ffnviz.cli.device import device_option, threads_option
from ffnviz.cli.engine import EngineOptions, engine_options, started_engine
from ffnviz.cli.errors import reported
from ffnviz.cli.index_report import print_written, report_of, write_tables
from ffnviz.cli.network import model_option, opened
from ffnviz.cli.output import bar, show_json
from ffnviz.jobs.indexing.files import Place
from ffnviz.jobs.indexing.job import IndexingJob, gatherer_of, hold
from ffnviz.jobs.indexing.memory_estimate import estimated_memory, too_much
from ffnviz.jobs.indexing.run import Engine, IndexingReport, counted, with_problems
from ffnviz.jobs.indexing.sources import Piece, pieces_of
from ffnviz.jobs.indexing.stores import Address, StoreError, is_address, parse_place
from ffnviz.jobs.indexing.work_splitting import cut, piece_bytes
from ffnviz.models.encoder.atomic import check_writable
from ffnviz.models.encoder.linear import onednn_is_quicker
from ffnviz.models.encoder.model import TWINS
from ffnviz.models.external.memory import free_bytes
from ffnviz.models.network import Network

MOST_TAGS = 256  # files that are tags; of more, a tag says little


class Corpus(click.Path):
    """An existing file or folder, or s3://…, gs://… or file://…, which is checked later."""

    name = "path or address"

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path or address."""
        if isinstance(value, str) and is_address(value):
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
@click.option("--column", default="text", show_default=True, help="Of .jsonl and .parquet files.")
@click.option("--twin", type=click.Choice(TWINS), help="Both twins if absent.")
@click.option(
    "--longest",
    type=click.IntRange(1, 2**17),
    default=LONGEST,
    show_default=True,
    help="Tokens of a text, as far as the network reads; a longer one is read in pieces, each of "
    "which counts as a text. Takes memory.",
)
@click.option("--blocks", help="Which to look at, from 1: “2” or “3,7,11”. All if absent.")
@engine_options
@model_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("ffnviz-index"),
    show_default=True,
    help="Folder to write <network>.npz to; `ffnviz app --index` shows it.",
)
@click.option(
    "--table",
    type=click.Choice([ending[1:] for ending in FORMATS]),
    help="Write each index also as tables, <network>.csv and <network>-examples.csv, or .parquet.",
)
@click.option(
    "--describe",
    is_flag=True,
    help="Write what tags and words say of each neuron as <network>.jsonl, as Neuronpedia has it; "
    "`ffnviz app --descriptions` shows it.",
)
@click.option("--json", "as_json", is_flag=True, help="What was written, as JSON.")
@threads_option()
@device_option
def index(
    corpus: tuple[Place, ...],
    column: str,
    twin: str | None,
    model: str | None,
    dtype: str | None,
    revision: str | None,
    longest: int,
    blocks: str | None,
    out: Path,
    table: str | None,
    describe: bool,
    as_json: bool,
    device: torch.device,
    **engine_values: Any,
) -> None:
    """Find each neuron's strongest examples, and count where it fires.

    A corpus may be of any size: memory does not grow with it. White space within a text is read as
    single spaces, and a text that is too long is cut between words. What cannot be read is counted
    and named at the end. A run that was stopped goes on where it was: give the same command again.
    Each file is a tag; a probe sentence has tags of its own, and every fourth is held back for the
    page's tests.
    """
    with reported(ImportError, ValueError):
        check_writable(out)
        if table:
            check_format(out / f"index.{table}")
        if twin and model:
            raise click.UsageError("Give --twin or --model, not both.")
        options = EngineOptions(**engine_values)
        if options.engine != "local" and not corpus:
            raise click.UsageError("--engine ray counts a corpus: say which with --corpus.")
        chosen, reports = model or twin, []
        pieces, problems = pieces_of(corpus) if corpus else ((), {})
        with started_engine(options) as engine:
            for name in [chosen] if chosen else TWINS:
                network = opened(name, device, dtype, revision)
                path = out / f"{network.card.id}.npz"
                numbers = _numbers(blocks, network.sizes.n_blocks)
                if corpus:
                    where = options.device or device.type
                    tags = _tags(pieces)
                    values = (name, where, dtype, revision, numbers, tags, column, longest)
                    job = IndexingJob(*values, onednn=onednn_is_quicker())
                    hold(job, network)
                    _print_memory(network, job, options)
                    fitting = cut(pieces, piece_bytes(network.sizes, where))
                    index = _count(job, fitting, engine, path, problems, _source(pieces, corpus))
                else:
                    index = _of_probes(network, numbers)
                write_index(index, path)
                files = write_tables(index, path, table)
                if describe:
                    files.append(path.with_suffix(".jsonl"))
                    write_descriptions(described(index, network), files[-1])
                reports.append(report_of(index, network, [path, *files]))
                if not as_json:
                    print_written(index, path, f"--model {model} " if model else "", files)
    if as_json:
        show_json({"indexes": reports})


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


def _print_memory(network: Network, job: IndexingJob, options: EngineOptions) -> None:
    """Print how much memory the job takes, or that this machine has too little."""
    n_blocks = len(job.blocks or range(network.sizes.n_blocks))
    on_cpu = job.device == "cpu"
    weight = network.ffn(0).keys.dtype.itemsize if on_cpu else 0
    # The process that adds up holds the network too, if only to know its shapes.
    adds_up = options.workers > 1 or options.engine == "ray"
    n_processes = 1 if options.address else options.workers + adds_up
    signed, n_tags = network.card.signed, len(job.tags)
    memory = estimated_memory(
        network.sizes, n_blocks, n_tags, weight, n_processes, signed, job.longest
    )
    available = free_bytes(torch.device("cpu")) + memory.weights  # the weights are loaded already
    click.echo(too_much(memory, n_blocks, available) or memory.in_words, err=True)


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


def _of_probes(model: Network, blocks: tuple[int, ...] | None) -> NeuronIndex:
    probes, _ = split(read_probes())
    tags = tuple(sorted({tag for probe in probes for tag in probe.tags}))
    source = f"{len(probes):,} sentences of our probe set"
    with bar(unit=" tokens", unit_scale=True, desc=model.card.id) as read:
        return build_index(model, probes, tags, source, lambda n: read.update(n - read.n), blocks)


def _count(
    job: IndexingJob,
    pieces: tuple[Piece, ...],
    engine: Engine,
    path: Path,
    problems: Mapping[str, int],
    source: str,
) -> NeuronIndex:
    # With `miniters=0` the bar shows new tokens before a piece is done.
    with bar(
        total=len(pieces), unit=" pieces", desc=job.network, miniters=0, mininterval=1
    ) as shown:

        def show(report: IndexingReport) -> None:
            shown.set_postfix(tokens=f"{report.tokens:,}", refresh=False)
            shown.update(report.done - shown.n)

        kept = path.with_suffix(".part.npz")
        try:
            part = counted(job, pieces, engine, kept, show)
        except KeyboardInterrupt:
            if kept.exists():
                click.echo(
                    f"\n{kept} holds what is counted so far: the same command goes on from there.",
                    err=True,
                )
            raise
    return finish(with_problems(part, dict(problems)), source, job.tags, gatherer_of(job))
