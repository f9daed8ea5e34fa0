"""Indexing a corpus: against bare forward passes, on Ray, on two nodes, and what memory it takes.

Run it with `python -m benchmarks.index --corpus FOLDER`, or a part alone with `--part`: twin, gpt2,
ray, nodes, memory. `--tokens` says roughly how many each run has. Times are processor time where
one process works, and time on the clock where several do; load average is said, for both suffer.
"""

import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import click
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import ffnviz
from benchmarks.measure import machine, table
from ffnviz.analysis.neurons.gathering import (
    BATCH_TOKENS,
    BATCH_VALUES,
    LONGEST,
    Gatherer,
    TextBatch,
    batches,
)
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.jobs.indexing import sources
from ffnviz.jobs.indexing.run import Engine, IndexingJob, count, counted, run_local
from ffnviz.jobs.indexing.sources import Piece, pieces_of, texts_of
from ffnviz.models.external.memory import keep_what_is_free
from ffnviz.models.network import Network

PARTS = ("twin", "gpt2", "ray", "nodes", "memory")
TARGETS = {"twin": 1.25, "gpt2": 1.15, "ray": 1.25, "nodes": 1.7}
REPEATS = 3
DOCUMENT = 512  # tokens
BYTES_A_TOKEN = 4.3  # of English books with the twins' vocabulary
NODE = {"num_cpus": 1, "object_store_memory": 2**29}


def probes(corpus: Path, tokens: int) -> list[Probe]:
    """Paragraphs of about so many tokens."""
    return list(_until(int(tokens * BYTES_A_TOKEN), _all(corpus)))


def _all(corpus: Path) -> Iterator[str]:
    pieces, _ = pieces_of([corpus])
    for piece in pieces:
        yield from texts_of(piece, "text", Counter())


def _until(n_bytes: int, texts: Iterator[str]) -> Iterator[Probe]:
    for text in texts:
        yield Probe(text, ())
        n_bytes -= len(text.encode())
        if n_bytes < 0:
            return


def joined(texts: list[Probe], tokens: int) -> list[Probe]:
    """The same as documents of so many tokens, which are cut: all but the last batches are full."""
    made, size = [""], int(tokens * BYTES_A_TOKEN)
    for text in texts:
        made[-1] += f" {text.text}"
        if len(made[-1]) > size:
            made.append("")
    return [Probe(text, ()) for text in made if text]


def pieces_for(corpus: Path, tokens: int) -> tuple[Piece, ...]:
    """The first pieces of a corpus, of about so many tokens; around again if it is smaller."""
    found, _ = pieces_of([corpus])
    chosen: list[Piece] = []
    left = tokens * BYTES_A_TOKEN
    while left > 0:
        for piece in found:
            if left <= 0:
                break
            chosen.append(replace(piece, number=len(chosen)))
            left -= (piece.end or 0) - piece.start
    return tuple(chosen)


@torch.inference_mode()
def bare(network: Network, made: list[TextBatch]) -> None:
    """Every block of the same batches, and nothing of it kept."""
    for batch in made:
        for _ in network.walk(batch.ids):
            pass


def spent(work: Callable[[], object]) -> float:
    """Processor time of this process, in seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def overhead_of(network: Network, texts: list[Probe]) -> tuple[int, float, float, float, float]:
    """Tokens; the least seconds of bare passes, reading tokens, the index, and one of no text."""
    size = max(1, min(BATCH_TOKENS, BATCH_VALUES // network.sizes.d_ff))
    longest = min(LONGEST, network.sizes.max_tokens)
    made = list(batches(texts, network.tokenizer, longest, size))
    gatherer = Gatherer(network, ())
    work: list[Callable[[], object]] = [
        lambda: bare(network, made),
        lambda: list(batches(texts, network.tokenizer, longest, size)),
        lambda: gatherer.gather(texts, 0),
        lambda: gatherer.gather([], 0),
    ]
    rounds = [[spent(each) for each in work] for _ in range(REPEATS)]
    passes, reading, index, none = map(min, zip(*rounds, strict=True))
    return sum(batch.ids.numel() for batch in made), passes, reading, index, none


def overhead(name: str, network: Network, texts: list[Probe]) -> None:
    """The index against bare passes of the same batches."""
    torch.set_num_threads(1)
    keep_what_is_free()  # as a process that counts does
    n, passes, reading, index, none = overhead_of(network, texts)
    row = [f"{n:,}", f"{n / passes:,.0f}", f"{n / index:,.0f}", f"{reading / passes:.3f}",
           f"{index / passes:.2f}", f"{(index - none) / passes:.2f}"]  # fmt: skip
    head = ["tokens", "bare tokens/s", "index tokens/s", "reading / bare", "index / bare",
            "without what each piece costs once"]  # fmt: skip
    print(f"\n## {name}: the index against bare passes (target: at most {TARGETS[name]})\n\n"
          f"{machine()} Least processor time of {REPEATS}, one thread.\n\n"
          f"{table(head, [row])}")  # fmt: skip


def gpt2() -> Network:
    """124 million parameters in GPT-2's shape, drawn at random, proved like any other network."""
    torch.manual_seed(0)
    folder = Path(tempfile.mkdtemp())
    GPT2LMHeadModel(GPT2Config()).save_pretrained(folder)
    own = ffnviz.load("relu").folder
    assert own is not None
    (folder / "tokenizer.json").write_bytes((own / "tokenizer.json").read_bytes())
    return ffnviz.load(str(folder))


def clock(corpus: tuple[Piece, ...], engine: Engine) -> tuple[float, int]:
    """Seconds on the clock from the first to the last piece, and tokens."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        part = counted(IndexingJob("relu"), corpus, engine, Path(folder) / "kept")
        return time.perf_counter() - start, part.n_tokens


def ray(corpus: Path, tokens: int) -> None:
    """One worker of Ray against one process of our own, starting up included."""
    from ffnviz.jobs.indexing.on_ray import joined, run_ray

    chosen = pieces_for(corpus, tokens)
    own, n = clock(chosen, partial(run_local, workers=1))
    with joined():
        theirs, _ = clock(chosen, partial(run_ray, workers=1))
    rows = [["local", f"{n:,}", f"{own:.1f}", f"{n / own:,.0f}", "1"],
            ["Ray, one node", f"{n:,}", f"{theirs:.1f}", f"{n / theirs:,.0f}",
             f"{theirs / own:.2f}"]]  # fmt: skip
    print(f"\n## Ray against local, one worker each (target: at most {TARGETS['ray']})\n\n"
          f"{machine()}\n\n"
          f"{table(['engine', 'tokens', 's', 'tokens/s', 'ratio'], rows)}")  # fmt: skip


def nodes(corpus: Path, tokens: int) -> None:
    """Two nodes of one core each against one."""
    from ray.cluster_utils import Cluster

    from ffnviz.jobs.indexing.on_ray import joined, run_ray

    chosen = pieces_for(corpus, tokens)
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    with joined(cluster.address):
        one, n = clock(chosen, partial(run_ray, workers=1))
        cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        two, _ = clock(chosen, partial(run_ray, workers=2))
    cluster.shutdown()
    rows = [
        ["one", f"{n:,}", f"{one:.1f}", "1"],
        ["two", f"{n:,}", f"{two:.1f}", f"{one / two:.2f}"],
    ]
    print(f"\n## Nodes of one core each (target: at least {TARGETS['nodes']} times as fast)\n\n"
          f"{machine()}\n\n{table(['nodes', 'tokens', 's', 'times as fast'], rows)}")  # fmt: skip


def memory(corpus: Path, tokens: int) -> None:
    """The most memory that a process held, after more and more tokens."""
    torch.set_num_threads(1)
    job, done, rows = IndexingJob("relu"), 0, []
    gauge = [tokens * share // 10 for share in (1, 2, 4, 6, 8, 10)]
    for piece in pieces_for(corpus, tokens):
        done += count(job, piece).n_tokens
        while gauge and done >= gauge[0]:
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rows.append([f"{done:,}", f"{most:,.0f}"])
            gauge.pop(0)
    print(f"\n## Memory of one worker\n\n{machine()}\n\n"
          f"{table(['tokens', 'most MiB so far'], list(islice(rows, 12)))}")  # fmt: skip


@click.command()
@click.option("--corpus", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, default=PARTS)
@click.option("--tokens", type=int, default=2_000_000, show_default=True)
@click.option("--piece-bytes", type=int, default=sources.PIECE_BYTES, show_default=True)
def main(corpus: Path, parts: tuple[str, ...], tokens: int, piece_bytes: int) -> None:
    """Print these tables; memory takes five times as many tokens, twin a 20th, gpt2 a 500th.

    The twin reads paragraphs, the network of GPT-2's shape documents: of so few tokens paragraphs
    make no full batch.
    """
    sources.PIECE_BYTES = piece_bytes
    work = {
        "twin": lambda: overhead("twin", ffnviz.load("relu"), probes(corpus, tokens // 20)),
        "gpt2": lambda: overhead("gpt2", gpt2(), joined(probes(corpus, tokens // 500), DOCUMENT)),
        "ray": lambda: ray(corpus, tokens),
        "nodes": lambda: nodes(corpus, tokens),
        "memory": lambda: memory(corpus, 5 * tokens),
    }
    for part in parts:
        work[part]()


if __name__ == "__main__":
    main()
