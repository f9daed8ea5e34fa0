"""A count as one order, the same for every process on every machine."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch

from ffnviz.analysis.neurons.counting import IndexPart
from ffnviz.analysis.neurons.gathering import LONGEST, Gatherer
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.jobs.allocator import keep_what_is_free
from ffnviz.jobs.indexing.sources import Piece, texts_of
from ffnviz.models.encoder.linear import take_onednn
from ffnviz.models.network import Network
from ffnviz.models.registry import load

PLACES = 2**36  # texts that a piece may have


@dataclass(frozen=True)
class IndexingJob:
    """The settings that all pieces of a corpus share."""

    network: str  # what `load` takes
    device: str = "cpu"  # by name
    # dtype, revision: of a network that is not ours
    dtype: str | None = None
    revision: str | None = None
    blocks: tuple[int, ...] | None = None  # from 0; None: all
    tags: tuple[str, ...] = ()  # the names of all files, if each is a tag
    column: str = "text"  # of .jsonl and .parquet files
    longest: int = LONGEST  # tokens of a text; a longer one is cut
    onednn: bool = False  # whether our networks take its products: all processes count alike


_HELD: dict[IndexingJob, Gatherer] = {}


def gatherer_of(job: IndexingJob) -> Gatherer:
    """The job's Gatherer, whose network is loaded once in each process."""
    if job not in _HELD:
        hold(job, load(job.network, job.device, dtype=job.dtype, revision=job.revision))
    return _HELD[job]


def hold(job: IndexingJob, network: Network) -> None:
    """Have this process count the job with a network that is loaded already.

    One thread: how a matrix product is split among threads changes its last bits, as does the
    library, and more processes use a machine's cores better than more threads.
    """
    torch.set_num_threads(1)
    take_onednn(job.onednn)
    keep_what_is_free()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    _HELD[job] = Gatherer(network, job.tags, job.blocks, job.longest)


def count(
    job: IndexingJob, piece: Piece, reading: Callable[[int], None] = lambda _: None
) -> IndexPart:
    """Count one piece; `reading` is called now and then with the tokens read so far."""
    problems: Counter[str] = Counter()
    tags = (piece.tag,) if job.tags else ()

    def texts() -> Iterator[Probe]:
        for text in texts_of(piece, job.column, problems):
            yield Probe(text, tags)

    part = gatherer_of(job).gather(texts(), piece.number * PLACES, reading)
    return replace(part, problems=dict(problems))
